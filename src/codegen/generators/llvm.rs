//! The code generator `llvm`: machine code through LLVM.

use crate::{
    Error, Result, Session,
    artifact::machines,
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
        if given.target.is_host() && machines::is_big_endian(part) {
            return Err(Error::unsupported(format!(
                "host code of '{}' is for machines that have the lowest byte of a word first; take the target \
                 c with a compiler for this machine",
                given.target.id
            )));
        }
        let mut options = given.options.clone();
        let glue = c::compile::glue(part, &options.name);
        options.sources.extend(glue.clone());
        let machine = machines::of(part)?;
        let mut objects = llvm::compile_with(session, part, &options.name, &options.inlined)?;
        let own = objects.len();
        objects.extend(c::compile::sources(&options)?);
        // C compilers say less about their code, so this machine comes first.
        let machine = CodeMachine { machine, cc: options.compiler, decides: true };
        Ok(Generated { objects, own, sources: glue, machine: Some(machine) })
    }
}
