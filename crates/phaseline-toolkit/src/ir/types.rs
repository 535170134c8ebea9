//! Types after lowering: integers without a sign.

use crate::{Error, Result, ir};
use melior::{
    Context,
    ir::{
        Type, TypeLike,
        r#type::{IntegerType, RankedTensorType},
    },
};
use mlir_sys as sys;

/// True if the element type is unsigned in the graph. Booleans count: they extend with zeros.
pub fn is_unsigned(ty: Type<'_>) -> bool {
    integer(ty).is_some_and(|ty| ty.is_unsigned() || ty.width() == 1)
}

/// True if the element type is an integer with a sign in its type, which lowering removes.
pub fn has_signedness(ty: Type<'_>) -> bool {
    integer(ty).is_some_and(|ty| !ty.is_signless())
}

/// The element type, if it is an integer.
fn integer(ty: Type<'_>) -> Option<IntegerType<'_>> {
    let element = ir::element_type(ty);
    // The conversion alone would do, but it prints each type that is not an integer.
    ir::integer_width(element).and_then(|_| IntegerType::try_from(element).ok())
}

/// The type with its integers signless; other types are returned as they are.
pub fn signless<'c>(context: &'c Context, ty: Type<'c>) -> Type<'c> {
    let Some(integer) = integer(ty) else { return ty };
    if integer.is_signless() {
        return ty;
    }
    let element = IntegerType::new(context, integer.width()).into();
    if ir::is_tensor(ty) { with_element(ty, element) } else { element }
}

/// A tensor type with another element type.
pub fn with_element<'c>(ty: Type<'c>, element: Type<'c>) -> Type<'c> {
    let dims: Vec<u64> = ir::dims(ty).iter().map(|dim| *dim as u64).collect();
    RankedTensorType::new(&dims, element, None).into()
}

/// The dimensions of a type that has any, [`ir::DYNAMIC`] for those that are not known; none for tensors of unknown rank.
pub fn shape(ty: Type<'_>) -> Option<Vec<i64>> {
    // SAFETY: the rank is asked of shaped types only.
    let has_rank =
        unsafe { sys::mlirTypeIsAShaped(ty.to_raw()) && sys::mlirShapedTypeHasRank(ty.to_raw()) };
    has_rank.then(|| ir::dims(ty))
}

/// The tensor type with the element type of another one and these dimensions.
///
/// # Errors
/// The other one is no tensor, or a dimension is negative and not [`ir::DYNAMIC`].
pub fn with_shape<'c>(ty: Type<'c>, shape: &[i64]) -> Result<Type<'c>> {
    let is_right = |dim: &i64| *dim >= 0 || *dim == ir::DYNAMIC;
    if !(ty.is_ranked_tensor() || ty.is_unranked_tensor()) || !shape.iter().all(is_right) {
        return Err(Error::invalid(format!("there is no type as {ty} with the shape {shape:?}")));
    }
    let dims: Vec<u64> = shape.iter().map(|dim| *dim as u64).collect();
    Ok(RankedTensorType::new(&dims, ir::element_type(ty), None).into())
}

/// The vector type with the shape and elements of a tensor type: none where dimensions are open or zero, or elements are no
/// numbers.
pub fn vector_like(ty: Type<'_>) -> Option<Type<'_>> {
    let element = ir::element_type(ty);
    let dims = shape(ty)?;
    let is_vector = ty.is_ranked_tensor() && dims.iter().all(|dim| *dim > 0);
    let is_number = element.is_integer() || element.is_index() || element.is_float();
    let dims: Vec<u64> = dims.iter().map(|dim| *dim as u64).collect();
    (is_vector && is_number).then(|| Type::vector(&dims, element))
}

/// True if values of the type may keep a buffer in use. Types of buffers do, and all that are not
/// MLIR's own: they may be addresses or tokens of transfers.
pub fn keeps_buffer(ty: Type<'_>) -> bool {
    // SAFETY: takes any type; a dialect and its name live as long as the context.
    let is_foreign = || unsafe {
        let dialect = sys::mlirTypeGetDialect(ty.to_raw());
        super::bytes(sys::mlirDialectGetNamespace(dialect)) != b"builtin"
    };
    ty.is_mem_ref() || ty.is_unranked_mem_ref() || is_foreign()
}

/// The bits of an integer or float type; none for other types.
pub fn bits(ty: Type<'_>) -> Option<u32> {
    // SAFETY: called on floats only.
    let float = || ty.is_float().then(|| unsafe { sys::mlirFloatTypeGetWidth(ty.to_raw()) });
    ir::integer_width(ty).or_else(float)
}

/// Name of an element type as numpy and ONNX spell it, for `phl.dtype`: `uint8`, `float32`.
pub fn dtype_name(ty: Type<'_>) -> String {
    let element = ir::element_type(ty);
    if let Ok(integer) = IntegerType::try_from(element) {
        return match (integer.width(), integer.is_unsigned()) {
            (1, _) => "bool".to_owned(),
            (width, true) => format!("uint{width}"),
            (width, false) => format!("int{width}"),
        };
    }
    let text = element.to_string();
    match text.as_str() {
        "f16" | "f32" | "f64" => text.replace('f', "float"),
        "bf16" => "bfloat16".to_owned(),
        _ if element.is_float() => text.replacen('f', "float", 1).to_lowercase(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &str) -> (String, String, bool) {
        let context = Context::new();
        let ty = Type::parse(&context, text).expect("the test's types are valid");
        (signless(&context, ty).to_string(), dtype_name(ty), is_unsigned(ty))
    }

    #[test]
    fn integers_lose_their_sign() {
        let tensor = converted("tensor<2x?xui8>");
        assert_eq!(tensor, ("tensor<2x?xi8>".into(), "uint8".into(), true));
        assert_eq!(converted("tensor<i64>"), ("tensor<i64>".into(), "int64".into(), false));
        assert_eq!(converted("tensor<i1>"), ("tensor<i1>".into(), "bool".into(), true));
    }

    #[test]
    fn floats_stay() {
        assert_eq!(converted("tensor<bf16>").1, "bfloat16");
        assert_eq!(converted("tensor<3xf8E4M3FN>").1, "float8e4m3fn");
        assert_eq!(converted("f32"), ("f32".into(), "float32".into(), false));
    }
}
