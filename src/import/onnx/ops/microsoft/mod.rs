//! Operators of the domain `com.microsoft`, as onnxruntime's `ContribOperators.md` defines them: what its quantizer, its
//! optimizers of transformers and the exporters of language models write.

mod attention;
mod fused;
mod grouped_query;
mod layers;
mod quantized;

use super::OpEntry;

const FAMILIES: &[&[OpEntry]] =
    &[attention::OPS, fused::OPS, grouped_query::OPS, layers::OPS, quantized::OPS];

/// The operator of that name, if it is supported.
pub(super) fn find(name: &str) -> Option<&'static OpEntry> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|entry| entry.name == name)
}
