//! Element types of tensors in graphs, also those that tensors in memory do not have.

use super::DType;
use std::fmt;

/// A type of 8 bits or less that graphs may hold, although tensors that are passed to models and
/// taken from them may not. Such types are 8-bit floats, and numbers of which ONNX stores several
/// in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SmallType(u8);

/// One row per type: ONNX code, MLIR spelling, bits.
const TABLE: [(i32, &str, usize); 10] = [
    (17, "f8E4M3FN", 8),
    (18, "f8E4M3FNUZ", 8),
    (19, "f8E5M2", 8),
    (20, "f8E5M2FNUZ", 8),
    (21, "ui4", 4),
    (22, "i4", 4),
    (23, "f4E2M1FN", 4),
    (24, "f8E8M0FNU", 8),
    (25, "ui2", 2),
    (26, "i2", 2),
];

impl SmallType {
    /// `ui4`.
    pub const U4: Self = Self(4);
    /// `i4`.
    pub const I4: Self = Self(5);

    /// Every small type.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len() as u8).map(Self)
    }

    fn row(self) -> (i32, &'static str, usize) {
        TABLE[usize::from(self.0)]
    }

    /// Spelling of the MLIR type that the `graph` dialect uses: `i4`, `ui4`, `f8E4M3FN`.
    pub fn mlir_name(self) -> &'static str {
        self.row().1
    }

    /// Bits of an element.
    pub fn bits(self) -> usize {
        self.row().2
    }

    /// The type with this number in ONNX's `TensorProto.DataType`.
    pub fn from_onnx_code(code: i32) -> Option<Self> {
        Self::all().find(|ty| ty.row().0 == code)
    }

    /// The type of this MLIR name, or of one like `u4`.
    pub fn from_name(name: &str) -> Option<Self> {
        let is = |ty: &Self| {
            ty.mlir_name() == name
                || ty
                    .mlir_name()
                    .strip_prefix('u')
                    .is_some_and(|rest| name.strip_prefix('u') == rest.strip_prefix('i'))
        };
        Self::all().find(is)
    }
}

/// Element type of a tensor in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    /// One that tensors in memory have, too.
    Plain(DType),
    /// A small one.
    Small(SmallType),
}

impl ElementType {
    /// [`DType::Bool`].
    pub const BOOL: Self = Self::Plain(DType::Bool);
    /// [`DType::I8`].
    pub const I8: Self = Self::Plain(DType::I8);
    /// [`DType::I16`].
    pub const I16: Self = Self::Plain(DType::I16);
    /// [`DType::I32`].
    pub const I32: Self = Self::Plain(DType::I32);
    /// [`DType::I64`].
    pub const I64: Self = Self::Plain(DType::I64);
    /// [`DType::U8`].
    pub const U8: Self = Self::Plain(DType::U8);
    /// [`DType::F16`].
    pub const F16: Self = Self::Plain(DType::F16);
    /// [`DType::BF16`].
    pub const BF16: Self = Self::Plain(DType::BF16);
    /// [`DType::F32`].
    pub const F32: Self = Self::Plain(DType::F32);
    /// [`DType::F64`].
    pub const F64: Self = Self::Plain(DType::F64);

    /// Every element type.
    pub fn all() -> impl Iterator<Item = Self> {
        DType::all().map(Self::Plain).chain(SmallType::all().map(Self::Small))
    }

    /// The type of this MLIR name.
    pub fn from_mlir_name(name: &str) -> Option<Self> {
        Self::all().find(|ty| ty.mlir_name() == name)
    }

    /// Spelling of the MLIR type.
    pub fn mlir_name(self) -> &'static str {
        match self {
            Self::Plain(dtype) => dtype.mlir_name(),
            Self::Small(small) => small.mlir_name(),
        }
    }

    /// The type, if tensors in memory have it.
    pub fn plain(self) -> Option<DType> {
        match self {
            Self::Plain(dtype) => Some(dtype),
            Self::Small(_) => None,
        }
    }

    /// Bits of an element, 8 of a boolean.
    pub fn bits(self) -> usize {
        match self {
            Self::Plain(dtype) => dtype.size() * 8,
            Self::Small(small) => small.bits(),
        }
    }

    /// Bytes of so many elements, where several are in a byte if they fit.
    pub fn bytes_of(self, count: usize) -> Option<usize> {
        count.checked_mul(self.bits()).map(|bits| bits.div_ceil(8))
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        Self::Plain(dtype)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(dtype) => dtype.fmt(f),
            Self::Small(small) => f.write_str(small.mlir_name()),
        }
    }
}

/// Elements of `bits` (1, 2, 4 or 8), a byte each, as ONNX packs them: the first in the low bits.
pub fn pack(elements: &[u8], bits: usize) -> Vec<u8> {
    let mask = ((1_u16 << bits) - 1) as u8;
    let byte = |part: &[u8]| {
        part.iter()
            .enumerate()
            .fold(0, |byte, (at, element)| byte | (element & mask) << (at * bits))
    };
    elements.chunks(8 / bits).map(byte).collect()
}

/// The reverse of [`pack`] for `count` elements, whose other bits are zero.
pub fn unpack(bytes: &[u8], bits: usize, count: usize) -> Vec<u8> {
    let mask = ((1_u16 << bits) - 1) as u8;
    let elements = bytes.iter().flat_map(|byte| (0..8 / bits).map(move |at| byte >> (at * bits)));
    elements.map(|element| element & mask).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_mlir_and_short_ones() {
        for ty in ElementType::all() {
            assert_eq!(ElementType::from_mlir_name(ty.mlir_name()), Some(ty));
        }
        let name = |text: &str| SmallType::from_name(text).map(SmallType::mlir_name);
        assert_eq!(name("u4"), Some("ui4"));
        let is = |ty: SmallType, name: &str| SmallType::from_name(name) == Some(ty);
        assert!(is(SmallType::U4, "u4") && is(SmallType::I4, "i4"));
        assert_eq!(name("i4"), Some("i4"));
        assert_eq!(name("u2"), Some("ui2"));
        assert_eq!(name("u"), None);
        assert_eq!(name("u8"), None);
        assert_eq!(name("f8E5M2"), Some("f8E5M2"));
    }

    #[test]
    fn elements_are_packed_from_the_low_bits() {
        assert_eq!(pack(&[1, 2, 15], 4), [0x21, 0x0f]);
        assert_eq!(pack(&[0xff, 0xf8], 4), [0x8f]);
        assert_eq!(pack(&[1, 2, 3, 0, 2], 2), [0b0011_1001, 2]);
        assert_eq!(pack(&[7, 9], 8), [7, 9]);
        for bits in [1, 2, 4, 8] {
            let mask = ((1_u16 << bits) - 1) as u8;
            let elements: Vec<u8> = (0..13_u8).map(|i| i.wrapping_mul(37) & mask).collect();
            assert_eq!(unpack(&pack(&elements, bits), bits, 13), elements);
        }
    }
}
