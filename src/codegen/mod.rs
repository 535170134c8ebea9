//! Code generation: from planned buffers to what a linker or compiler of the target takes.
//!
//! A [`CodeGenerator`] makes the code of a target's module. Each is one file in `generators`, and an
//! entry of the table in `src/targets/codegen/kinds.rs`.

pub(crate) mod c;
mod generators;
pub mod llvm;
pub(crate) mod stream;
pub(crate) mod symbols;

pub(crate) use generators::generator;

use crate::{
    Result, Session,
    artifact::{Machine, Object},
    ir::Op,
    targets::TargetInstance,
};
use c::COptions;

/// Code generator for targets' modules.
pub(crate) trait CodeGenerator: Sync {
    /// Makes code of `part`, the module of `target`, and compiles the vendor's sources with it.
    fn generate(&self, session: &Session, part: Op<'_>, given: &Given<'_>) -> Result<Generated>;

    /// The text that `part` is generated as, if it is text.
    fn text(&self, part: Op<'_>) -> Result<Option<String>> {
        let _ = part;
        Ok(None)
    }

    /// Compiles the sources that come with a target, to see whether they can be.
    fn check_sources(&self, target: &TargetInstance) -> Result<()> {
        let _ = target;
        Ok(())
    }
}

/// Target and settings that code is generated for.
pub(crate) struct Given<'a> {
    /// The target.
    pub target: &'a TargetInstance,
    /// Its name in the model, and settings for compiling its C: the vendor's sources among them.
    pub options: &'a COptions,
}

/// Result of generating code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generated {
    /// The objects of the module, and those of the vendor's sources after them.
    pub objects: Vec<Object>,
    /// Number of objects that are of the module.
    pub own: usize,
    /// Names and texts of what was generated as source, for people.
    pub sources: Vec<(String, String)>,
    /// The machine that the code is for; none if that is for the rest of the model to say.
    pub machine: Option<CodeMachine>,
}

/// The machine that code is for.
#[derive(Clone, Debug)]
pub(crate) struct CodeMachine {
    /// Known properties of the machine.
    pub machine: Machine,
    /// The compiler that links for it; arguments may follow the program.
    pub cc: String,
    /// True if this compiler comes before that of other targets.
    pub decides: bool,
}
