//! Tensors as attributes of the IR, and back.

use melior::Context;
use melior::ir::{
    Attribute, AttributeLike, Type, attribute::DenseElementsAttribute, r#type::RankedTensorType,
};

use crate::{
    ir,
    tensor::{AlignedBuffer, DType, SmallType, Tensor, TensorError},
};

/// Constants with more elements than this are blobs, which are neither copied nor uniqued.
const MAX_DENSE_ELEMENTS: usize = 64;

/// A scalar type from its MLIR name.
pub(crate) fn scalar_type<'c>(context: &'c Context, name: &str) -> Option<Type<'c>> {
    Type::parse(context, name)
}

/// The type of a tensor in the IR.
pub(crate) fn tensor_type<'c>(context: &'c Context, tensor: &Tensor) -> Option<Type<'c>> {
    let element = scalar_type(context, tensor.dtype().mlir_name())?;
    let dims: Vec<u64> = tensor.shape().iter().map(|&dim| dim as u64).collect();
    Some(RankedTensorType::new(&dims, element, None).into())
}

/// The element type of a tensor type, if tensors in memory can have it.
pub(crate) fn dtype_of(ty: Type<'_>) -> Option<DType> {
    DType::from_name(&ir::element_type(ty).to_string())
}

/// A constant of any element type as an elements attribute.
#[cfg(feature = "onnx")]
pub(crate) fn constant_attribute<'c>(
    context: &'c Context,
    constant: &crate::io::onnx_tensor::Constant,
    name: &str,
) -> Option<Attribute<'c>> {
    match constant.small {
        None => elements_attribute(context, &constant.tensor, name),
        Some(small) => small_attribute(context, small, &constant.tensor, name),
    }
}

/// Elements of a small type, a byte each, as an elements attribute.
pub(crate) fn small_attribute<'c>(
    context: &'c Context,
    small: SmallType,
    tensor: &Tensor,
    name: &str,
) -> Option<Attribute<'c>> {
    let dims: Vec<u64> = tensor.shape().iter().map(|&dim| dim as u64).collect();
    let element = scalar_type(context, small.mlir_name())?;
    attribute_of(tensor, RankedTensorType::new(&dims, element, None).into(), name)
}

/// `tensor` as an elements attribute: `dense` when it is small or has one value only, else a blob
/// that shares its memory and is called `name`.
pub(crate) fn elements_attribute<'c>(
    context: &'c Context,
    tensor: &Tensor,
    name: &str,
) -> Option<Attribute<'c>> {
    attribute_of(tensor, tensor_type(context, tensor)?, name)
}

fn attribute_of<'c>(tensor: &Tensor, ty: Type<'c>, name: &str) -> Option<Attribute<'c>> {
    let size = tensor.dtype().size();
    let bytes = tensor.bytes();
    let is_splat = tensor.len() > 1 && bytes.chunks_exact(size).all(|e| *e == bytes[..size]);
    let attribute = if tensor.dtype() == DType::Bool {
        // MLIR packs these into bits, so they have an entry of their own.
        let ints: Vec<i32> = bytes.iter().map(|&byte| i32::from(byte)).collect();
        DenseElementsAttribute::bool_values(ty, &ints).into()
    } else if is_splat {
        ir::attribute::dense(ty, &bytes[..size]).ok()?
    } else if tensor.len() <= MAX_DENSE_ELEMENTS {
        ir::attribute::dense(ty, bytes).ok()?
    } else {
        ir::elements::resource(ty, name, bytes.clone(), size).ok()?
    };
    Some(attribute)
}

/// Larger constants are not read back: no shape depends on them, and a splat may stand for any
/// number of elements.
const MAX_READ_ELEMENTS: i64 = 1 << 16;

/// The tensor that a `dense` attribute holds. `None` for other attributes, for large ones, and for
/// element types that tensors in memory cannot have.
pub(crate) fn tensor_of_dense(attribute: Attribute<'_>) -> Option<Tensor> {
    let ty = attribute.is_dense_elements().then(|| attribute.r#type())?;
    let dtype = dtype_of(ty)?;
    let dims = ir::static_dims(ty)?;
    let count = dims.iter().try_fold(1_i64, |count, dim| count.checked_mul(*dim))?;
    if count > MAX_READ_ELEMENTS {
        return None;
    }
    let shape: Vec<usize> = dims.iter().map(|&dim| dim as usize).collect();
    let bytes = ir::elements::bytes(attribute).ok()?;
    Tensor::from_buffer(dtype, &shape, AlignedBuffer::copy_of(&bytes).ok()?).ok()
}

/// A tensor of rank 0 with `value` converted to `dtype`; integers are truncated.
pub(crate) fn scalar_tensor(dtype: DType, value: f64) -> Result<Tensor, TensorError> {
    filled_tensor(dtype, &[], value)
}

/// A tensor with `value` everywhere.
pub(crate) fn filled_tensor(
    dtype: DType,
    shape: &[usize],
    value: f64,
) -> Result<Tensor, TensorError> {
    let count = crate::tensor::element_count(dtype, shape)?;
    tensor_from_f64(dtype, shape, &vec![value; count])
}

/// A tensor with `values` converted to `dtype`; integers are truncated and saturate.
pub(crate) fn tensor_from_f64(
    dtype: DType,
    shape: &[usize],
    values: &[f64],
) -> Result<Tensor, TensorError> {
    macro_rules! convert {
        ($ty:ty) => {
            Tensor::from_slice(shape, &values.iter().map(|v| *v as $ty).collect::<Vec<_>>())
        };
    }
    match dtype {
        DType::Bool => {
            Tensor::from_slice(shape, &values.iter().map(|v| *v != 0.0).collect::<Vec<_>>())
        }
        DType::I8 => convert!(i8),
        DType::I16 => convert!(i16),
        DType::I32 => convert!(i32),
        DType::I64 => convert!(i64),
        DType::U8 => convert!(u8),
        DType::U16 => convert!(u16),
        DType::U32 => convert!(u32),
        DType::U64 => convert!(u64),
        DType::F32 => convert!(f32),
        DType::F64 => convert!(f64),
        DType::F16 => {
            let halves: Vec<_> = values.iter().map(|v| half::f16::from_f64(*v)).collect();
            Tensor::from_slice(shape, &halves)
        }
        DType::BF16 => {
            let halves: Vec<_> = values.iter().map(|v| half::bf16::from_f64(*v)).collect();
            Tensor::from_slice(shape, &halves)
        }
    }
}
