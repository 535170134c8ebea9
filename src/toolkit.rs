//! A compiler of networks of one's own.

use crate::{
    CompileOptions, Result, Session, passes,
    phase::Phases,
    targets::{EmbedderKinds, Registry, TargetKind},
};
use std::{ffi::OsString, process::ExitCode};

/// Phaseline with dialects, passes, target kinds and phases of one's own, as one value. Sessions, MLIR's tools and the commands
/// of `phaseline` are made of it, and all know what it has.
///
/// ```
/// # fn main() -> phaseline::Result<()> {
/// use phaseline::{Toolkit, phase::Phases, targets::{Files, TargetKind}};
/// const HERON: &str = "
/// version = 1
/// [target]
/// name = 'heron'
/// extends = 'vanilla'
/// doc = 'A device'
/// [phases]
/// mine = 'cse'
/// ";
/// let phases = Phases::builtin().insert_after("lower", "mine", "builtin.module(@targets)")?;
/// let toolkit = Toolkit::new("heronc")
///     .phases(phases)
///     .target(TargetKind::parse(HERON, "heron/target.toml", Files::Embedded(&[]))?)?;
/// // In a program: toolkit.main(std::env::args_os()), and then: heronc compile net.onnx -t 'heron, llvm' -o out
/// let session = toolkit.session();
/// let options = phaseline::CompileOptions { targets: "heron, llvm".into(), ..toolkit.options() };
/// assert!(session.pipeline(&options)?.to_string().contains("// phase: mine"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Toolkit {
    mlir: phaseline_toolkit::Toolkit,
    kinds: EmbedderKinds,
    pub(crate) phases: Phases,
}

impl Default for Toolkit {
    fn default() -> Self {
        let mlir = passes::toolkit().clone();
        Self { mlir, kinds: EmbedderKinds::default(), phases: Phases::builtin() }
    }
}

impl Toolkit {
    /// Phaseline's dialects, passes, target kinds and phases, and the parts of upstream that compiles use. `title` is the first
    /// line of the help of the pass driver.
    pub fn new(title: impl Into<String>) -> Self {
        let base = Self::default();
        Self { mlir: base.mlir.titled(title), ..base }
    }

    /// Adds dialects, passes, named pipelines, and parts of upstream.
    ///
    /// # Errors
    /// Those of what is added.
    pub fn with(
        self,
        add: impl FnOnce(phaseline_toolkit::Toolkit) -> Result<phaseline_toolkit::Toolkit>,
    ) -> Result<Self> {
        Ok(Self { mlir: add(self.mlir)?, ..self })
    }

    /// Adds a target kind to those that specs name, such as one read from a manifest ([`TargetKind::parse`]). It may have hooks in
    /// Rust ([`TargetKind::with_hooks`]).
    ///
    /// # Errors
    /// There is a kind or an alias of the name.
    pub fn target(mut self, kind: TargetKind) -> Result<Self> {
        self.kinds.add(kind)?;
        Ok(self)
    }

    /// Sets the phases of compiles. Manifests have passes at those of one's own that are made before these are read.
    #[must_use]
    pub fn phases(mut self, phases: Phases) -> Self {
        self.phases = phases;
        self
    }

    /// A session that knows all of it.
    pub fn session(&self) -> Session {
        Session::of(&self.mlir, self.kinds.clone())
    }

    /// The defaults of a compile, with the phases.
    pub fn options(&self) -> CompileOptions<'static> {
        CompileOptions { phases: self.phases.clone(), ..CompileOptions::default() }
    }

    /// The pass driver, as `phaseline-opt` is, with the arguments of a process.
    pub fn opt_main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        self.tools().opt_main(arguments)
    }

    /// The language server, as `phaseline-lsp-server` is, with the arguments of a process.
    pub fn lsp_main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        self.tools().lsp_main(arguments)
    }

    /// The same for MLIR's tools.
    pub(crate) fn tools(&self) -> phaseline_toolkit::Toolkit {
        self.mlir.clone().carrying(self.kinds.clone())
    }

    /// The known target kinds and aliases.
    pub(crate) fn registry(&self) -> Result<Registry> {
        Registry::with_kinds(&self.kinds)
    }
}
