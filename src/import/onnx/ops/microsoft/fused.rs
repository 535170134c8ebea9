//! Operators of the domain `com.microsoft` that onnxruntime's optimizer makes of transformers.
//!
//! Each becomes the standard operations that it stands for, which fuse again.

use crate::ir::Val;
use crate::tensor::{DType, Tensor};

use super::super::super::context::NodeContext;
use super::super::super::emit::{OpError, OpResult};
use super::super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("BiasGelu", 1, 2..=2, bias_gelu),
    OpEntry::with("DynamicQuantizeMatMul", 1, 3..=5, dynamic_quantize_matmul),
    OpEntry::with("FastGelu", 1, 1..=2, fast_gelu),
    OpEntry::with("FusedMatMul", 1, 2..=2, fused_matmul),
    OpEntry::with("Gelu", 1, 1..=1, |node| gelu(node, node.input(0, "X")?, "none")),
    OpEntry::with("MatMulIntegerToFloat", 1, 4..=7, matmul_integer_to_float),
    OpEntry::with("MatMulNBits", 1, 3..=6, matmul_n_bits),
    OpEntry::with("QuickGelu", 1, 1..=1, quick_gelu),
    OpEntry::with("SkipLayerNormalization", 1, 3..=5, skip_layer_norm),
    OpEntry::with("SkipSimplifiedLayerNormalization", 1, 3..=4, skip_rms_norm),
];

pub(super) fn gelu<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    how: &'static str,
) -> OpResult<Vec<Val<'c>>> {
    node.emitter.op("gelu", &[x], &[("approximate", how.into())])
}

fn bias_gelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.binary("add", node.input(0, "A")?, node.input(1, "B")?)?;
    gelu(node, x, "none")
}

fn fast_gelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let x = match node.optional(1) {
        Some(bias) => node.binary("add", x, bias)?,
        None => x,
    };
    gelu(node, x, "tanh")
}

/// `x * sigmoid(alpha * x)`.
fn quick_gelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let alpha = node.attributes.float_or("alpha", 1.702)?;
    node.emitter.op("swish", &[node.input(0, "X")?], &[("alpha", alpha.into())])
}

/// The product of matrices that may be transposed, times a factor.
fn fused_matmul<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    for name in ["transBatchA", "transBatchB"] {
        if node.attributes.int_or(name, 0)? != 0 {
            return Err(OpError::Unsupported(format!("{name} = 1 is not supported")));
        }
    }
    let operand = |index, name, transposed| {
        let x = node.input(index, name)?;
        if node.attributes.int_or(transposed, 0)? == 0 { Ok(x) } else { transposed_matrix(node, x) }
    };
    let (a, b) = (operand(0, "A", "transA")?, operand(1, "B", "transB")?);
    let alpha = node.attributes.float_or("alpha", 1.0)?;
    let y = node.binary("matmul", a, b)?;
    Ok(vec![if alpha == 1.0 { y } else { node.binary_with("mul", y, f64::from(alpha))? }])
}

/// `x` with its last two dimensions exchanged.
fn transposed_matrix<'c>(node: &NodeContext<'_, 'c>, x: Val<'c>) -> OpResult<Val<'c>> {
    let rank = node.rank(x);
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    if rank >= 2 {
        perm.swap(rank - 2, rank - 1);
    }
    node.transpose(x, &perm)
}

/// The sum of two or three inputs, and its norm. Of the four outputs the second and third, statistics for training,
/// are refused.
fn skip_norm<'c>(
    node: &NodeContext<'_, 'c>,
    op: &str,
    (parameters, bias): (&[usize], usize),
    epsilon: f32,
) -> OpResult<Vec<Val<'c>>> {
    if node.wants(1) || node.wants(2) {
        let reason = "mean and inverse deviation as outputs are not supported";
        return Err(OpError::Unsupported(reason.to_owned()));
    }
    let mut sum = node.binary("add", node.input(0, "input")?, node.input(1, "skip")?)?;
    if let Some(bias) = node.optional(bias) {
        sum = node.binary("add", sum, bias)?;
    }
    let mut operands = vec![sum, node.input(2, "gamma")?];
    operands.extend(parameters.iter().filter_map(|index| node.optional(*index)));
    let epsilon = node.attributes.float_or("epsilon", epsilon)?;
    let y = node.op(op, &operands, &[("axis", (-1i64).into()), ("epsilon", epsilon.into())])?;
    // The outputs in between are read by nothing.
    Ok(vec![y, y, y, sum])
}

fn skip_layer_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    skip_norm(node, "layer_norm", (&[3], 4), 1e-12)
}

fn skip_rms_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    skip_norm(node, "rms_norm", (&[], 3), 1e-5)
}

/// Integers with scale and zero point, which may be a list for the columns, as real numbers.
pub(super) fn reals<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    scale: Val<'c>,
    zero: Option<Val<'c>>,
) -> OpResult<Val<'c>> {
    let single = |value: Val<'c>| match node.dims(value)[..] {
        [1] => node.reshape(value, &[]),
        _ => Ok(value),
    };
    let mut operands = vec![x, single(scale)?];
    if let Some(zero) = zero {
        operands.push(single(zero)?);
    }
    let axis = node.rank(x).max(1) as i64 - 1;
    node.op("dequantize_linear", &operands, &[("axis", axis.into())])
}

fn with_bias<'c>(node: &NodeContext<'_, 'c>, y: Val<'c>, bias: usize) -> OpResult<Vec<Val<'c>>> {
    Ok(vec![match node.optional(bias) {
        Some(bias) => node.binary("add", y, bias)?,
        None => y,
    }])
}

fn matmul_integer_to_float<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let a = reals(node, node.input(0, "A")?, node.input(2, "a_scale")?, node.optional(4))?;
    let b = reals(node, node.input(1, "B")?, node.input(3, "b_scale")?, node.optional(5))?;
    with_bias(node, node.binary("matmul", a, b)?, 6)
}

fn dynamic_quantize_matmul<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let quantized = node.emitter.op("dynamic_quantize_linear", &[node.input(0, "A")?], &[])?;
    let [x, scale, zero] = quantized[..] else {
        return Err("a quantization without scale and zero point".into());
    };
    let b = reals(node, node.input(1, "B")?, node.input(2, "b_scale")?, node.optional(3))?;
    let a = reals(node, x, scale, Some(zero))?;
    with_bias(node, node.binary("matmul", a, b)?, 4)
}

/// Weights of a few bits: for each column, blocks of the reduction with a scale and a zero point each.
/// `B` is `[N][blocks][bytes of a block]`, the first element in the low bits. With `g_idx` each row has
/// the scale and the zero point of a block that it names.
fn matmul_n_bits<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let number = |name: &str, default: i64| node.attributes.int_or(name, default);
    let (k, n) = (number("K", 0)?, number("N", 0)?);
    let (bits, block) = (number("bits", 4)?, number("block_size", 0)?);
    // The least accuracy of the product, which is exact in f32.
    node.attributes.ignore("accuracy_level");
    node.attributes.ignore("weight_prepacked");
    if ![2, 4, 8].contains(&bits) {
        return Err(OpError::Unsupported(format!("weights of {bits} bits are not supported")));
    }
    // With larger sizes, numbers of elements would overflow.
    let known = |size: i64, most: i64| (1..=most).contains(&size);
    if !known(k, 1 << 30) || !known(n, 1 << 30) || !known(block, 1 << 24) || block * bits % 8 != 0 {
        return Err(format!("K = {k}, N = {n} and block_size = {block} do not go together").into());
    }
    let blocks = (k + block - 1) / block;
    let values = unpacked(node, (1, "B"), bits, n * blocks, block)?;
    let values = transposed(&values, n, blocks * block, k);
    let scales = node.known(2, "scales")?.ok_or("the input scales is missing")?;
    if scales.len() as i64 != n * blocks {
        return Err(format!(
            "the input scales has {} elements, expected {}",
            scales.len(),
            n * blocks
        )
        .into());
    }
    let zero = match node.optional(3) {
        Some(zero) if node.dtype(zero)? != DType::U8 => {
            let reason = "zero points that are no integers are not supported";
            return Err(OpError::Unsupported(reason.to_owned()));
        }
        // Each column begins with a byte of its own.
        Some(_) => unpacked(node, (3, "zero_points"), bits, n, blocks)?,
        None => vec![1u8 << (bits - 1); (n * blocks) as usize],
    };
    let weights = BlockWeights {
        values,
        scale: transposed(&scales.to_f64(), n, blocks, blocks),
        zero: transposed(&zero, n, blocks, blocks),
        dtype: scales.dtype(),
        shape: [k, n],
        block,
    };
    let x = node.input(0, "A")?;
    let (x, w) = match groups(node, k, blocks)? {
        Some(groups) => weights.grouped(node, x, &groups)?,
        None => (x, weights.dequantized(node)?),
    };
    with_bias(node, node.binary("matmul", x, node.cast_like(w, x)?)?, 5)
}

/// The block that each row of the weights names; none if that is its own.
fn groups(node: &NodeContext<'_, '_>, k: i64, blocks: i64) -> OpResult<Option<Vec<usize>>> {
    let Some(names) = node.known_ints(4, "g_idx")? else { return Ok(None) };
    if (names.len() as i64) < k {
        return Err(format!("the input g_idx has {} elements, expected {k}", names.len()).into());
    }
    let names = names[..k as usize].iter().map(|name| {
        usize::try_from(*name)
            .ok()
            .filter(|name| (*name as i64) < blocks)
            .ok_or_else(|| format!("the input g_idx names block {name} of {blocks}"))
    });
    Ok(Some(names.collect::<Result<_, _>>()?))
}

/// Weights `[K, N]` and what each block of rows is multiplied with, all row by row.
struct BlockWeights {
    values: Vec<u8>,
    scale: Vec<f64>,
    zero: Vec<u8>,
    dtype: DType,
    shape: [i64; 2],
    block: i64,
}

impl BlockWeights {
    fn dequantized<'c>(&self, node: &NodeContext<'_, 'c>) -> OpResult<Val<'c>> {
        let [k, n] = self.shape.map(|dim| dim as usize);
        let shape = [k.div_ceil(self.block as usize), n];
        let w = node.constant(&Tensor::from_slice(&[k, n], &self.values)?)?;
        let scale = node.constant_of(self.dtype, &shape, &self.scale)?;
        let zero = node.constant(&Tensor::from_slice(&shape, &self.zero)?)?;
        let attributes = [("axis", 0i64.into()), ("block_size", self.block.into())];
        node.op("dequantize_linear", &[w, scale, zero], &attributes)
    }

    /// Operands of a product whose rows name their blocks. Rows of one block are put next to each other,
    /// and so are the columns of `x`; where blocks are not of one size then, weights become real.
    fn grouped<'c>(
        mut self,
        node: &NodeContext<'_, 'c>,
        x: Val<'c>,
        groups: &[usize],
    ) -> OpResult<(Val<'c>, Val<'c>)> {
        let (n, block) = (self.shape[1] as usize, self.block as usize);
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|row| groups[*row]);
        let even = order.iter().enumerate().all(|(place, row)| groups[*row] == place / block);
        if !even {
            let real = |(row, group): (usize, &usize)| {
                let (row, group) = (row * n, group * n);
                let (values, zero) = (&self.values[row..row + n], &self.zero[group..group + n]);
                let numbers = values.iter().zip(zero).zip(&self.scale[group..group + n]);
                numbers.map(|((q, z), s)| (f64::from(*q) - f64::from(*z)) * s).collect::<Vec<_>>()
            };
            let real: Vec<f64> = groups.iter().enumerate().flat_map(real).collect();
            let shape = self.shape.map(|dim| dim as usize);
            return Ok((x, node.constant_of(DType::F32, &shape, &real)?));
        }
        if order.is_sorted() {
            return Ok((x, self.dequantized(node)?));
        }
        self.values =
            order.iter().flat_map(|row| &self.values[row * n..(row + 1) * n]).copied().collect();
        let order: Vec<i64> = order.into_iter().map(|row| row as i64).collect();
        let x = node.op("gather", &[x, node.i64s(&order)?], &[("axis", (-1i64).into())])?;
        Ok((x, self.dequantized(node)?))
    }
}

/// The first `kept` columns of a matrix, as rows.
fn transposed<T: Copy>(values: &[T], rows: i64, columns: i64, kept: i64) -> Vec<T> {
    let at = |column, row| values[(row * columns + column) as usize];
    (0..kept).flat_map(|column| (0..rows).map(move |row| at(column, row))).collect()
}

/// The numbers of a packed input that must be known: `rows` times `columns`, where each row begins with a byte.
pub(super) fn unpacked(
    node: &NodeContext<'_, '_>,
    (index, name): (usize, &str),
    bits: i64,
    rows: i64,
    columns: i64,
) -> OpResult<Vec<u8>> {
    let packed = node.known(index, name)?.ok_or_else(|| format!("the input {name} is missing"))?;
    let bytes = packed.as_slice::<u8>().ok_or_else(|| format!("the input {name} is not uint8"))?;
    let (per_byte, mask) = (8 / bits, ((1u16 << bits) - 1) as u8);
    let stride = (columns + per_byte - 1) / per_byte;
    if Some(bytes.len() as i64) != rows.checked_mul(stride) {
        let expected = format!("{rows} x {stride}");
        return Err(
            format!("the input {name} has {} bytes, expected {expected}", bytes.len()).into()
        );
    }
    let row = |row: &[u8]| -> Vec<u8> {
        let numbers =
            row.iter().flat_map(|byte| (0..per_byte).map(move |at| (byte >> (at * bits)) & mask));
        numbers.take(columns as usize).collect()
    };
    Ok(bytes.chunks(stride as usize).flat_map(row).collect())
}
