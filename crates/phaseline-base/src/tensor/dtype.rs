//! Element types of tensors and their names in ONNX, numpy and MLIR.

use std::fmt;

/// Element type of a [`Tensor`](crate::tensor::Tensor): every fixed-width numeric type of ONNX.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub enum DType {
    /// Boolean, stored as one byte that is 0 or 1.
    Bool,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// One row per type: type, ONNX code, ONNX name, numpy name, MLIR spelling, bytes per element.
const TABLE: [(DType, i32, &str, &str, &str, usize); 13] = [
    (DType::Bool, 9, "BOOL", "bool", "i1", 1),
    (DType::I8, 3, "INT8", "int8", "i8", 1),
    (DType::I16, 5, "INT16", "int16", "i16", 2),
    (DType::I32, 6, "INT32", "int32", "i32", 4),
    (DType::I64, 7, "INT64", "int64", "i64", 8),
    (DType::U8, 2, "UINT8", "uint8", "ui8", 1),
    (DType::U16, 4, "UINT16", "uint16", "ui16", 2),
    (DType::U32, 12, "UINT32", "uint32", "ui32", 4),
    (DType::U64, 13, "UINT64", "uint64", "ui64", 8),
    (DType::F16, 10, "FLOAT16", "float16", "f16", 2),
    (DType::BF16, 16, "BFLOAT16", "bfloat16", "bf16", 2),
    (DType::F32, 1, "FLOAT", "float32", "f32", 4),
    (DType::F64, 11, "DOUBLE", "float64", "f64", 8),
];

/// Names of the ONNX element types that are known but have no [`DType`], by code.
const OTHER_ONNX_TYPES: [(i32, &str); 15] = [
    (0, "UNDEFINED"),
    (8, "STRING"),
    (14, "COMPLEX64"),
    (15, "COMPLEX128"),
    (17, "FLOAT8E4M3FN"),
    (18, "FLOAT8E4M3FNUZ"),
    (19, "FLOAT8E5M2"),
    (20, "FLOAT8E5M2FNUZ"),
    (21, "UINT4"),
    (22, "INT4"),
    (23, "FLOAT4E2M1"),
    (24, "FLOAT8E8M0"),
    (25, "UINT2"),
    (26, "INT2"),
    (27, "FLOAT6E2M3"),
];

impl DType {
    /// Every element type, in declaration order.
    pub fn all() -> impl Iterator<Item = DType> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (DType, i32, &'static str, &'static str, &'static str, usize) {
        &TABLE[self as usize]
    }

    /// Bytes per element.
    pub fn size(self) -> usize {
        self.row().5
    }

    /// Name in numpy: `float32`, `int64`, `bool`.
    pub fn numpy_name(self) -> &'static str {
        self.row().3
    }

    /// Name in ONNX: `FLOAT`, `INT64`, `BOOL`.
    pub fn onnx_name(self) -> &'static str {
        self.row().2
    }

    /// Spelling of the MLIR builtin type that the `graph` dialect uses: `f32`, `ui8`, `i1`.
    pub fn mlir_name(self) -> &'static str {
        self.row().4
    }

    /// Number in ONNX's `TensorProto.DataType`.
    pub fn onnx_code(self) -> i32 {
        self.row().1
    }

    /// The type with this number in ONNX's `TensorProto.DataType`, if it is a numeric type that
    /// tensors here can hold.
    pub fn from_onnx_code(code: i32) -> Option<DType> {
        TABLE.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// Looks a type up by its numpy, ONNX or MLIR name.
    pub fn from_name(name: &str) -> Option<DType> {
        TABLE.iter().find(|row| row.2 == name || row.3 == name || row.4 == name).map(|row| row.0)
    }

    /// True for `f16`, `bf16`, `f32` and `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// True for the integer types of both signs; false for `bool`.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != DType::Bool
    }

    /// True for floats and signed integers.
    pub fn is_signed(self) -> bool {
        self.is_float() || matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }
}

impl From<DType> for String {
    fn from(dtype: DType) -> Self {
        dtype.numpy_name().to_owned()
    }
}

impl TryFrom<String> for DType {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        DType::from_name(&name).ok_or_else(|| format!("'{name}' is not an element type"))
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.numpy_name())
    }
}

/// Name of an ONNX element type for messages, also for types that have no [`DType`].
pub fn onnx_type_name(code: i32) -> String {
    if let Some(dtype) = DType::from_onnx_code(code) {
        return dtype.onnx_name().to_string();
    }
    match OTHER_ONNX_TYPES.iter().find(|(c, _)| *c == code) {
        Some((_, name)) => (*name).to_string(),
        None => format!("unknown type {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_order_is_declaration_order() {
        for (position, dtype) in DType::all().enumerate() {
            assert_eq!(dtype as usize, position);
        }
    }

    #[test]
    fn names_and_codes_round_trip() {
        for dtype in DType::all() {
            assert_eq!(DType::from_onnx_code(dtype.onnx_code()), Some(dtype));
            for name in [dtype.numpy_name(), dtype.onnx_name(), dtype.mlir_name()] {
                assert_eq!(DType::from_name(name), Some(dtype), "{name}");
            }
        }
        assert_eq!(DType::from_name("string"), None);
        assert_eq!(onnx_type_name(8), "STRING");
        assert_eq!(onnx_type_name(1), "FLOAT");
        assert_eq!(onnx_type_name(99), "unknown type 99");
    }
}
