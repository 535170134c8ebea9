//! The code generator `llvm`: machine code through LLVM.

use crate::{
    Result, Session,
    artifact::Machine,
    codegen::{CodeGenerator, CodeMachine, Generated, Given, c, llvm},
    ir::Op,
};

/// The generator of machine code through LLVM.
pub struct Generator;

impl CodeGenerator for Generator {
    fn text(&self, part: Op<'_>) -> Result<Option<String>> {
        Ok(c::compile::glue_text(part))
    }

    fn generate(&self, session: &Session, part: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        let mut options = given.options.clone();
        let glue = c::compile::glue(part, &options.name);
        options.sources.extend(glue.clone());
        let machine = Machine::of(part)?;
        let mut objects = llvm::compile(session, part, &options.name)?;
        let own = objects.len();
        objects.extend(c::compile::sources(&options)?);
        // C compilers say less about their code, so this machine comes first.
        let machine = CodeMachine { machine, cc: options.compiler, decides: true };
        Ok(Generated { objects, own, sources: glue, machine: Some(machine) })
    }
}
