//! Elements of a `TensorProto`, whichever field they are in.

use bytes::Bytes;

use super::proto::{SparseTensorProto, TensorProto};
use crate::tensor::{
    AlignedBuffer, DType, ElementType, SmallType, Tensor, element_count, onnx_type_name, unpack,
};

/// The tensor that a `TensorProto` with its elements inside describes.
///
/// Raw data is shared, not copied, when it is aligned. The error says what is wrong, without the
/// tensor's name.
pub fn tensor_from_proto(proto: &TensorProto) -> Result<Tensor, String> {
    if proto.data_location != 0 {
        return Err("the elements are in an external file, which is not allowed here".to_string());
    }
    let (dtype, shape) = type_of(proto)?;
    if let Some(raw) = &proto.raw_data {
        return from_raw(dtype, &shape, raw.clone());
    }
    let count = element_count(dtype, &shape).map_err(|error| error.to_string())?;
    typed_elements(proto, dtype, count).and_then(|buffer| {
        Tensor::from_buffer(dtype, &shape, buffer).map_err(|error| error.to_string())
    })
}

/// Contents of a constant of the graph: a tensor, or a byte for each element of a small type.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The elements; bytes if they are of a small type.
    pub tensor: Tensor,
    /// The type of elements that tensors do not have.
    pub small: Option<SmallType>,
}

impl From<Tensor> for Constant {
    fn from(tensor: Tensor) -> Self {
        Self { tensor, small: None }
    }
}

impl Constant {
    /// The constant that a `TensorProto` with its elements inside describes.
    pub fn from_proto(proto: &TensorProto) -> Result<Self, String> {
        let (element, shape) = element_of(proto)?;
        let ElementType::Small(small) = element else {
            return tensor_from_proto(proto).map(Self::from);
        };
        let wanted = packed_bytes(element, &shape)?;
        match &proto.raw_data {
            Some(raw) if raw.len() != wanted => Err(format!(
                "{element} tensor of shape {shape:?} needs {wanted} bytes, but {} are given",
                raw.len()
            )),
            Some(raw) => Self::from_packed(small, &shape, raw),
            None => {
                let bytes = fill("int32_data", &proto.int32_data, wanted, |v| [v as u8])?;
                Self::from_packed(small, &shape, bytes.as_ref())
            }
        }
    }

    /// Elements of a small type from their bytes, several in each as far as they fit.
    pub fn from_packed(small: SmallType, shape: &[usize], bytes: &[u8]) -> Result<Self, String> {
        let count = element_count(DType::U8, shape).map_err(|error| error.to_string())?;
        let elements = Bytes::from(unpack(bytes, small.bits(), count));
        let tensor = Tensor::from_bytes(DType::U8, shape, elements);
        let tensor = tensor.map_err(|error| error.to_string())?;
        Ok(Self { tensor, small: Some(small) })
    }
}

/// Bytes of a tensor in a file.
pub fn packed_bytes(element: ElementType, shape: &[usize]) -> Result<usize, String> {
    let dtype = element.plain().unwrap_or(DType::U8);
    let count = element_count(dtype, shape).map_err(|error| error.to_string())?;
    element.bytes_of(count).ok_or_else(|| format!("tensor of shape {shape:?} is too large"))
}

/// A tensor over little-endian bytes from a file.
pub fn from_raw(dtype: DType, shape: &[usize], raw: Bytes) -> Result<Tensor, String> {
    let raw = if cfg!(target_endian = "little") || dtype.size() == 1 {
        raw
    } else {
        let mut bytes = raw.to_vec();
        bytes.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
        bytes.into()
    };
    Tensor::from_bytes(dtype, shape, raw).map_err(|error| error.to_string())
}

/// Element type and shape that a `TensorProto` declares.
pub fn type_of(proto: &TensorProto) -> Result<(DType, Vec<usize>), String> {
    let dtype = DType::from_onnx_code(proto.data_type).ok_or_else(|| {
        format!("element type {} is not supported", onnx_type_name(proto.data_type))
    })?;
    Ok((dtype, dims_to_shape(&proto.dims)?))
}

/// Element type, small or not, and shape that a `TensorProto` declares.
pub fn element_of(proto: &TensorProto) -> Result<(ElementType, Vec<usize>), String> {
    match SmallType::from_onnx_code(proto.data_type) {
        Some(small) => Ok((ElementType::Small(small), dims_to_shape(&proto.dims)?)),
        None => type_of(proto).map(|(dtype, shape)| (ElementType::Plain(dtype), shape)),
    }
}

fn dims_to_shape(dims: &[i64]) -> Result<Vec<usize>, String> {
    dims.iter()
        .map(|&dim| usize::try_from(dim).map_err(|_| format!("dimension {dim} is negative")))
        .collect()
}

fn typed_elements(
    proto: &TensorProto,
    dtype: DType,
    count: usize,
) -> Result<AlignedBuffer, String> {
    match dtype {
        DType::F32 => fill("float_data", &proto.float_data, count, |v| v.to_ne_bytes()),
        DType::F64 => fill("double_data", &proto.double_data, count, |v| v.to_ne_bytes()),
        DType::I64 => fill("int64_data", &proto.int64_data, count, |v| v.to_ne_bytes()),
        DType::U64 => fill("uint64_data", &proto.uint64_data, count, |v| v.to_ne_bytes()),
        DType::U32 => fill("uint64_data", &proto.uint64_data, count, |v| (v as u32).to_ne_bytes()),
        DType::I32 => fill("int32_data", &proto.int32_data, count, |v| v.to_ne_bytes()),
        DType::Bool | DType::I8 | DType::U8 => {
            fill("int32_data", &proto.int32_data, count, |v| [v as u8])
        }
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => {
            fill("int32_data", &proto.int32_data, count, |v| (v as u16).to_ne_bytes())
        }
    }
}

/// Converts each value of a data field to the bytes of an element.
fn fill<T: Copy, const N: usize>(
    field: &str,
    values: &[T],
    count: usize,
    bytes_of: impl Fn(T) -> [u8; N],
) -> Result<AlignedBuffer, String> {
    // Checked before allocating: the dimensions may claim anything.
    if values.len() != count {
        return Err(format!("the shape needs {count} elements, but {field} has {}", values.len()));
    }
    let mut buffer = AlignedBuffer::zeroed(count * N).map_err(|error| error.to_string())?;
    for (slot, &value) in buffer.as_mut_slice().chunks_exact_mut(N).zip(values) {
        slot.copy_from_slice(&bytes_of(value));
    }
    Ok(buffer)
}

/// Bytes of a dense tensor that any sparse one may stand for.
const DENSE_BYTES: usize = 1 << 26;

/// Bytes that a larger one may stand for, per byte of its values. A few indices can claim any
/// size, and zeros without end take time and memory in every step of a compile.
const DENSE_FACTOR: usize = 64;

/// The dense tensor that a sparse one stands for.
pub fn dense_from_sparse(proto: &SparseTensorProto) -> Result<Tensor, String> {
    let values = proto.values.as_ref().ok_or("sparse tensor without values")?;
    let values = tensor_from_proto(values)?;
    let indices = proto.indices.as_ref().ok_or("sparse tensor without indices")?;
    let indices = tensor_from_proto(indices)?;
    let shape = dims_to_shape(&proto.dims)?;
    let size = values.dtype().size();
    let count = element_count(values.dtype(), &shape).map_err(|error| error.to_string())?;
    let most = DENSE_BYTES.max(values.bytes().len().saturating_mul(DENSE_FACTOR));
    if count.saturating_mul(size) > most {
        return Err(format!(
            "sparse tensor of shape {shape:?} with {} values is too large to be made dense: it takes \
             {} bytes, and at most {most} are supported; store it as a dense initializer",
            values.len(),
            count.saturating_mul(size)
        ));
    }
    let mut buffer = AlignedBuffer::zeroed(count * size).map_err(|error| error.to_string())?;
    let places = linear_indices(&indices, values.len(), &shape)?;
    for (&place, value) in places.iter().zip(values.bytes().chunks_exact(size)) {
        if place >= count {
            return Err(format!("sparse index {place} is outside of the shape {shape:?}"));
        }
        buffer.as_mut_slice()[place * size..(place + 1) * size].copy_from_slice(value);
    }
    Tensor::from_buffer(values.dtype(), &shape, buffer).map_err(|error| error.to_string())
}

/// Positions in row-major order; `indices` holds them, or one row of coordinates for each.
fn linear_indices(indices: &Tensor, count: usize, shape: &[usize]) -> Result<Vec<usize>, String> {
    let outside = || format!("sparse indices are outside of the shape {shape:?}");
    let numbers = indices.as_slice::<i64>().ok_or("sparse indices must be INT64")?;
    let numbers: Vec<usize> = numbers
        .iter()
        .map(|&number| usize::try_from(number).map_err(|_| outside()))
        .collect::<Result<_, _>>()?;
    if *indices.shape() == [count] {
        return Ok(numbers);
    }
    if *indices.shape() != [count, shape.len()] || shape.is_empty() {
        return Err(format!(
            "sparse indices have shape {:?}, expected [{count}] or [{count}, {}]",
            indices.shape(),
            shape.len()
        ));
    }
    numbers
        .chunks_exact(shape.len())
        .map(|row| {
            row.iter().zip(shape).try_fold(0usize, |sum, (&index, &dim)| {
                if index >= dim {
                    return Err(outside());
                }
                sum.checked_mul(dim).and_then(|sum| sum.checked_add(index)).ok_or_else(outside)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    fn proto(dtype: DType, dims: &[i64]) -> TensorProto {
        TensorProto { data_type: dtype.onnx_code(), dims: dims.to_vec(), ..Default::default() }
    }

    #[test]
    fn all_storage_forms() {
        let mut p = proto(DType::F32, &[2]);
        p.float_data = vec![1.5, -2.0];
        assert_eq!(tensor_from_proto(&p).unwrap().to_f64(), [1.5, -2.0]);
        for (dtype, data, want) in [
            (DType::Bool, [1, 0], [1.0, 0.0]),
            (DType::I8, [-1, 5], [-1.0, 5.0]),
            (DType::U8, [255, 5], [255.0, 5.0]),
            (DType::I16, [-300, 5], [-300.0, 5.0]),
            (DType::U16, [65535, 5], [65535.0, 5.0]),
            (DType::I32, [-70000, 5], [-70000.0, 5.0]),
            (DType::F16, [i32::from(f16::from_f32(0.5).to_bits()), 0], [0.5, 0.0]),
            (DType::BF16, [0x3fc0, 0x8000], [1.5, 0.0]),
        ] {
            let mut p = proto(dtype, &[2]);
            p.int32_data = data.to_vec();
            assert_eq!(tensor_from_proto(&p).unwrap().to_f64(), want, "{dtype}");
        }
        let mut p = proto(DType::I64, &[1]);
        p.int64_data = vec![i64::MIN];
        assert_eq!(tensor_from_proto(&p).unwrap().to_i64().unwrap(), [i64::MIN]);
        let mut p = proto(DType::F64, &[1]);
        p.double_data = vec![1e300];
        assert_eq!(tensor_from_proto(&p).unwrap().to_f64(), [1e300]);
        for dtype in [DType::U32, DType::U64] {
            let mut p = proto(dtype, &[1]);
            p.uint64_data = vec![u64::from(u32::MAX)];
            assert_eq!(tensor_from_proto(&p).unwrap().to_f64(), [f64::from(u32::MAX)]);
        }
        let mut p = proto(DType::I16, &[1, 2]);
        p.raw_data = Some(Bytes::from_static(&[1, 0, 255, 255]));
        let tensor = tensor_from_proto(&p).unwrap();
        assert_eq!((tensor.shape(), tensor.to_f64()), (&[1, 2][..], vec![1.0, -1.0]));
    }

    #[test]
    fn small_types_are_unpacked() {
        let of = |code: i32, dims: &[i64], raw: &'static [u8]| {
            let raw_data = Some(Bytes::from_static(raw));
            let p = TensorProto {
                data_type: code,
                dims: dims.to_vec(),
                raw_data,
                ..Default::default()
            };
            Constant::from_proto(&p).map(|constant| constant.tensor.bytes().to_vec())
        };
        assert_eq!(of(22, &[3], &[0xf1, 0x07]), Ok(vec![1, 15, 7]));
        assert_eq!(of(21, &[2, 2], &[0x98, 0xab]), Ok(vec![8, 9, 11, 10]));
        assert_eq!(of(25, &[5], &[0b1110_0100, 1]), Ok(vec![0, 1, 2, 3, 1]));
        assert_eq!(of(17, &[2], &[0x38, 0xff]), Ok(vec![0x38, 0xff]));
        assert_eq!(of(22, &[0], &[]), Ok(vec![]));
        assert!(of(22, &[3], &[1]).unwrap_err().contains("needs 2 bytes, but 1 are given"));
        let mut p = TensorProto { data_type: 22, dims: vec![3], ..Default::default() };
        p.int32_data = vec![0x21, 0x0f];
        let constant = Constant::from_proto(&p).unwrap();
        assert_eq!(constant.small.map(SmallType::mlir_name), Some("i4"));
        assert_eq!(constant.tensor.bytes()[..], [1, 2, 15]);
        p.dims = vec![i64::MAX];
        assert!(Constant::from_proto(&p).is_err());
    }

    #[test]
    fn contradictions_are_errors() {
        let mut p = proto(DType::F32, &[3]);
        p.float_data = vec![1.0];
        assert!(tensor_from_proto(&p).unwrap_err().contains("float_data has 1"));
        p.dims = vec![i64::MAX, i64::MAX];
        assert!(tensor_from_proto(&p).unwrap_err().contains("too large"));
        p.dims = vec![1 << 40];
        assert!(tensor_from_proto(&p).unwrap_err().contains("float_data has 1"));
        p.dims = vec![-1];
        assert!(tensor_from_proto(&p).unwrap_err().contains("negative"));
        p.data_type = 8;
        assert!(tensor_from_proto(&p).unwrap_err().contains("STRING"));
    }

    #[test]
    fn sparse_tensors_become_dense() {
        let mut values = proto(DType::F32, &[2]);
        values.float_data = vec![5.0, 6.0];
        let mut indices = proto(DType::I64, &[2]);
        indices.int64_data = vec![1, 5];
        let linear = SparseTensorProto {
            values: Some(values.clone()),
            indices: Some(indices.clone()),
            dims: vec![2, 3],
        };
        let dense = dense_from_sparse(&linear).unwrap();
        assert_eq!(dense.to_f64(), [0.0, 5.0, 0.0, 0.0, 0.0, 6.0]);
        indices.dims = vec![2, 2];
        indices.int64_data = vec![0, 1, 1, 2];
        let rows = SparseTensorProto { indices: Some(indices.clone()), ..linear.clone() };
        assert_eq!(dense_from_sparse(&rows).unwrap(), dense);
        indices.int64_data = vec![0, 1, 1, 3];
        let outside = SparseTensorProto { indices: Some(indices), ..linear.clone() };
        assert!(dense_from_sparse(&outside).unwrap_err().contains("outside"));
        let huge = SparseTensorProto { dims: vec![1 << 40], ..linear };
        assert!(dense_from_sparse(&huge).unwrap_err().contains("too large"));
    }
}
