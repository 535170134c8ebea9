//! Inputs of a model that are constants of the compiled model.

use crate::tensor::{DType, Tensor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Values of more elements are not written out.
const MAX_SHOWN: usize = 16;

/// An input of a model that is a constant of the compiled model, and no input of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedInput {
    /// Its name in the model.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Its elements in order, if they are few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

impl FixedInput {
    /// The input of that name with this value.
    pub fn new(name: &str, value: &Tensor) -> Self {
        let shown = || match value.dtype().is_float() {
            true => value.to_f64().iter().map(f64::to_string).collect(),
            false => value.to_i128().iter().map(i128::to_string).collect(),
        };
        Self {
            name: name.to_owned(),
            dtype: value.dtype(),
            shape: value.shape().to_vec(),
            values: (value.len() <= MAX_SHOWN).then(shown),
        }
    }
}

impl fmt::Display for FixedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{:?}", self.name, self.dtype, self.shape)?;
        match &self.values {
            Some(values) => write!(f, " = {}", values.join(", ")),
            None => Ok(()),
        }
    }
}
