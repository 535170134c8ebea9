//! Code of a target's own: the hook tir-to-runtime makes it, and nothing else does.

use crate::{
    Error, Result, Session,
    codegen::{CodeGenerator, Generated, Given},
    ir::Op,
    phase::HookPoint,
};

/// The generator of targets whose hook makes all code.
pub struct Generator;

impl CodeGenerator for Generator {
    fn generate(&self, _: &Session, _: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        Err(Error::invalid(format!(
            "target '{}' has codegen.kind = \"custom\", but its hook {} declined: nothing makes code \
             of its functions",
            given.target.id,
            HookPoint::TirToRuntime
        )))
    }
}
