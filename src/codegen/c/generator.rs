//! The code generator `c`: C text, and a C compiler.

use super::{C, compile, target};
use crate::{
    Result, Session,
    artifact::Machine,
    codegen::{CodeGenerator, CodeMachine, Generated, Given},
    ir::Op,
    targets::{CodegenKind, TargetInstance},
};

impl CodeGenerator for C {
    fn kind(&self) -> CodegenKind {
        CodegenKind::C
    }

    fn text(&self, part: Op<'_>) -> Result<Option<String>> {
        compile::text(part).map(Some)
    }

    fn generate(&self, _: &Session, part: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        let made = compile::compile(part, given.options)?;
        let machine = given.options.tool.as_ref().map(|tool| -> Result<CodeMachine> {
            let machine = Machine::of_triple(&tool.machine()?);
            Ok(CodeMachine { machine, cc: tool.to_string(), decides: false })
        });
        Ok(Generated {
            objects: made.objects,
            // Those of the manifest have a place of their own, those of artifacts another.
            sources: made.sources.into_iter().take(1).collect(),
            machine: machine.transpose()?,
        })
    }

    fn check_sources(&self, target: &TargetInstance) -> Result<()> {
        compile::sources(&target::options(target, None, "check", "")?).map(drop)
    }
}
