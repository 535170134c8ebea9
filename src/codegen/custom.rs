//! Code of a target's own: the hook tir-to-runtime makes it, and nothing else does.

use super::{CodeGenerator, Generated, Given};
use crate::{Error, Result, Session, ir::Op, phase::HookPoint, targets::CodegenKind};

/// The generator of targets whose hook makes all code.
pub struct Custom;

impl CodeGenerator for Custom {
    fn kind(&self) -> CodegenKind {
        CodegenKind::Custom
    }

    fn generate(&self, _: &Session, _: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        Err(Error::invalid(format!(
            "target '{}' has codegen.kind = \"custom\", but its hook {} declined: nothing makes code \
             of its functions",
            given.target.id,
            HookPoint::TirToRuntime
        )))
    }
}
