//! The numbers in `dense` and `dense_resource` attributes.

use super::{
    Builder, Val,
    blob::{self, Data, Plain},
    small_float::SmallFloat,
    types::{bits, has_signedness, is_unsigned, signless},
};
use crate::{Error, Result, ffi, ir};
use melior::ir::{
    Attribute, Type, TypeLike, ValueLike,
    attribute::{AttributeLike, DenseElementsAttribute},
    operation::OperationLike,
};
use mlir_sys as sys;

/// An elements attribute whose data can be read.
#[derive(Clone)]
pub struct Elements<'c> {
    attribute: Attribute<'c>,
    ty: Type<'c>,
    bytes: Data<'c>,
    /// Bytes of one element in MLIR's storage.
    width: usize,
    /// Bits of one element.
    bits: u32,
    splat: bool,
    bool: bool,
    float: bool,
    /// The float type of a byte or less.
    small: Option<SmallFloat>,
}

impl<'c> Elements<'c> {
    /// Reads an attribute; `None` when it holds no numbers, or a blob without data.
    pub fn new(attribute: Attribute<'c>) -> Option<Self> {
        let bytes = blob::stored(attribute)?;
        let raw = attribute.to_raw();
        // SAFETY: what has elements has a shaped type; any attribute may be asked for its kind.
        let (ty, splat) = unsafe {
            let dense = sys::mlirAttributeIsADenseElements(raw);
            let splat = dense && sys::mlirDenseElementsAttrIsSplat(raw);
            (Type::from_raw(sys::mlirAttributeGetType(raw)), splat)
        };
        let element = ir::element_type(ty);
        let bits = bits(element).unwrap_or(64);
        let elements = Self {
            attribute,
            ty,
            bytes,
            width: bits.div_ceil(8) as usize,
            bits,
            splat,
            bool: ir::integer_width(element) == Some(1),
            float: ir::is_float(ty),
            small: if bits <= 8 { SmallFloat::of(&element.to_string()) } else { None },
        };
        let expected = if elements.splat { 1 } else { elements.len() };
        let enough = elements.is_dense_bool()
            || expected
                .checked_mul(elements.width)
                .is_some_and(|wanted| elements.bytes.len() >= wanted);
        enough.then_some(elements)
    }

    /// The elements of a value that is defined by a constant with an elements attribute `value`, such
    /// as `arith.constant`.
    pub fn of_value(value: Val<'c>) -> Option<Self> {
        // SAFETY: the kind is checked before the owner is asked for.
        let op = unsafe {
            if !sys::mlirValueIsAOpResult(value.to_raw()) {
                return None;
            }
            ir::Op::from_raw(sys::mlirOpResultGetOwner(value.to_raw()))
        };
        // SAFETY: the operation is live.
        if !unsafe { ffi::phlIsConstantLike(op.to_raw()) } {
            return None;
        }
        Self::new(op.attribute("value").ok()?)
    }

    /// Number of elements. One value everywhere may fill more than can be counted: then the greatest
    /// number there is.
    #[allow(clippy::len_without_is_empty, reason = "emptiness of a constant is never asked for")]
    pub fn len(&self) -> usize {
        let sizes = ir::dims(self.ty).into_iter().map(|dim| usize::try_from(dim).unwrap_or(0));
        let sizes: Vec<usize> = sizes.collect();
        if sizes.contains(&0) {
            return 0;
        }
        sizes.into_iter().try_fold(1_usize, usize::checked_mul).unwrap_or(usize::MAX)
    }

    /// The elements as MLIR stores them; one element if it [is a splat](Self::is_splat).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, shared or copied.
    pub fn into_bytes(self) -> bytes::Bytes {
        self.bytes.into_bytes()
    }

    /// The elements as MLIR stores them, as numbers of the width of an element; none of another width, or
    /// not aligned.
    pub fn numbers<T: Plain>(&self) -> Option<&[T]> {
        let bytes = self.bytes.get(..self.len().checked_mul(self.width)?)?;
        blob::values_in(bytes).filter(|_| size_of::<T>() == self.width && !self.is_dense_bool())
    }

    /// The attribute itself.
    pub fn attribute(&self) -> Attribute<'c> {
        self.attribute
    }

    /// The attribute's type.
    pub fn r#type(&self) -> Type<'c> {
        self.ty
    }

    /// True if one value stands for all elements.
    pub fn is_splat(&self) -> bool {
        self.splat
    }

    /// All elements as integers; floats are truncated.
    pub fn ints(&self) -> Vec<i64> {
        (0..self.len()).map(|i| self.int(i)).collect()
    }

    /// All elements as floats.
    pub fn floats(&self) -> Vec<f64> {
        (0..self.len()).map(|i| self.float(i)).collect()
    }

    /// Element `index` in row-major order as an integer; 0 beyond the last one, unless one
    /// value stands for all.
    pub fn int(&self, index: usize) -> i64 {
        if self.float {
            return self.float(index) as i64;
        }
        if self.is_dense_bool() {
            // SAFETY: a dense attribute of i1, asked for one of its elements.
            let value = index < self.len()
                && unsafe {
                    sys::mlirDenseElementsAttrGetBoolValue(self.attribute.to_raw(), index as isize)
                };
            return i64::from(value);
        }
        let unsigned = is_unsigned(self.ty);
        let bytes = self.at(index);
        match (bytes.len(), unsigned) {
            (1, true) => i64::from(bytes[0] & (u8::MAX >> (8 - self.bits.min(8)))),
            // What is above the bits of a type of less than a byte says nothing.
            (1, false) => {
                let above = 8 - self.bits.clamp(1, 8);
                i64::from((bytes[0] << above) as i8 >> above)
            }
            (2, true) => i64::from(u16::from_ne_bytes(array(bytes))),
            (2, false) => i64::from(i16::from_ne_bytes(array(bytes))),
            (4, true) => i64::from(u32::from_ne_bytes(array(bytes))),
            (4, false) => i64::from(i32::from_ne_bytes(array(bytes))),
            _ => i64::from_ne_bytes(array(bytes)),
        }
    }

    /// Element `index` in row-major order as a float; 0 beyond the last one, unless one
    /// value stands for all.
    pub fn float(&self, index: usize) -> f64 {
        if !self.float {
            let value = self.int(index);
            return if is_unsigned(self.ty) { value as u64 as f64 } else { value as f64 };
        }
        let bytes = self.at(index);
        match (bytes.len(), self.is_bf16()) {
            (2, true) => half::bf16::from_ne_bytes(array(bytes)).to_f64(),
            (2, false) => half::f16::from_ne_bytes(array(bytes)).to_f64(),
            (4, _) => f64::from(f32::from_ne_bytes(array(bytes))),
            (8, _) => f64::from_ne_bytes(array(bytes)),
            _ => self.small.map_or(f64::NAN, |ty| f64::from(ty.value(bytes[0]))),
        }
    }

    /// The one value of all elements as an attribute for `arith.constant` of the signless
    /// element type; `None` when elements differ or are not of a readable type.
    pub fn uniform(&self, b: &Builder<'c>) -> Option<Attribute<'c>> {
        if self.len() != 1 && !self.is_splat() {
            return None;
        }
        let element = ir::element_type(signless(b.context, self.ty));
        if !ir::is_float(element) {
            return Some(melior::ir::attribute::IntegerAttribute::new(element, self.int(0)).into());
        }
        (self.width > 1).then(|| {
            melior::ir::attribute::FloatAttribute::new(b.context, element, self.float(0)).into()
        })
    }

    /// The attribute with signless integers, for `arith.constant`. Blobs are shared. Booleans in
    /// a blob (a byte each) become `dense`, the one storage of i1 that all of MLIR agrees on.
    pub fn signless(&self, b: &Builder<'c>) -> Result<Attribute<'c>> {
        let is_blob = !self.is_dense();
        if is_blob && self.bool {
            let values: Vec<i32> = self.bytes.iter().map(|byte| i32::from(*byte != 0)).collect();
            let values = &values[..self.len()];
            return Ok(DenseElementsAttribute::bool_values(self.ty, values).into());
        }
        if !has_signedness(self.ty) {
            return Ok(self.attribute);
        }
        let ty = signless(b.context, self.ty);
        // SAFETY: the new type has the same number and width of elements.
        unsafe {
            let raw = ffi::phlElementsWithType(self.attribute.to_raw(), ty.to_raw());
            Attribute::from_option_raw(raw)
        }
        .ok_or_else(|| Error::internal("a constant that is neither dense nor a resource"))
    }

    fn is_dense(&self) -> bool {
        // SAFETY: any attribute may be asked.
        unsafe { sys::mlirAttributeIsADenseElements(self.attribute.to_raw()) }
    }

    fn is_dense_bool(&self) -> bool {
        self.bool && self.is_dense()
    }

    fn is_bf16(&self) -> bool {
        // SAFETY: any type may be asked.
        unsafe { sys::mlirTypeIsABF16(ir::element_type(self.ty).to_raw()) }
    }

    fn at(&self, index: usize) -> &[u8] {
        let width = self.width;
        let start = if self.splat { 0 } else { index.saturating_mul(width) };
        self.bytes.get(start..start.saturating_add(width)).unwrap_or(&[0; 8][..width.min(8)])
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}
