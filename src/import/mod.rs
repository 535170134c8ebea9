//! Models of other formats become modules of the `graph` dialect.
//!
//! A format is a [`Frontend`]: a folder or file here, and a line of [`FRONTENDS`]. The command line
//! and embedders [`open`] a file without a word about what it is.

pub(crate) mod constants;
mod error;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod frame;
mod given;
pub(crate) mod mlir;
#[cfg(feature = "onnx")]
#[allow(dead_code, unused_imports, reason = "tests of importers use it")]
pub(crate) mod onnx;
pub mod operators;
mod options;
#[cfg(feature = "tflite")]
#[allow(dead_code, unused_imports, reason = "tests of importers use it")]
pub(crate) mod tflite;

pub use error::{ImportError, UnsupportedOp};
pub use given::parse_value;
pub use mlir::program_in;
pub use options::ImportOptions;
pub(crate) use options::{ShapeOption, parse_size_option};

use crate::{Error, Result, Session, tensor::DType};
use melior::ir::Module;
use std::path::Path;

/// A format of models.
pub(crate) trait Frontend: Sync {
    /// The endings of file names, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Reads a file, as far as it takes to know its inputs.
    ///
    /// # Errors
    /// The file cannot be read, or is not of the format.
    fn read(&self, path: &Path) -> Result<Box<dyn Source>>;
}

/// A model that was read, but is no module yet.
pub trait Source {
    /// The names of the inputs in order, if they are known before the import.
    fn input_names(&self) -> Option<Vec<String>>;

    /// The inputs whose values decide on shapes, or must be known for another reason. When the
    /// value of one is given, it becomes a constant ([`ImportOptions::constants`]).
    ///
    /// # Errors
    /// The model's graph is damaged.
    fn shape_inputs(&self) -> Result<Vec<String>> {
        Ok(vec![])
    }

    /// The element type of an input, if it is known before the import.
    fn input_type(&self, _name: &str) -> Option<DType> {
        None
    }

    /// The names that the model gives to open dimensions of an input; `None` for one without a name.
    fn dimension_names(&self, _input: &str) -> Vec<Option<String>> {
        vec![]
    }

    /// True for IR, which may already have passed some phases.
    fn is_ir(&self) -> bool {
        false
    }

    /// Makes a module with a function `main`. Inputs become its arguments and outputs its results,
    /// each named by `phl.name`.
    ///
    /// # Errors
    /// Something in the model is damaged or not supported; all unsupported operators are in one
    /// message.
    fn import<'s>(&self, session: &'s Session, options: &ImportOptions) -> Result<Module<'s>>;
}

/// All formats. A file whose name ends in none of their endings is taken for the last one's.
pub(crate) static FRONTENDS: &[&dyn Frontend] = &[
    &mlir::Mlir,
    #[cfg(feature = "tflite")]
    &tflite::Tflite,
    #[cfg(feature = "onnx")]
    &onnx::Onnx,
];

/// Reads a model; the ending of the file's name selects the format.
///
/// # Errors
/// The file cannot be read, or is not what its name says.
pub fn open(path: &Path) -> Result<Box<dyn Source>> {
    if path.is_dir() {
        let endings: Vec<_> = FRONTENDS
            .iter()
            .rev()
            .flat_map(|frontend| frontend.extensions())
            .map(|ending| format!(".{ending}"))
            .collect();
        let message = match endings.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        return Err(Error::invalid(format!(
            "{} is a directory, not a model ({message})",
            path.display()
        )));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let by_name = FRONTENDS.iter().find(|frontend| frontend.extensions().contains(&ending));
    match by_name.or(FRONTENDS.last()) {
        Some(frontend) => frontend.read(path),
        None => Err(Error::internal("there is no frontend")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_belong_to_one_frontend() {
        let mut endings: Vec<_> =
            FRONTENDS.iter().flat_map(|frontend| frontend.extensions()).collect();
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count, "{endings:?}");
    }

    #[test]
    fn a_directory_is_no_model() {
        let error = open(Path::new("src")).err().expect("is a directory").to_string();
        assert!(error.starts_with("src is a directory, not a model (."), "{error}");
        assert!(error.contains(".mlir"), "{error}");
    }
}
