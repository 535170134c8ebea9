//! Values of attributes, whatever operation they are on, and attributes that melior makes none of.

use crate::{Error, Result};
use melior::ir::{
    AffineMap, Attribute, AttributeLike, Type, TypeLike,
    attribute::{FloatAttribute, IntegerAttribute},
};
use mlir_sys as sys;

/// The value of an integer attribute; signless integers count as signed.
pub fn int(attribute: Attribute<'_>) -> Option<i64> {
    // The conversion alone would do, but it prints each attribute that is no integer.
    let integer = attribute.is_integer().then(|| IntegerAttribute::try_from(attribute).ok())??;
    Some(integer.value())
}

/// The value of a boolean attribute.
pub fn boolean(attribute: Attribute<'_>) -> Option<bool> {
    attribute.is_bool().then(|| int(attribute).map(|value| value != 0))?
}

/// The value of a float attribute.
pub fn float(attribute: Attribute<'_>) -> Option<f64> {
    let float = attribute.is_float().then(|| FloatAttribute::try_from(attribute).ok())??;
    Some(float.value())
}

/// The type of an integer or a float.
pub fn number_type(attribute: Attribute<'_>) -> Option<Type<'_>> {
    (attribute.is_integer() || attribute.is_float()).then(|| attribute.r#type())
}

/// The type that an attribute is.
pub fn held_type(attribute: Attribute<'_>) -> Option<Type<'_>> {
    // SAFETY: the kind is checked first; types live as long as the context.
    unsafe {
        let raw = attribute.to_raw();
        attribute.is_type().then(|| Type::from_raw(sys::mlirTypeAttrGetValue(raw)))
    }
}

/// The numbers of a dense array of 32-bit integers.
pub fn i32s(attribute: Attribute<'_>) -> Option<Vec<i32>> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        attribute.is_dense_i32_array().then(|| {
            let count = sys::mlirDenseArrayGetNumElements(raw);
            (0..count).map(|index| sys::mlirDenseI32ArrayGetElement(raw, index)).collect()
        })
    }
}

/// An integer of the type of `like`, if that is an integer attribute.
pub fn int_like<'c>(like: Attribute<'c>, value: i64) -> Option<Attribute<'c>> {
    like.is_integer().then(|| IntegerAttribute::new(like.r#type(), value).into())
}

/// A float of the type of `like`, if that is a float attribute.
pub fn float_like<'c>(like: Attribute<'c>, value: f64) -> Option<Attribute<'c>> {
    let ty = like.r#type().to_raw();
    // SAFETY: the kind is checked first: a float attribute has a float type.
    unsafe {
        let context = sys::mlirAttributeGetContext(like.to_raw());
        like.is_float()
            .then(|| Attribute::from_raw(sys::mlirFloatAttrDoubleGet(context, ty, value)))
    }
}

/// The map in an attribute.
pub fn affine_map(attribute: Attribute<'_>) -> Option<AffineMap<'_>> {
    // SAFETY: the kind is checked first; maps live as long as the context.
    unsafe {
        let raw = attribute.to_raw();
        attribute.is_affine_map().then(|| AffineMap::from_raw(sys::mlirAffineMapAttrGetValue(raw)))
    }
}

/// A map as an attribute.
pub fn of_affine_map<'c>(map: &AffineMap<'c>) -> Attribute<'c> {
    // SAFETY: the map is live.
    unsafe { Attribute::from_raw(sys::mlirAffineMapAttrGet(map.to_raw())) }
}

/// A `dense` attribute with a copy of these bytes: all elements as they are in memory, or one that
/// stands for all. Booleans are in bits there, and have
/// [`bool_values`](melior::ir::attribute::DenseElementsAttribute::bool_values).
pub fn dense<'c>(ty: Type<'c>, bytes: &[u8]) -> Result<Attribute<'c>> {
    let is_static = (ty.is_ranked_tensor() || ty.is_vector())
        && super::static_dims(ty).is_some_and(|dims| {
            dims.iter().try_fold(1_i64, |all, dim| all.checked_mul(*dim)).is_some()
        });
    // SAFETY: the type is checked first; MLIR compares the number of bytes with it, and copies them.
    let made = (is_static && is_number(super::element_type(ty))).then(|| unsafe {
        let (count, data) = (bytes.len(), bytes.as_ptr().cast());
        Attribute::from_option_raw(sys::mlirDenseElementsAttrRawBufferGet(ty.to_raw(), count, data))
    });
    made.flatten().ok_or_else(|| {
        Error::invalid(format!("a constant of type {ty} was given {} bytes", bytes.len()))
    })
}

/// True if `dense` attributes have elements of a type.
fn is_number(ty: Type<'_>) -> bool {
    // SAFETY: the kind is checked first.
    let part = ty
        .is_complex()
        .then(|| unsafe { Type::from_raw(sys::mlirComplexTypeGetElementType(ty.to_raw())) });
    let ty = part.unwrap_or(ty);
    ty.is_integer() || ty.is_index() || ty.is_float()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, Toolkit};
    use melior::ir::AffineExpr;

    fn parsed<'c>(session: &'c Session, text: &str) -> Attribute<'c> {
        Attribute::parse(session.context(), text).expect("the test's attributes are valid")
    }

    #[test]
    fn each_kind_has_its_reader() {
        let session = Toolkit::new("test").all_upstream().session();
        let texts = ["7 : i32", "-1 : i8", "true", "2.5 : f32", "\"a\"", "tensor<2xf32>", "unit"];
        let all = texts.map(|text| parsed(&session, text));
        assert_eq!(all.map(int), [Some(7), Some(-1), Some(-1), None, None, None, None]);
        assert_eq!(all.map(boolean), [None, None, Some(true), None, None, None, None]);
        assert_eq!(all.map(float), [None, None, None, Some(2.5), None, None, None]);
        let numbers = all.map(|attribute| number_type(attribute).map(|ty| ty.to_string()));
        assert_eq!(numbers[..2], [Some("i32".to_owned()), Some("i8".to_owned())]);
        assert_eq!(numbers[4..], [None, None, None]);
        let types = all.map(|attribute| held_type(attribute).is_some());
        assert_eq!(types, [false, false, false, false, false, true, false]);
        assert_eq!(i32s(parsed(&session, "array<i32: 1, -2>")), Some(vec![1, -2]));
        assert_eq!(i32s(parsed(&session, "array<i64: 1, -2>")), None);
        assert_eq!(i32s(all[0]), None);
    }

    #[test]
    fn numbers_keep_their_type() {
        let session = Toolkit::new("test").all_upstream().session();
        let [int, float] = ["7 : i32", "1.0 : f32"].map(|text| parsed(&session, text));
        let large = int_like(parsed(&session, "0 : i64"), i64::MAX);
        assert_eq!(large, Some(parsed(&session, &format!("{} : i64", i64::MAX))));
        assert_eq!(int_like(int, 3), Some(parsed(&session, "3 : i32")));
        assert_eq!(float_like(float, 0.5), Some(parsed(&session, "0.5 : f32")));
        assert_eq!((int_like(float, 3), float_like(int, 0.5)), (None, None));
    }

    #[test]
    fn maps_go_there_and_back() {
        let session = Toolkit::new("test").all_upstream().session();
        let context = session.context();
        let sum = AffineExpr::dim(context, 1) + AffineExpr::constant(context, 4);
        let attribute = of_affine_map(&AffineMap::new(context, 2, 0, &[sum]));
        assert_eq!(attribute.to_string(), "affine_map<(d0, d1) -> (d1 + 4)>");
        assert_eq!(affine_map(attribute).map(|map| map.result_count()), Some(1));
        assert!(affine_map(parsed(&session, "1 : i8")).is_none());
    }

    #[test]
    fn data_fits_its_type() {
        let session = Toolkit::new("test").all_upstream().session();
        let ty = |text: &str| Type::parse(session.context(), text).expect("is a type");
        let pair = ty("tensor<2xi16>");
        let made = dense(pair, &[1, 0, 2, 0]).expect("fits");
        assert_eq!(made.to_string(), "dense<[1, 2]> : tensor<2xi16>");
        assert_eq!(dense(pair, &[3, 0]).expect("fits").to_string(), "dense<3> : tensor<2xi16>");
        assert!(dense(pair, &[1, 2, 3]).is_err());
        for other in [
            "tensor<?xi16>",
            "tensor<*xi16>",
            "i16",
            "memref<2xi16>",
            "tensor<2x!llvm.ptr>",
            "tensor<4294967296x4294967296xi16>",
        ] {
            assert!(dense(ty(other), &[1, 0]).is_err(), "{other}");
        }
    }
}
