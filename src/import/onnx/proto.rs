//! The protobuf messages of ONNX, written from the field numbers of the public `onnx.proto`.
//!
//! Only fields that an importer can use are listed; others are skipped on decoding. Weights are
//! [`Bytes`], which share the buffer that the model is decoded from: decoding copies no raw data.

use crate::io::proto::{SparseTensorProto, StringStringEntryProto, TensorProto};
use bytes::Bytes;
use prost::{Message, Oneof};

/// A model file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the file format itself.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// Tool that wrote the model.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Version of that tool.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The network.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Operator sets that the network's nodes come from.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Free-form properties.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Functions of this model, which nodes call like operators.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// One operator set and its version.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// Domain; empty for standard ONNX.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A graph: the network, or a branch or body of a control-flow node.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Nodes, in an order in which they can run.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constant tensors, by value name.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs; may include names that are also initializers (their default values).
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values in between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Constant sparse tensors.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
}

/// A node: the use of an operator or function.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Input value names; empty for an optional input that is absent.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Output value names; empty for an output that is not wanted.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name; may be empty.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Domain of the operator; empty for standard ONNX.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Overload identifier: selects one of several functions of one name.
    #[prost(string, tag = "8")]
    pub overload: String,
}

/// A named attribute of a node.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Float value.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// Integer value.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// String value.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// Tensor value.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Graph value.
    #[prost(message, optional, tag = "6")]
    pub g: Option<GraphProto>,
    /// List of floats.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// List of integers.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// List of strings.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// List of tensors.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    /// List of graphs.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// Type value.
    #[prost(message, optional, tag = "14")]
    pub tp: Option<TypeProto>,
    /// Type tag, which selects the field of the value: one of the constants in [`attribute_type`].
    #[prost(int32, tag = "20")]
    pub r#type: i32,
    /// In the body of a function: the function's attribute whose value to take.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// Sparse tensor value.
    #[prost(message, optional, tag = "22")]
    pub sparse_tensor: Option<SparseTensorProto>,
}

/// Values of [`AttributeProto::type`](struct@AttributeProto).
pub mod attribute_type {
    /// Written by old tools: the filled field tells.
    pub const UNDEFINED: i32 = 0;
    /// `f`
    pub const FLOAT: i32 = 1;
    /// `i`
    pub const INT: i32 = 2;
    /// `s`
    pub const STRING: i32 = 3;
    /// `t`
    pub const TENSOR: i32 = 4;
    /// `g`
    pub const GRAPH: i32 = 5;
    /// `floats`
    pub const FLOATS: i32 = 6;
    /// `ints`
    pub const INTS: i32 = 7;
    /// `strings`
    pub const STRINGS: i32 = 8;
    /// `tensors`
    pub const TENSORS: i32 = 9;
    /// `graphs`
    pub const GRAPHS: i32 = 10;
    /// `sparse_tensor`
    pub const SPARSE_TENSOR: i32 = 11;
    /// `tp`
    pub const TYPE_PROTO: i32 = 13;
}

/// Name and type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Kind of type, with its details.
    #[prost(oneof = "TypeValue", tags = "1, 4, 5, 7, 8, 9")]
    pub value: Option<TypeValue>,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Oneof)]
pub enum TypeValue {
    /// A tensor.
    #[prost(message, tag = "1")]
    Tensor(TensorTypeProto),
    /// A sequence of values of one type.
    #[prost(message, boxed, tag = "4")]
    Sequence(Box<ElementTypeProto>),
    /// A map.
    #[prost(message, tag = "5")]
    Map(MapTypeProto),
    /// A type known to its domain only.
    #[prost(message, tag = "7")]
    Opaque(OpaqueTypeProto),
    /// A sparse tensor.
    #[prost(message, tag = "8")]
    SparseTensor(TensorTypeProto),
    /// A value or nothing.
    #[prost(message, boxed, tag = "9")]
    Optional(Box<ElementTypeProto>),
}

/// Element type and shape of a (sparse) tensor type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Element type.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Shape; absent when even the rank is unknown.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Payload of the sequence and optional types.
#[derive(Clone, PartialEq, Message)]
pub struct ElementTypeProto {
    /// Type of the element.
    #[prost(message, optional, boxed, tag = "1")]
    pub elem_type: Option<Box<TypeProto>>,
}

/// Payload of the map type; only recognised, so without its fields.
#[derive(Clone, PartialEq, Message)]
pub struct MapTypeProto {}

/// Payload of the opaque type; only recognised, so without its fields.
#[derive(Clone, PartialEq, Message)]
pub struct OpaqueTypeProto {}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// Dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// A dimension.
#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    /// Value of the dimension; absent when nothing is known.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// The value of a dimension.
#[derive(Clone, PartialEq, Oneof)]
pub enum DimensionValue {
    /// A number.
    #[prost(int64, tag = "1")]
    Value(i64),
    /// A name: dimensions of one name are equal.
    #[prost(string, tag = "2")]
    Param(String),
}

/// A function of the model.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    /// Name; nodes call it as operator.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Names of the inputs.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of the outputs.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Names of the attributes without default.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// Body.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Operator sets that the body's nodes come from.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Domain.
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Attributes with default values.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// Distinguishes functions of one name.
    #[prost(string, tag = "13")]
    pub overload: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_data_shares_the_decoded_buffer() {
        let tensor =
            TensorProto { raw_data: Some(Bytes::from(vec![7; 1000])), ..Default::default() };
        let graph = GraphProto { initializer: vec![tensor], ..Default::default() };
        let model = ModelProto { graph: Some(graph), ..Default::default() };
        let file = Bytes::from(model.encode_to_vec());
        let decoded = ModelProto::decode(file.clone()).unwrap();
        let graph = decoded.graph.unwrap();
        let raw = graph.initializer[0].raw_data.as_ref().unwrap();
        assert!(file.as_ptr_range().contains(&raw.as_ptr()));
    }
}
