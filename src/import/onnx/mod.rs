//! Importing ONNX models.

mod attributes;
mod constants;
mod context;
mod control;
mod emit;
mod external;
mod flatten;
mod frame;
mod importer;
mod model;
mod ops;
pub mod proto;
mod shape_inputs;
mod tensor;
mod topology;
mod types;

pub(crate) use constants::{elements_attribute, scalar_type};
pub use importer::{import_model, import_onnx};
pub use model::{Model, decode_model, load_model};
pub use ops::supported_operators;
pub use shape_inputs::shape_like_inputs;
pub use tensor::tensor_from_proto;
pub use types::{ImportOptions, parse_shape_option};

#[cfg(test)]
mod tests;
