//! Importing TensorFlow Lite models.
//!
//! Images of this format have their channels last, the graph dialect's first: values are kept in
//! either layout and brought to the other where an operator asks for it ([`value`]). Quantized tensors are
//! integers between operators, and real numbers within: dequantize, operator, quantize, which is
//! what targets match and the host computes in integers.

mod importer;
mod network;
mod node;
mod ops;
mod schema;
mod value;

pub use ops::supported_operators;

use super::{Frontend, ImportError, ImportOptions, Source, given};
use crate::{Error, Result, Session, io, tensor::DType};
use melior::ir::Module;
use network::Network;
use std::path::Path;

/// The format.
pub struct Tflite;

impl Frontend for Tflite {
    fn extensions(&self) -> &'static [&'static str] {
        &["tflite", "lite"]
    }

    fn read(&self, path: &Path) -> Result<Box<dyn Source>> {
        let bytes = io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
        Ok(Box::new(Network::read(path, &bytes)?))
    }
}

impl Source for Network {
    fn input_names(&self) -> Option<Vec<String>> {
        Some(self.inputs.iter().map(|input| self.tensors[*input].name.clone()).collect())
    }

    fn input_type(&self, name: &str) -> Option<DType> {
        self.inputs
            .iter()
            .map(|input| &self.tensors[*input])
            .find(|input| input.name == name)?
            .dtype
    }

    fn import<'s>(&self, session: &'s Session, options: &ImportOptions) -> Result<Module<'s>> {
        let (model, nodes) = (self.path.display(), self.operators.len());
        let span = tracing::info_span!(target: "phaseline::import", "import", %model, nodes);
        let _span = span.entered();
        if options.constants.is_empty() {
            return Ok(importer::import(session, self, options)?);
        }
        let network = self.with_constants(&options.constants)?;
        let module = importer::import(session, &network, options)?;
        given::record(&module, &options.constants)?;
        Ok(module)
    }
}

/// Name of the format in errors.
const FORMAT: &str = "a TensorFlow Lite model";

fn damaged(path: &Path, message: impl Into<String>) -> ImportError {
    ImportError::not_a_model(path, FORMAT, message)
}
