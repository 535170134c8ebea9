//! The protobuf messages of ONNX's tensors, written from the field numbers of the public
//! `onnx.proto`. Files of test data are such messages as well.

use bytes::Bytes;
use prost::Message;

/// A key and a value.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// Key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A tensor with its elements, in one of several fields.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Dimensions.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// Element type.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Elements of FLOAT (and pairs of COMPLEX64).
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of the integer types up to 32 bits, BOOL, and bits of FLOAT16 and BFLOAT16.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of STRING.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of INT64.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name; of an initializer, the name of its value.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements of any type but STRING, little-endian.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Elements of DOUBLE (and pairs of COMPLEX128).
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of UINT32 and UINT64.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Place of the elements in another file: `location`, `offset`, `length`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 when the elements are in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// A sparse tensor: values, and the places where they go.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {
    /// Values, of rank 1; its name is the name of the whole.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// Linear indices (rank 1) or coordinates (rank 2).
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    /// Dimensions of the dense tensor.
    #[prost(int64, repeated, tag = "3")]
    pub dims: Vec<i64>,
}
