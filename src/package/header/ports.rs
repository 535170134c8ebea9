//! Inputs and outputs in the C header of a package.

use crate::{
    artifact::{Port, Signature},
    codegen::c::words,
    tensor::DType,
};
use std::collections::BTreeSet;

/// Parameter names of inputs and outputs.
pub struct Ports {
    /// Names of the inputs, in their order.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
}

impl Ports {
    /// Parameter names of a model: C identifiers that nothing else in the header has.
    pub fn of(signature: &Signature) -> Self {
        let model = &signature.name;
        let of_weights = ["weights", "load_weights", "weights_error"];
        let functions = ["invoke", "run", "constants", "set_trace", "open", "close"];
        let functions = functions.into_iter().chain(of_weights).map(|end| format!("{model}_{end}"));
        let taken = [
            "arena",
            "devices",
            "model_weights",
            "model_inputs",
            "model_outputs",
            "status",
            "phaseline",
        ];
        let taken = taken.map(str::to_owned).into_iter().chain(functions);
        // Without a board all names stay what they are.
        let of_board = ["pools", "model_constants"].map(str::to_owned).into_iter();
        let of_board =
            of_board.chain(super::pools::names(signature)).filter(|_| !signature.pools.is_empty());
        let taken = taken.chain(of_board);
        let mut taken: BTreeSet<String> = taken.collect();
        let mut names = |ports: &[Port], kind: &str| -> Vec<String> {
            ports
                .iter()
                .enumerate()
                .map(|(index, port)| {
                    let plain = crate::artifact::c_identifier(&port.name);
                    let free = !taken.contains(&plain) && words::is_free(&plain);
                    let other = || format!("{kind}_{index}_{}", plain.trim_matches('_'));
                    let mut name = if free { plain.clone() } else { other() };
                    while !words::is_free(&name) || !taken.insert(name.clone()) {
                        name.push('x');
                    }
                    name
                })
                .collect()
        };
        Self { inputs: names(&signature.inputs, "in"), outputs: names(&signature.outputs, "out") }
    }
}

/// The type of elements in C.
pub fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        // C has no portable type for half floats: their bits.
        DType::U16 | DType::F16 | DType::BF16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}
