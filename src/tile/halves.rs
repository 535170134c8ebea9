//! Double buffers, with one tile in use while the other is moved, and copies of the operations that
//! use them.

use super::pool::Pool;
use crate::{
    Error, Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val, edit, memref, tir, view::OpView},
};
use melior::ir::{
    Region, Type, ValueLike, attribute::DenseI32ArrayAttribute, block::BlockLike,
    operation::OperationLike,
};
use std::collections::HashMap;

/// Alignment of halves of buffers, in bytes, where no pool sets it.
const HALF_ALIGNMENT: i64 = 64;

/// Values of a copy of some operations, by the values of the original.
pub type Map<'c> = HashMap<ir::Id, Val<'c>>;

/// Notes the results of a copy.
pub fn insert_results<'c>(map: &mut Map<'c>, old: Op<'c>, new: Op<'c>) {
    map.extend(ir::results(old).into_iter().map(ir::id).zip(ir::results(new)));
}

/// A copy of an operation without regions, whose operands are looked up.
pub fn copy<'c>(b: &Builder<'c>, op: Op<'c>, map: &Map<'c>) -> Result<Op<'c>> {
    let new = b.insert_clone(op);
    for (index, operand) in ir::operands(op).into_iter().enumerate() {
        if let Some(value) = map.get(&ir::id(operand)) {
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

/// The allocation of a tile, and the part of it that `tile` is, if that is not all: the fill of
/// rows is not moved. None for a tile that does not start where the allocation does, or has other
/// users.
fn allocation<'c>(tile: Val<'c>) -> Option<(Op<'c>, Option<Op<'c>>)> {
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

/// A transfer of a tile that begins and is waited for in one iteration of a loop, where the tile is allocated.
pub struct Transfer<'c> {
    /// The allocation of the tile.
    pub alloc: Op<'c>,
    /// The part of it that is moved, if not all.
    pub part: Option<Op<'c>>,
    /// Operation that begins the transfer.
    pub start: tir::DmaStart<'c>,
    /// Operation that waits for the transfer.
    pub wait: Op<'c>,
}

impl<'c> Transfer<'c> {
    /// The transfer that `start` begins, with the `tile` as one of its ends. All of it must be in
    /// `body` except the other end.
    pub fn of(
        start: tir::DmaStart<'c>,
        (tile, other): (Val<'c>, Val<'c>),
        body: Blk<'c>,
    ) -> Option<Self> {
        let (alloc, part) = allocation(tile)?;
        let waits = ir::users(start.token());
        let [wait] = waits[..] else { return None };
        let outside = edit::defining_op(memref::base(other)).is_none_or(|op| !is_in(op, body));
        let here = [Some(alloc), part, Some(wait)].into_iter().flatten().all(|op| is_in(op, body));
        let found = Self { alloc, part, start, wait };
        (here && outside && tir::DmaWait::of(wait).is_some()).then_some(found)
    }

    /// Memory for two of its tiles.
    pub fn buffer(&self, b: &Builder<'c>, pools: &[Pool]) -> Result<Val<'c>> {
        buffer(b, pools, ir::result0(self.alloc)?.r#type())
    }
}

/// True if an operation is directly in a block.
pub fn is_in(op: Op<'_>, body: Blk<'_>) -> bool {
    op.block().is_some_and(|block| block.to_raw().ptr == body.to_raw().ptr)
}

/// A loop over a range, with loop-carried values. `fill` makes the body from the counter and these
/// values, and returns those of the next iteration.
pub fn loop_with<'c>(
    before: &Builder<'c>,
    (first, end): (i64, i64),
    start: &[Val<'c>],
    fill: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Op<'c>> {
    let location = before.location;
    let results: Vec<_> = start.iter().map(|value| value.r#type()).collect();
    let mut types = vec![(before.index_type(), location)];
    types.extend(results.iter().map(|ty| (*ty, location)));
    let region = Region::new();
    let block = edit::append_block(&region, &types);
    let b = Builder::at_end(before.context, block, location);
    let yielded = fill(&b, &edit::arguments(block))?;
    b.create("scf.yield", OpSpec { operands: &yielded, ..Default::default() })?;
    let bounds = [before.index(first)?, before.index(end)?, before.index(1)?];
    let spec = OpSpec {
        operands: &[&bounds, start].concat(),
        results: &results,
        regions: vec![region],
        ..Default::default()
    };
    before.create("scf.for", spec)
}

/// The pool that a buffer is in, if it is declared.
pub fn pool_of<'p>(pools: &'p [Pool], ty: Type<'_>) -> Option<&'p Pool> {
    let space = memref::space(ty)?;
    pools.iter().find(|pool| pool.name == space)
}

/// Memory for two tiles of type `tile`.
fn buffer<'c>(b: &Builder<'c>, pools: &[Pool], tile: Type<'c>) -> Result<Val<'c>> {
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
