//! The session of a compile: the toolkit's, with the dialects and passes of Phaseline and the target kinds of the
//! embedder.

use crate::{
    Error, Result,
    targets::{EmbedderKinds, TargetKind},
};
use phaseline_toolkit::Toolkit;
pub use phaseline_toolkit::{Diagnostic, Severity, Verified};
use std::ops::{Deref, DerefMut};

/// The base of all work of an embedder: a [`phaseline_toolkit::Session`] with Phaseline's dialects and passes, which
/// imports and compiles networks. Two sessions are independent of each other; the only thing that they share is MLIR's
/// registry of passes.
#[derive(Debug)]
pub struct Session(phaseline_toolkit::Session);

impl Session {
    /// A session of a toolkit that has Phaseline's dialects and passes; `Session::new` knows it.
    pub(crate) fn of(toolkit: &Toolkit, kinds: EmbedderKinds) -> Self {
        Self(toolkit.clone().carrying(kinds).session())
    }

    /// Adds a target kind to those that specs may name in this session: one read from a manifest
    /// ([`TargetKind::parse`]), with Rust hooks ([`TargetKind::with_hooks`]). Its name
    /// must be new.
    pub fn add_target(&mut self, kind: TargetKind) -> Result<()> {
        let kinds = self.0.user_mut::<EmbedderKinds>();
        kinds.ok_or_else(|| Error::internal("the context carries no target kinds"))?.add(kind)
    }
}

impl Deref for Session {
    type Target = phaseline_toolkit::Session;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
