//! Reading an ONNX file into its messages, with weights on demand.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use indexmap::IndexMap;
use prost::Message;

use super::{
    external::ExternalFiles,
    proto::{FunctionProto, GraphProto, ModelProto, OperatorSetIdProto},
};
use crate::{
    import::ImportError,
    io::{
        self,
        onnx_tensor::{Constant, dense_from_sparse, tensor_from_proto},
        proto::{SparseTensorProto, TensorProto},
    },
    parallel,
    tensor::{AlignedBuffer, DType, Tensor},
};

/// An ONNX model, decoded; the messages share the memory of the file.
#[derive(Debug)]
pub struct Model {
    /// The file.
    pub path: PathBuf,
    /// Version of each operator set, by domain; standard ONNX is the empty domain.
    pub opsets: IndexMap<String, i64>,
    /// The network.
    pub graph: GraphProto,
    /// Functions of the model.
    pub functions: Vec<FunctionProto>,
    external: ExternalFiles,
}

/// Reads a model file and opens its external files.
pub fn load_model(path: &Path) -> Result<Model, ImportError> {
    decode_model(path, io::load_bytes(path)?)
}

/// Decodes a model from memory; `path` names it in messages, and its directory is where external
/// files are looked for.
pub fn decode_model(path: &Path, bytes: Bytes) -> Result<Model, ImportError> {
    let looks_like = other_format(&bytes);
    let proto = ModelProto::decode(bytes).map_err(|error| {
        let message = match looks_like {
            Some(format) => format!("it is {format}"),
            None => format!("the file is damaged, truncated or of another kind ({error})"),
        };
        ImportError::not_a_model(path, "an ONNX model", message)
    })?;
    let Some(mut graph) = proto.graph else {
        let message = looks_like.map_or("it has no graph".to_string(), |f| format!("it is {f}"));
        return Err(ImportError::not_a_model(path, "an ONNX model", message));
    };
    if proto.opset_import.is_empty() {
        let message = "it names no operator set (opset_import is missing)";
        return Err(ImportError::not_a_model(path, "an ONNX model", message));
    }
    if graph.output.is_empty() {
        return Err(ImportError::graph(path, "the graph has no outputs"));
    }
    let bodies: Vec<_> = proto.functions.iter().map(|function| &function.node[..]).collect();
    let external = ExternalFiles::open(path, &graph, &bodies)?;
    align(&mut graph.initializer);
    Ok(Model {
        path: path.to_path_buf(),
        opsets: opset_versions(&proto.opset_import),
        graph,
        functions: proto.functions,
        external,
    })
}

/// Copies weights that are not aligned for their type, as in most files. Several threads copy,
/// since the first touch of new memory takes longer than the copy. Tensors of less than 64 KiB are
/// copied on access.
fn align(tensors: &mut [TensorProto]) {
    const LEAST: usize = 1 << 16;
    let is_misaligned = |raw: &Bytes, size| !(raw.as_ptr() as usize).is_multiple_of(size);
    let misaligned: Vec<_> = tensors
        .iter_mut()
        .filter_map(|tensor| {
            let size = DType::from_onnx_code(tensor.data_type)?.size();
            tensor.raw_data.as_mut().filter(|raw| raw.len() >= LEAST && is_misaligned(raw, size))
        })
        .collect();
    parallel::map(misaligned.into_iter(), |raw| {
        // Without memory for it, the import says so.
        if let Ok(copy) = AlignedBuffer::copy_of(raw) {
            *raw = Bytes::from_owner(copy);
        }
    });
}

/// Versions by domain, with the two spellings of standard ONNX made one.
pub(crate) fn opset_versions(imports: &[OperatorSetIdProto]) -> IndexMap<String, i64> {
    imports
        .iter()
        .map(|import| (normal_domain(&import.domain).to_string(), import.version))
        .collect()
}

/// The domain of standard ONNX is written as nothing or as `ai.onnx`.
pub(crate) fn normal_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// Names the format of a file that is often given by mistake.
fn other_format(bytes: &[u8]) -> Option<&'static str> {
    let starts: [(&[u8], &str); 8] = [
        (b"", "an empty file"),
        (b"PK", "a zip archive (a PyTorch checkpoint or a .npz?)"),
        (b"\x93NUMPY", "a .npy array"),
        (b"\x7fELF", "a program or library"),
        (b"ML\xefR", "MLIR bytecode"),
        (b"\x89HDF", "an HDF5 file (a Keras model?)"),
        (b"version https://git-lfs", "a Git LFS pointer; fetch the real file with `git lfs pull`"),
        (b"<", "an HTML or XML page"),
    ];
    if bytes.get(4..8) == Some(b"TFL3") {
        return Some("a TensorFlow Lite model");
    }
    starts
        .iter()
        .find(
            |(start, _)| {
                if start.is_empty() { bytes.is_empty() } else { bytes.starts_with(start) }
            },
        )
        .map(|(_, format)| *format)
}

impl Model {
    /// A model without graph, with a function that is in no model.
    pub(crate) fn of_function(path: &Path, function: FunctionProto) -> Self {
        Self {
            path: path.to_path_buf(),
            opsets: IndexMap::new(),
            graph: GraphProto::default(),
            functions: vec![function],
            external: ExternalFiles::default(),
        }
    }

    /// The elements of a tensor of this model, wherever they are stored.
    pub fn tensor(&self, proto: &TensorProto) -> Result<Tensor, ImportError> {
        let tensor = match proto.data_location {
            0 => tensor_from_proto(proto),
            1 => self.external.tensor(proto),
            other => Err(format!("data location {other} is not known")),
        };
        tensor.map_err(|message| ImportError::tensor(&self.path, &proto.name, message))
    }

    /// The value of a constant of the graph, of any element type that graphs may hold.
    pub(crate) fn constant(&self, proto: &TensorProto) -> Result<Constant, ImportError> {
        let constant = match proto.data_location {
            0 => Constant::from_proto(proto),
            1 => self.external.constant(proto),
            other => Err(format!("data location {other} is not known")),
        };
        constant.map_err(|message| ImportError::tensor(&self.path, &proto.name, message))
    }

    /// The dense form of a sparse tensor of this model.
    pub fn sparse_tensor(&self, proto: &SparseTensorProto) -> Result<Tensor, ImportError> {
        dense_from_sparse(proto)
            .map_err(|message| ImportError::tensor(&self.path, sparse_name(proto), message))
    }

    /// All initializers by name, decoded; dense and sparse ones.
    pub fn initializers(&self) -> Result<IndexMap<String, Tensor>, ImportError> {
        let mut tensors = IndexMap::new();
        for proto in &self.graph.initializer {
            tensors.insert(proto.name.clone(), self.tensor(proto)?);
        }
        for proto in &self.graph.sparse_initializer {
            tensors.insert(sparse_name(proto).to_string(), self.sparse_tensor(proto)?);
        }
        Ok(tensors)
    }

    /// Names of the inputs that need a value: those that are not initializers, in order.
    pub fn input_names(&self) -> Vec<String> {
        let stored: std::collections::HashSet<&str> = self.initializer_names().collect();
        let inputs = self.graph.input.iter().map(|input| input.name.clone());
        inputs.filter(|name| !stored.contains(name.as_str())).collect()
    }

    /// Names of the outputs, in order.
    pub fn output_names(&self) -> Vec<String> {
        self.graph.output.iter().map(|output| output.name.clone()).collect()
    }

    /// Names of the initializers, dense and sparse.
    pub fn initializer_names(&self) -> impl Iterator<Item = &str> {
        initializer_names(&self.graph)
    }
}

/// Names of the initializers of a graph, dense and sparse.
pub(crate) fn initializer_names(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let dense = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    dense.chain(graph.sparse_initializer.iter().map(sparse_name))
}

/// Name of the value that a sparse initializer provides.
pub(crate) fn sparse_name(proto: &SparseTensorProto) -> &str {
    proto.values.as_ref().map_or("", |values| values.name.as_str())
}
