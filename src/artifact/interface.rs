//! The inputs and outputs of a network: names, element types and shapes.

use super::Port;
use crate::{
    DType, Error, Result,
    ir::{self, edit, func, names},
};
use melior::ir::{Attribute, Module, Type};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// One input or output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorInfo {
    /// Name in the model.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions; `None` for one that is not known.
    pub shape: Vec<Option<usize>>,
}

/// All inputs and outputs, in the model's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Inputs of the network.
    pub inputs: Vec<TensorInfo>,
    /// Outputs of the network.
    pub outputs: Vec<TensorInfo>,
    /// The greatest elements of inputs whose elements are sizes, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elements: BTreeMap<String, Vec<i64>>,
}

impl Interface {
    /// Reads the interface of `@main`, which is still on tensors.
    pub fn of(module: &Module<'_>) -> Result<Self> {
        let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
        if edit::entry_block(main).is_none() {
            return Err(Error::invalid(format!(
                "function @{} is the network, but has no body",
                func::symbol(main)
            )));
        }
        let signature = func::Signature::of(main)?;
        let read = |list: &[(Type<'_>, func::Attributes<'_>)], stem: &str| {
            list.iter()
                .enumerate()
                .map(|(index, (ty, attributes))| info(*ty, attributes, &format!("{stem}_{index}")))
                .collect::<Result<Vec<_>>>()
        };
        Ok(Self {
            inputs: read(&signature.arguments, "input")?,
            outputs: read(&signature.results, "output")?,
            elements: BTreeMap::new(),
        })
    }
}

impl TensorInfo {
    /// The dimensions, when all are known.
    pub fn static_shape(&self) -> Option<Vec<usize>> {
        self.shape.iter().copied().collect()
    }
}

impl fmt::Display for TensorInfo {
    /// `name: float32[1,3,224,?]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<_> = self
            .shape
            .iter()
            .map(|dim| dim.map_or_else(|| "?".to_owned(), |size| size.to_string()))
            .collect();
        write!(f, "{}: {}[{}]", self.name, self.dtype, dims.join(","))
    }
}

impl From<&Port> for TensorInfo {
    fn from(port: &Port) -> Self {
        let shape = port.shape.iter().copied().map(Some).collect();
        Self { name: port.name.clone(), dtype: port.dtype, shape }
    }
}

fn info(
    ty: Type<'_>,
    attributes: &[(String, Attribute<'_>)],
    fallback: &str,
) -> Result<TensorInfo> {
    let text = |name: &str| {
        let attribute = attributes.iter().find(|(key, _)| key == name)?.1;
        edit::string(attribute)
    };
    let name = text(names::NAME).unwrap_or_else(|| fallback.to_owned());
    if !ir::is_tensor(ty) {
        return Err(Error::unsupported(format!(
            "'{name}' of the network has the type {ty}; networks take and return tensors"
        )));
    }
    let element = ir::element_type(ty).to_string();
    let dtype = text(names::DTYPE)
        .and_then(|dtype| DType::from_name(&dtype))
        .or_else(|| DType::from_name(&element))
        .ok_or_else(|| {
            Error::unsupported(format!("'{name}' has the type {ty}, which has no tensor form"))
        })?;
    let shape = ir::dims(ty).into_iter().map(|dim| usize::try_from(dim).ok()).collect();
    Ok(TensorInfo { name, dtype, shape })
}
