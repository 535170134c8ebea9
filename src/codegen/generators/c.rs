//! The code generator `c`: C text, and a C compiler.

use crate::{
    Result, Session,
    artifact::machines,
    codegen::{
        CodeGenerator, CodeMachine, Generated, Given,
        c::{compile, target},
    },
    ir::Op,
    targets::TargetInstance,
};

/// The generator of C.
pub struct Generator;

impl CodeGenerator for Generator {
    fn text(&self, part: Op<'_>) -> Result<Option<String>> {
        compile::text(part).map(Some)
    }

    fn generate(&self, _: &Session, part: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        let made = compile::compile(part, given.options)?;
        let machine = given.options.tool.as_ref().map(|tool| -> Result<CodeMachine> {
            let mut machine = machines::of_triple(&tool.machine()?);
            // LLVM's names of processors are compared with those of this machine; others only name folders.
            if !matches!(machine.architecture(), "x86_64" | "i386" | "aarch64") {
                machine.cpu = tool.cpu().unwrap_or_default().to_owned();
            }
            Ok(CodeMachine { machine, cc: tool.to_string(), decides: false })
        });
        Ok(Generated {
            objects: made.objects,
            own: 1,
            // Those of the manifest have a place of their own, those of artifacts another.
            sources: made.sources.into_iter().take(1).collect(),
            machine: machine.transpose()?,
        })
    }

    fn check_sources(&self, target: &TargetInstance) -> Result<()> {
        compile::sources(&target::options(target, None, "check", "")?).map(drop)
    }
}
