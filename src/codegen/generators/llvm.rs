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
    fn generate(&self, session: &Session, part: Op<'_>, given: &Given<'_>) -> Result<Generated> {
        let options = given.options;
        let machine = Machine::of(part)?;
        let mut objects = vec![llvm::compile(session, part, &options.name)?];
        objects.extend(c::compile::sources(options)?);
        // C compilers say less about their code, so this machine comes first.
        let machine = CodeMachine { machine, cc: options.compiler.clone(), decides: true };
        Ok(Generated { objects, sources: vec![], machine: Some(machine) })
    }
}
