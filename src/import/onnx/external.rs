//! Tensors whose elements are in files beside the model.

use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use indexmap::IndexMap;

use super::proto::{AttributeProto, GraphProto, NodeProto};
use crate::{
    import::ImportError,
    io::{
        self,
        onnx_tensor::{Constant, element_of, from_raw, packed_bytes, type_of},
        proto::TensorProto,
    },
    tensor::{ElementType, Tensor},
};

/// The external files of a model, by their `location`.
#[derive(Debug, Default)]
pub(crate) struct ExternalFiles {
    files: IndexMap<String, Bytes>,
}

impl ExternalFiles {
    /// Opens each external file that the tensors of `graph` and `functions` name.
    pub(crate) fn open(
        model: &Path,
        graph: &GraphProto,
        function_nodes: &[&[NodeProto]],
    ) -> Result<Self, ImportError> {
        let mut files = IndexMap::new();
        let mut visit = |tensor: &TensorProto| -> Result<(), ImportError> {
            if tensor.data_location == 0 {
                return Ok(());
            }
            let fail = |message| ImportError::tensor(model, &tensor.name, message);
            let location = entry(tensor, "location")
                .ok_or_else(|| fail("is external, but names no location".to_string()))?;
            if !files.contains_key(location) {
                let path = resolve(model, location).map_err(fail)?;
                let bytes = io::load_bytes(&path)
                    .map_err(|error| fail(format!("its external file cannot be used: {error}")))?;
                files.insert(location.to_string(), bytes);
            }
            Ok(())
        };
        visit_graph(graph, &mut visit)?;
        for nodes in function_nodes {
            visit_nodes(nodes, &mut visit)?;
        }
        Ok(Self { files })
    }

    /// The tensor that an external `TensorProto` describes; the elements share the file's memory
    /// when they are aligned.
    pub(crate) fn tensor(&self, proto: &TensorProto) -> Result<Tensor, String> {
        let (dtype, shape) = type_of(proto)?;
        from_raw(dtype, &shape, self.bytes(proto)?)
    }

    /// The same of any element type that graphs may hold.
    pub(crate) fn constant(&self, proto: &TensorProto) -> Result<Constant, String> {
        match element_of(proto)? {
            (ElementType::Plain(_), _) => self.tensor(proto).map(Constant::from),
            (ElementType::Small(small), shape) => {
                Constant::from_packed(small, &shape, &self.bytes(proto)?)
            }
        }
    }

    /// The bytes of a tensor in its file.
    fn bytes(&self, proto: &TensorProto) -> Result<Bytes, String> {
        let (dtype, shape) = element_of(proto)?;
        let wanted = packed_bytes(dtype, &shape)?;
        let location = entry(proto, "location").unwrap_or_default();
        let file = self
            .files
            .get(location)
            .ok_or_else(|| format!("external file `{location}` was not opened"))?;
        let offset = number(proto, "offset")?.unwrap_or(0);
        if let Some(length) = number(proto, "length")?
            && length != wanted
        {
            return Err(format!(
                "{dtype} tensor of shape {shape:?} needs {wanted} bytes, but its external data \
                 has the length {length}"
            ));
        }
        let end = offset.checked_add(wanted).filter(|&end| end <= file.len()).ok_or_else(|| {
            format!(
                "needs {wanted} bytes at offset {offset} of external file `{location}`, which \
                 has {} bytes",
                file.len()
            )
        })?;
        Ok(file.slice(offset..end))
    }
}

fn entry<'a>(tensor: &'a TensorProto, key: &str) -> Option<&'a str> {
    tensor.external_data.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
}

fn number(tensor: &TensorProto, key: &str) -> Result<Option<usize>, String> {
    entry(tensor, key)
        .map(|text| {
            text.parse().map_err(|_| format!("external data has the {key} `{text}`, not a number"))
        })
        .transpose()
}

/// The path of an external file. A model is data from elsewhere: it may name files of its own
/// directory, and no others.
fn resolve(model: &Path, location: &str) -> Result<PathBuf, String> {
    let relative = Path::new(location);
    let inside =
        relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let outside = || {
        format!(
            "its external file `{location}` is outside of the model's directory, which is not \
             allowed; move the file there"
        )
    };
    if !inside || location.is_empty() {
        return Err(outside());
    }
    let directory = match model.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let path = directory.join(relative);
    let missing = |error| format!("its external file {} cannot be read: {error}", path.display());
    let real = path.canonicalize().map_err(missing)?;
    let real_directory = directory.canonicalize().map_err(missing)?;
    // A link could lead outside, too.
    if !real.starts_with(real_directory) {
        return Err(outside());
    }
    Ok(path)
}

type Visit<'a> = dyn FnMut(&TensorProto) -> Result<(), ImportError> + 'a;

fn visit_graph(graph: &GraphProto, visit: &mut Visit) -> Result<(), ImportError> {
    graph.initializer.iter().try_for_each(&mut *visit)?;
    for sparse in &graph.sparse_initializer {
        sparse.values.iter().chain(&sparse.indices).try_for_each(&mut *visit)?;
    }
    visit_nodes(&graph.node, visit)
}

fn visit_nodes(nodes: &[NodeProto], visit: &mut Visit) -> Result<(), ImportError> {
    for attribute in nodes.iter().flat_map(|node| &node.attribute) {
        visit_attribute(attribute, visit)?;
    }
    Ok(())
}

fn visit_attribute(attribute: &AttributeProto, visit: &mut Visit) -> Result<(), ImportError> {
    attribute.t.iter().chain(&attribute.tensors).try_for_each(&mut *visit)?;
    if let Some(sparse) = &attribute.sparse_tensor {
        sparse.values.iter().chain(&sparse.indices).try_for_each(&mut *visit)?;
    }
    attribute.g.iter().chain(&attribute.graphs).try_for_each(|graph| visit_graph(graph, visit))
}
