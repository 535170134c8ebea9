//! IR as a model, of any phase.

use super::{Frontend, ImportOptions, Source};
use crate::{Error, Result, Session, io};
use melior::ir::Module;
use std::path::{Path, PathBuf};

/// The format.
pub struct Mlir;

impl Frontend for Mlir {
    fn name(&self) -> &'static str {
        "IR"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mlir", "mlirbc"]
    }

    fn read(&self, path: &Path) -> Result<Box<dyn Source>> {
        let bytes = io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
        Ok(Box::new(Ir::new(path, bytes)))
    }
}

/// IR that was read: text, or bytecode, which [`Session::parse`] refuses.
pub struct Ir {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Ir {
    /// Text, which stands in a file or was made of one.
    pub fn new(path: &Path, text: Vec<u8>) -> Self {
        Self { path: path.to_owned(), bytes: text }
    }
}

impl Source for Ir {
    fn input_names(&self) -> Option<Vec<String>> {
        None
    }

    fn is_ir(&self) -> bool {
        true
    }

    /// Types in IR are what they are: the options' shapes and values have no use.
    fn import<'s>(&self, session: &'s Session, _: &ImportOptions) -> Result<Module<'s>> {
        session.parse(&self.bytes, &self.path.to_string_lossy())
    }
}
