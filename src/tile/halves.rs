//! Buffers with room for two tiles, of which one is used while the other is moved, and copies of the
//! operations that use them.

use super::pool::Pool;
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, memref},
};
use melior::ir::{Type, ValueLike, attribute::DenseI32ArrayAttribute};
use std::collections::HashMap;

/// What halves of buffers start at multiples of, in bytes, where no pool says so.
const HALF_ALIGNMENT: i64 = 64;

/// Values of a copy of some operations, by the values of the original.
pub type Map<'c> = HashMap<usize, Val<'c>>;

/// A value as a key of a [`Map`].
pub fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

/// Notes the results of a copy.
pub fn insert_results<'c>(map: &mut Map<'c>, old: Op<'c>, new: Op<'c>) {
    map.extend(ir::results(old).into_iter().map(key).zip(ir::results(new)));
}

/// A copy of an operation without regions, whose operands are looked up.
pub fn copy<'c>(b: &Builder<'c>, op: Op<'c>, map: &Map<'c>) -> Result<Op<'c>> {
    let new = b.insert_clone(op);
    for (index, operand) in ir::operands(op).into_iter().enumerate() {
        if let Some(value) = map.get(&key(operand)) {
            edit::set_operand(new, index, *value)?;
        }
    }
    Ok(new)
}

/// The value of an `arith.constant` of an integer.
pub fn index_constant(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    ir::attr_i64(op, "value")
}

/// The allocation of a tile, and the part of it that `tile` is, if that is not all: what fills up rows is
/// not moved. None for what does not start where the allocation does, or is used besides.
pub fn allocation<'c>(tile: Val<'c>) -> Option<(Op<'c>, Option<Op<'c>>)> {
    let defining = edit::defining_op(tile)?;
    let (alloc, part) = match ir::op_name(defining) {
        "memref.alloc" => (defining, None),
        "memref.subview" if starts_with_buffer(defining) && ir::users(tile).len() == 1 => {
            (edit::defining_op(*ir::operands(defining).first()?)?, Some(defining))
        }
        _ => return None,
    };
    (ir::op_name(alloc) == "memref.alloc").then_some((alloc, part))
}

fn starts_with_buffer(view: Op<'_>) -> bool {
    ir::attr_i64s(view, "static_offsets").is_some_and(|offsets| offsets.iter().all(|at| *at == 0))
}

/// The pool that a buffer is in, if it is declared.
pub fn pool_of<'p>(pools: &'p [Pool], ty: Type<'_>) -> Option<&'p Pool> {
    let space = memref::space(ty)?;
    pools.iter().find(|pool| pool.name == space)
}

/// Memory for two tiles of type `tile`.
pub fn buffer<'c>(b: &Builder<'c>, pools: &[Pool], tile: Type<'c>) -> Result<Val<'c>> {
    let element = ir::element_type(tile);
    let pool = memref::space(tile).ok_or_else(|| Error::internal("a tile is in no pool"))?;
    let elements = 2 * padded(pools, tile);
    let ty = b.parse_type(&format!("memref<{elements}x{element}, #tir.space<\"{pool}\">>"))?;
    let segments = DenseI32ArrayAttribute::new(b.context, &[0, 0]).into();
    b.op1_with("memref.alloc", &[], ty, vec![("operandSegmentSizes", segments)])
}

/// A view of one half of a buffer for tiles of type `tile`: in the shape of `part`.
pub fn view<'c>(
    b: &Builder<'c>,
    pools: &[Pool],
    (tile, part): (Type<'c>, Type<'c>),
    (buffer, half): (Val<'c>, Val<'c>),
) -> Result<Val<'c>> {
    let dims = ir::dims(part);
    let strides = memref::static_strides(part)
        .ok_or_else(|| Error::internal("a tile with unknown strides"))?;
    let text = |list: &[i64], separator: &str| {
        list.iter().map(i64::to_string).collect::<Vec<_>>().join(separator)
    };
    let ty = b.parse_type(&format!(
        "memref<{}x{}, strided<[{}], offset: ?>, #tir.space<\"{}\">>",
        text(&dims, "x"),
        ir::element_type(part),
        text(&strides, ", "),
        memref::space(part).unwrap_or_default()
    ))?;
    let offset = b.binary("arith.muli", half, b.index(padded(pools, tile))?)?;
    let attributes = vec![
        ("static_offsets", b.i64s_attr(&[ir::DYNAMIC])),
        ("static_sizes", b.i64s_attr(&dims)),
        ("static_strides", b.i64s_attr(&strides)),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &[1, 1, 0, 0]).into()),
    ];
    b.op1_with("memref.reinterpret_cast", &[buffer, offset], ty, attributes)
}

/// Elements of a half.
fn padded(pools: &[Pool], tile: Type<'_>) -> i64 {
    let alignment = pool_of(pools, tile).map_or(HALF_ALIGNMENT, |pool| pool.alignment);
    let bytes = ir::size::element_bytes(ir::element_type(tile)).map_or(1, |bytes| bytes as i64);
    let step = (alignment / bytes).max(1);
    let count: i64 = ir::dims(tile).iter().product();
    (count + step - 1) / step * step
}
