//! A decoded model: the tensors and operators of its main graph, with all references checked.

use super::{
    damaged,
    schema::{self, Buffer, SubGraph},
};
use crate::{
    import::ImportError,
    tensor::{AlignedBuffer, DType, Tensor, element_count, unpack},
};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// A model.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) path: PathBuf,
    /// The file, in which the options of operators are read.
    pub(crate) bytes: Vec<u8>,
    pub(crate) tensors: Vec<Value>,
    pub(crate) operators: Vec<Operator>,
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
}

/// A tensor of the graph.
#[derive(Clone)]
pub(crate) struct Value {
    /// Unique among inputs and among outputs.
    pub(crate) name: String,
    pub(crate) dims: Vec<i64>,
    /// The element type; those of four bits are widened.
    pub(crate) dtype: Option<DType>,
    /// The element type's name in the file.
    pub(crate) type_name: &'static str,
    pub(crate) constant: Option<Tensor>,
    pub(crate) scales: Option<Scales>,
    pub(crate) is_sparse: bool,
    pub(crate) is_variable: bool,
}

/// Quantization of a tensor: its integers stand for `(q - zero) * scale`, one of each for all, or
/// for each position along a dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scales {
    pub(crate) scales: Vec<f32>,
    pub(crate) zeros: Vec<i64>,
    pub(crate) dimension: usize,
}

/// The use of an operator.
#[derive(Clone)]
pub(crate) struct Operator {
    /// The format's number of it.
    pub(crate) code: i32,
    /// Name of a custom one.
    pub(crate) custom: Option<String>,
    pub(crate) version: i32,
    /// `None` for an optional one that is absent.
    pub(crate) inputs: Vec<Option<usize>>,
    pub(crate) outputs: Vec<usize>,
}

/// Element types by the format's number, with their names.
const TYPES: [(&str, Option<DType>); 23] = [
    ("float32", Some(DType::F32)),
    ("float16", Some(DType::F16)),
    ("int32", Some(DType::I32)),
    ("uint8", Some(DType::U8)),
    ("int64", Some(DType::I64)),
    ("string", None),
    ("bool", Some(DType::Bool)),
    ("int16", Some(DType::I16)),
    ("complex64", None),
    ("int8", Some(DType::I8)),
    ("float64", Some(DType::F64)),
    ("complex128", None),
    ("uint64", Some(DType::U64)),
    ("resource", None),
    ("variant", None),
    ("uint32", Some(DType::U32)),
    ("uint16", Some(DType::U16)),
    ("int4", Some(DType::I8)),
    ("bfloat16", Some(DType::BF16)),
    ("int2", Some(DType::I8)),
    ("uint4", Some(DType::U8)),
    ("float8_e4m3fn", None),
    ("float8_e5m2", None),
];

/// Bits of the types that are packed, with true for a signed one.
fn packed_bits(type_name: &str) -> Option<(usize, bool)> {
    match type_name {
        "int4" => Some((4, true)),
        "uint4" => Some((4, false)),
        "int2" => Some((2, true)),
        _ => None,
    }
}

impl Network {
    /// Decodes a file.
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Self, ImportError> {
        let model = schema::model(bytes).map_err(|message| damaged(path, message))?;
        if model.version() != 3 {
            let message = format!("its schema is version {}, not 3", model.version());
            return Err(damaged(path, message));
        }
        let graph = model.subgraphs().filter(|list| !list.is_empty()).map(|list| list.get(0));
        let graph = graph.ok_or_else(|| damaged(path, "it has no graph"))?;
        let buffers: Vec<_> = model.buffers().into_iter().flatten().collect();
        let codes: Vec<_> = model.operator_codes().into_iter().flatten().collect();
        let mut network = Self {
            path: path.to_owned(),
            bytes: bytes.to_vec(),
            tensors: vec![],
            operators: vec![],
            inputs: vec![],
            outputs: vec![],
        };
        for (number, tensor) in graph.tensors().into_iter().flatten().enumerate() {
            network.tensors.push(network.value(number, tensor, &buffers)?);
        }
        network.inputs = network.ports(graph.inputs())?;
        network.outputs = network.ports(graph.outputs())?;
        network.operators = network.read_operators(graph, &codes)?;
        network.name_ports();
        Ok(network)
    }

    /// The same with constants in the place of inputs.
    pub(crate) fn with_constants(
        &self,
        constants: &IndexMap<String, Tensor>,
    ) -> Result<Self, ImportError> {
        let mut network = self.clone();
        for (name, given) in constants {
            let fail = |message| ImportError::Option { path: self.path.clone(), message };
            let input = |number: &usize| self.tensors[*number].name == *name;
            let Some(place) = network.inputs.iter().position(input) else {
                let names =
                    self.inputs.iter().map(|input| format!("`{}`", self.tensors[*input].name));
                let names: Vec<_> = names.collect();
                let names = names.join(", ");
                return Err(fail(format!("there is no input `{name}`; the inputs are {names}")));
            };
            let tensor = &mut network.tensors[network.inputs.remove(place)];
            if tensor.dtype != Some(given.dtype()) {
                let (given, wanted) = (given.dtype().mlir_name(), tensor.type_name);
                return Err(fail(format!(
                    "the value given for input `{name}` is {given}, but the input is {wanted}"
                )));
            }
            if tensor.dims.len() != given.shape().len() {
                return Err(fail(format!(
                    "input `{name}` has {} dimensions, but the value given has {}",
                    tensor.dims.len(),
                    given.shape().len()
                )));
            }
            tensor.dims = given.shape().iter().map(|dim| *dim as i64).collect();
            tensor.constant = Some(given.clone());
        }
        Ok(network)
    }

    fn value(
        &self,
        number: usize,
        tensor: schema::Tensor<'_>,
        buffers: &[Buffer<'_>],
    ) -> Result<Value, ImportError> {
        let name = tensor.name().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| format!("tensor_{number}"), str::to_owned);
        let fail = |message: String| ImportError::tensor(&self.path, &name, message);
        let kind = usize::try_from(tensor.element()).ok().and_then(|at| TYPES.get(at));
        let (type_name, dtype) =
            *kind.ok_or_else(|| fail(format!("there is no element type {}", tensor.element())))?;
        let dims: Vec<i64> = tensor.shape().into_iter().flatten().map(i64::from).collect();
        if dims.iter().any(|dim| *dim < 0) {
            return Err(fail(format!("the shape {dims:?} has a negative size")));
        }
        let bytes = match tensor.buffer() {
            0 => None,
            index => {
                let buffer = usize::try_from(index).ok().and_then(|index| buffers.get(index));
                self.contents(*buffer.ok_or_else(|| fail(format!("there is no buffer {index}")))?)
                    .map_err(&fail)?
            }
        };
        let constant = match (bytes, dtype) {
            (Some(bytes), Some(dtype)) => {
                Some(constant(type_name, dtype, &dims, bytes).map_err(&fail)?)
            }
            _ => None,
        };
        let scales = tensor.quantization().map(|q| scales(q, &dims)).transpose();
        let scales = scales.map_err(&fail)?.flatten();
        // Other types are what they are, whatever the file says of scales.
        let scales = scales.filter(|_| dtype.is_some_and(DType::is_integer));
        let order = tensor.sparsity().and_then(schema::Sparsity::traversal_order);
        let (is_sparse, is_variable) = (order.is_some(), tensor.is_variable());
        Ok(Value { name, dims, dtype, type_name, constant, scales, is_sparse, is_variable })
    }

    /// The bytes of a buffer, if it has any.
    fn contents<'a>(&'a self, buffer: Buffer<'a>) -> Result<Option<&'a [u8]>, String> {
        if let Some(data) = buffer.data().filter(|data| !data.is_empty()) {
            return Ok(Some(data.bytes()));
        }
        if buffer.offset() <= 1 || buffer.size() == 0 {
            return Ok(None);
        }
        let start = usize::try_from(buffer.offset()).ok();
        let end = buffer.offset().checked_add(buffer.size()).and_then(|end| end.try_into().ok());
        let bytes = start.zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        bytes.map(Some).ok_or_else(|| "its buffer lies behind the end of the file".to_owned())
    }

    fn ports(&self, list: Option<flatbuffers::Vector<'_, i32>>) -> Result<Vec<usize>, ImportError> {
        list.into_iter().flatten().map(|index| self.tensor(index)).collect()
    }

    fn tensor(&self, index: i32) -> Result<usize, ImportError> {
        let found = usize::try_from(index).ok().filter(|index| *index < self.tensors.len());
        found.ok_or_else(|| damaged(&self.path, format!("there is no tensor {index}")))
    }

    fn read_operators(
        &self,
        graph: SubGraph<'_>,
        codes: &[schema::OperatorCode<'_>],
    ) -> Result<Vec<Operator>, ImportError> {
        let read = |operator: schema::Operator<'_>| {
            let code = usize::try_from(operator.code()).ok().and_then(|index| codes.get(index));
            let code = code.ok_or_else(|| {
                damaged(&self.path, format!("there is no operator code {}", operator.code()))
            })?;
            let inputs = operator.inputs().into_iter().flatten();
            let inputs = inputs.map(|index| (index >= 0).then(|| self.tensor(index)).transpose());
            Ok(Operator {
                code: code.code().max(i32::from(code.small_code())),
                custom: code.custom_code().map(str::to_owned),
                version: code.version(),
                inputs: inputs.collect::<Result<_, ImportError>>()?,
                outputs: self.ports(operator.outputs())?,
            })
        };
        graph.operators().into_iter().flatten().map(read).collect()
    }

    /// Makes the names of inputs, and those of outputs, differ.
    fn name_ports(&mut self) {
        for ports in [self.inputs.clone(), self.outputs.clone()] {
            for (position, port) in ports.iter().enumerate() {
                let name = &self.tensors[*port].name;
                let taken =
                    |other: &&usize| **other != *port && self.tensors[**other].name == *name;
                if ports[..position].iter().any(|other| taken(&other)) {
                    self.tensors[*port].name = format!("{name}_{position}");
                }
            }
        }
    }
}

fn constant(type_name: &str, dtype: DType, dims: &[i64], bytes: &[u8]) -> Result<Tensor, String> {
    let shape: Vec<usize> = dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
    let count = element_count(dtype, &shape).map_err(|error| error.to_string())?;
    let widened;
    let bytes = match packed_bits(type_name) {
        Some((bits, signed)) => {
            if bytes.len() < (count * bits).div_ceil(8) {
                return Err(format!(
                    "{count} elements of {type_name} are not in {} bytes",
                    bytes.len()
                ));
            }
            let mut elements = unpack(bytes, bits, count);
            if signed {
                let shift = 8 - bits;
                elements.iter_mut().for_each(|e| *e = (((*e << shift) as i8) >> shift) as u8);
            }
            widened = elements;
            &widened
        }
        None => bytes,
    };
    let buffer = AlignedBuffer::copy_of(bytes).map_err(|error| error.to_string())?;
    Tensor::from_buffer(dtype, &shape, buffer).map_err(|error| error.to_string())
}

fn scales(q: schema::Quantization<'_>, dims: &[i64]) -> Result<Option<Scales>, String> {
    let scales: Vec<f32> = q.scale().into_iter().flatten().collect();
    if scales.is_empty() {
        return Ok(None);
    }
    let mut zeros: Vec<i64> = q.zero_point().into_iter().flatten().collect();
    if zeros.len() <= 1 {
        zeros = vec![zeros.first().copied().unwrap_or(0); scales.len()];
    }
    // Old converters give biases the dimension of their filters.
    let listed = usize::try_from(q.dimension()).unwrap_or(usize::MAX);
    let dimension = if dims.len() == 1 { 0 } else { listed };
    let fits = scales.len() == 1
        || dims.get(dimension).and_then(|dim| usize::try_from(*dim).ok()) == Some(scales.len());
    if !fits || zeros.len() != scales.len() {
        return Err(format!(
            "{} scales and {} zero points do not fit dimension {dimension} of {dims:?}",
            scales.len(),
            zeros.len()
        ));
    }
    Ok(Some(Scales { scales, zeros, dimension }))
}
