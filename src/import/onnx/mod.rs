//! Importing ONNX models.

mod attributes;
mod body;
mod context;
mod control;
mod emit;
mod expansion;
mod external;
mod flatten;
mod idle;
mod importer;
mod loops;
mod model;
mod operator;
mod ops;
pub mod proto;
mod remedies;
mod scan_plan;
mod sequences;
mod shape_inputs;
mod text;
mod topology;
mod types;

pub use super::ImportOptions;
pub use importer::{import_model, import_onnx};
pub use model::{Model, decode_model, load_model};
pub use operator::declared_function;
pub(crate) use operator::reference;
pub use ops::supported_operators;
pub use shape_inputs::shape_like_inputs;

use super::{Frontend, Source, given};
use crate::{Result, Session, tensor::DType};
use std::path::Path;

/// The format.
pub struct Onnx;

impl Frontend for Onnx {
    fn extensions(&self) -> &'static [&'static str] {
        &["onnx"]
    }

    fn read(&self, path: &Path) -> Result<Box<dyn Source>> {
        Ok(Box::new(load_model(path)?))
    }
}

impl Source for Model {
    fn input_names(&self) -> Option<Vec<String>> {
        Some(Model::input_names(self))
    }

    fn shape_inputs(&self) -> Result<Vec<String>> {
        Ok(shape_like_inputs(self)?)
    }

    fn input_type(&self, name: &str) -> Option<DType> {
        types::element_of(self, name)
    }

    fn dimension_names(&self, input: &str) -> Vec<Option<String>> {
        types::names_of_dims(self, input)
    }

    fn import<'s>(
        &self,
        session: &'s Session,
        options: &ImportOptions,
    ) -> Result<melior::ir::Module<'s>> {
        let (model, nodes) = (self.path.display(), self.graph.node.len());
        let span = tracing::info_span!(target: "phaseline::import", "import", %model, nodes);
        let _span = span.entered();
        let module = import_model(session, self, options)?;
        given::record(&module, &options.constants)?;
        Ok(module)
    }
}

#[cfg(test)]
mod tests;
