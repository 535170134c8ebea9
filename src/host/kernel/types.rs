//! The element types of kernels.

use crate::ir::{self, Builder, Val, types::is_unsigned};
use melior::ir::{Type, TypeLike, ValueLike};

/// An element type that kernels read, sum up or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 16-bit float of IEEE 754: what is stored, not what is computed.
    F16,
    /// The upper half of a 32-bit float, as `F16`; machines may have products of pairs of them, whose sums are f32.
    BF16,
    /// 4-bit integer, only as weights: two to a byte.
    I4,
    /// 8-bit integer.
    I8,
    /// 8-bit integer without a sign.
    U8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// Truth value, a byte that is 0 or 1, only as an operand of the epilogue.
    Bool,
}

impl Element {
    /// The element of a scalar, vector, tensor or memref type, if kernels have it. In types
    /// without signs integers count as signed.
    pub fn of(ty: Type<'_>) -> Option<Self> {
        let element = ir::element_type(ty);
        if ir::is_f32(element) {
            return Some(Self::F32);
        }
        if ir::is_f64(element) {
            return Some(Self::F64);
        }
        if element.is_f16() {
            return Some(Self::F16);
        }
        if element.is_bf16() {
            return Some(Self::BF16);
        }
        match (ir::integer_width(element)?, is_unsigned(element)) {
            (8, false) => Some(Self::I8),
            (8, true) => Some(Self::U8),
            (16, false) => Some(Self::I16),
            (32, false) => Some(Self::I32),
            _ => None,
        }
    }

    /// The type in memory, where integers have no sign.
    pub fn r#type<'c>(self, b: &Builder<'c>) -> Type<'c> {
        match self {
            Self::F32 => b.f32(),
            Self::F64 => b.f64(),
            Self::F16 => Type::float16(b.context),
            Self::BF16 => Type::bfloat16(b.context),
            Self::I4 | Self::I8 | Self::U8 | Self::Bool => b.int(8),
            Self::I16 => b.int(16),
            Self::I32 => b.int(32),
        }
    }

    /// Size in memory; that of two, if they share a byte.
    pub fn bytes(self) -> i64 {
        match self {
            Self::I4 | Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }

    /// True for floats that kernels compute with.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// True for integers of one byte.
    pub fn is_byte(self) -> bool {
        matches!(self, Self::I8 | Self::U8)
    }
}

/// The element types of a sum of products, or of another fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types {
    /// The input.
    pub image: Element,
    /// The weights, as they are packed.
    pub weights: Element,
    /// The sums, before the epilogue.
    pub sum: Element,
}

impl Types {
    /// f32 for all.
    pub const F32: Self = Self { image: Element::F32, weights: Element::F32, sum: Element::F32 };

    /// Products of bf16, which are added to f32.
    pub const HALVES: Self =
        Self { image: Element::BF16, weights: Element::BF16, sum: Element::F32 };

    /// One type throughout, of what has no sums.
    pub fn uniform(element: Element) -> Self {
        Self { image: element, weights: element, sum: element }
    }
}

/// Shape and element type of the memory of a kernel's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Dimensions.
    pub shape: Vec<i64>,
    /// Element type.
    pub element: Element,
}

impl Buffer {
    /// The buffer of a static tensor of elements that kernels have.
    pub fn of(value: Val<'_>) -> Option<Self> {
        let ty = value.r#type();
        if !ir::is_tensor(ty) {
            return None;
        }
        let truth = ir::integer_width(ir::element_type(ty)) == Some(1);
        let element = if truth { Element::Bool } else { Element::of(ty)? };
        Some(Self { shape: ir::static_dims(ty)?, element })
    }

    /// Size in memory.
    pub fn bytes(&self) -> i64 {
        self.shape.iter().product::<i64>() * self.element.bytes()
    }

    /// A row of `count` elements.
    pub fn row(count: i64, element: Element) -> Self {
        Self { shape: vec![count], element }
    }
}
