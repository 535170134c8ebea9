//! `shrink-buffers`: loops that hand a buffer on become one loop, and the buffer what one iteration needs.
//!
//! A layer in integers has its sums in a buffer of four times the bytes of its result: one nest of loops
//! sets their start, one adds up, one rounds. Where the outer loops of all of them go over the
//! same elements of the buffer, they are fused, and the buffer keeps only the elements of one iteration
//! (array contraction). Every element is computed from the same numbers in the same order.

use crate::{
    Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val, attribute, edit, memref, size},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, block::BlockLike, operation::OperationLike, r#type::MemRefType};

/// The pass.
pub const PASS: Pass = Pass {
    name: "shrink-buffers",
    summary: "Fuse loops that hand a buffer on, and shrink it to what one iteration needs",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "memref", "scf"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let is_alloc = |op: &Op<'c>| ir::op_name(*op) == "memref.alloc";
    let allocs: Vec<_> = ir::ops(block).into_iter().filter(is_alloc).collect();
    for op in allocs {
        let Some(buffer) = Buffer::of(op) else { continue };
        let depth = buffer.fuse(block)?;
        if depth > 0 {
            buffer.shrink(depth)?;
        }
    }
    Ok(())
}

/// A buffer that only loops use, by loads and stores.
struct Buffer<'c> {
    alloc: Op<'c>,
    value: Val<'c>,
    accesses: Vec<Access<'c>>,
    /// Its views, those of views behind them.
    views: Vec<Op<'c>>,
}

/// A load or store.
struct Access<'c> {
    op: Op<'c>,
    /// Size of each dimension that has more than one element, and the operand that is its index.
    dims: Vec<(i64, usize)>,
}

impl<'c> Access<'c> {
    /// Sizes and indices from dimension `from` on.
    fn dims(&self, from: usize) -> Vec<(i64, Val<'c>)> {
        let operands = ir::operands(self.op);
        self.dims[from..].iter().map(|(size, at)| (*size, operands[*at])).collect()
    }
}

impl<'c> Buffer<'c> {
    fn of(alloc: Op<'c>) -> Option<Self> {
        let value = ir::result0(alloc).ok()?;
        let mut buffer = Self { alloc, value, accesses: vec![], views: vec![] };
        buffer.visit(value)?;
        Some(buffer)
    }

    /// Collects the uses of the buffer or a view; none if one is no load, store or view of the whole.
    fn visit(&mut self, value: Val<'c>) -> Option<()> {
        let sizes = ir::static_dims(value.r#type())?;
        memref::static_strides(value.r#type()).filter(|s| *s == memref::row_major(&sizes))?;
        for user in ir::users(value) {
            let at = match ir::op_name(user) {
                "memref.load" => 0,
                "memref.store" => 1,
                "memref.expand_shape" | "memref.collapse_shape" => {
                    self.views.push(user);
                    self.visit(ir::result0(user).ok()?)?;
                    continue;
                }
                _ => return None,
            };
            let dims = sizes.iter().copied().zip(at + 1..).filter(|(size, _)| *size != 1);
            self.accesses.push(Access { op: user, dims: dims.collect() });
        }
        Some(())
    }

    /// Fuses loops from the outside inwards, and says how many dimensions they go over.
    fn fuse(&self, mut block: Blk<'c>) -> Result<usize> {
        for depth in 0.. {
            let Some(loops) = self.loops(block, depth) else { return Ok(depth) };
            let (Some((last, others)), true) =
                (loops.split_last(), self.may_fuse(block, &loops, depth))
            else {
                return Ok(depth);
            };
            let missing = || crate::Error::internal("a loop without a body");
            let body = edit::entry_block(*last).ok_or_else(missing)?;
            let start = ir::ops(body).first().copied().ok_or_else(missing)?;
            others.iter().try_for_each(|other| join(*other, body, start))?;
            block = body;
        }
        Ok(0)
    }

    /// The operations of a block that have the accesses in them, if all are loops over dimension `depth`
    /// and each iteration keeps to its own elements. The innermost dimension stays whole.
    fn loops(&self, block: Blk<'c>, depth: usize) -> Option<Vec<Op<'c>>> {
        let mut found: Vec<Op<'c>> = vec![];
        let mut count = None;
        for access in &self.accesses {
            let top = ancestor(access.op, block)?;
            if access.dims.len() < depth + 2 {
                return None;
            }
            let (size, index) = access.dims(depth)[0];
            let same = size == *count.get_or_insert(size);
            if !same || counter(top, size)? != index {
                return None;
            }
            if !found.iter().any(|op| edit::same(*op, top)) {
                found.push(top);
            }
        }
        let place = |op: &Op<'c>| ir::ops(block).iter().position(|other| edit::same(*op, *other));
        found.sort_by_key(place);
        (!found.is_empty()).then_some(found)
    }

    /// Whether the loops before the last one may run with it, iteration by iteration, and memory is
    /// saved.
    fn may_fuse(&self, block: Blk<'c>, loops: &[Op<'c>], depth: usize) -> bool {
        let [first, .., last] = loops else { return true };
        let (mut reads, mut writes) = (vec![], vec![]);
        for op in &loops[..loops.len() - 1] {
            effects(*op, &mut reads, &mut writes);
        }
        let (mut reads_last, mut writes_last) = (vec![], vec![]);
        effects(*last, &mut reads_last, &mut writes_last);
        let is_own = |value: &Val<'c>| *value == self.value;
        if !writes.iter().all(is_own) || writes_last.iter().any(|w| reads.contains(w)) {
            return false;
        }
        let mut is_near = true;
        for op in between(block, *first, *last) {
            if loops.iter().any(|other| edit::same(*other, op)) {
                continue;
            }
            let (mut others, mut written) = (vec![], vec![]);
            effects(op, &mut others, &mut written);
            is_near &= others.is_empty() && written.is_empty();
            if written.iter().any(|w| reads.contains(w) || is_own(w)) {
                return false;
            }
        }
        reads.retain(|value| !is_own(value));
        writes_last.retain(|value| !is_own(value));
        // Before, the buffer was in use with what it is computed from, and then with what is computed
        // from it; now these two are in use together, and the first for as long as it takes.
        let (own, from, to) = (bytes(&[self.value]), bytes(&reads), bytes(&writes_last));
        depth > 0 || (own > from.min(to) && (is_near || own > from))
    }

    /// Makes the buffer one without the outer `depth` dimensions.
    fn shrink(&self, depth: usize) -> Result<()> {
        let element = ir::element_type(self.value.r#type());
        let rest = self.accesses.iter().map(|access| &access.dims[depth..]);
        let count = rest.map(|dims| dims.iter().map(|(size, _)| size).product::<i64>()).max();
        let b = Builder::before(self.alloc)?;
        let ty = MemRefType::new(element, &[count.unwrap_or(1)], None, None).into();
        let attributes = self.alloc.attribute("alignment").ok().map(|value| ("alignment", value));
        let spec = OpSpec {
            results: &[ty],
            attributes: attributes.into_iter().chain([("operandSegmentSizes", b.parse_attr("array<i32: 0, 0>")?)]).collect(),
            ..Default::default()
        };
        let small = ir::result0(b.create("memref.alloc", spec)?)?;
        for access in &self.accesses {
            let b = Builder::before(access.op)?;
            let mut place = None;
            for (size, index) in access.dims(depth) {
                place = Some(match place {
                    None => index,
                    Some(place) => {
                        let scaled = b.binary("arith.muli", place, b.index(size)?)?;
                        b.binary("arith.addi", scaled, index)?
                    }
                });
            }
            let place = match place {
                Some(place) => place,
                None => b.index(0)?,
            };
            let stored = ir::operands(access.op);
            match ir::op_name(access.op) {
                "memref.load" => {
                    let value = b.op1("memref.load", &[small, place], element)?;
                    edit::replace_uses(ir::result0(access.op)?, value);
                }
                _ => {
                    let operands = [stored[0], small, place];
                    b.create("memref.store", OpSpec { operands: &operands, ..Default::default() })?;
                }
            }
            edit::erase(access.op);
        }
        self.views.iter().rev().for_each(|view| edit::erase(*view));
        edit::erase(self.alloc);
        Ok(())
    }
}

/// The operation of a block that an operation is in.
fn ancestor<'c>(op: Op<'c>, block: Blk<'c>) -> Option<Op<'c>> {
    let mut around = std::iter::successors(Some(op), |op| op.parent_operation());
    around.find(|op| op.block().is_some_and(|its| its.to_raw().ptr == block.to_raw().ptr))
}

/// What counts the iterations of a loop from 0 to `count` that gives no values.
fn counter<'c>(op: Op<'c>, count: i64) -> Option<Val<'c>> {
    if ir::op_name(op) != "scf.for" || !ir::results(op).is_empty() {
        return None;
    }
    let bounds: Vec<_> = ir::operands(op).into_iter().map(number).collect::<Option<_>>()?;
    (bounds == [0, count, 1]).then_some(())?;
    edit::arguments(edit::entry_block(op)?).first().copied()
}

fn number(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    attribute::int(op.attribute("value").ok()?)
}

/// Adds the buffers that an operation and what is in it read and write.
fn effects<'c>(op: Op<'c>, reads: &mut Vec<Val<'c>>, writes: &mut Vec<Val<'c>>) {
    for inner in edit::walk(op).into_iter().chain([op]) {
        let operands = ir::operands(inner);
        let buffers = operands.iter().filter(|value| ir::is_memref(value.r#type()));
        let buffers = buffers.map(|value| memref::base(*value));
        match ir::op_name(inner) {
            "memref.load" => reads.extend(buffers),
            "memref.store" => writes.extend(buffers),
            "memref.dealloc" => writes.extend(buffers),
            _ if memref::is_alias(inner) => {}
            _ => {
                reads.extend(buffers.clone());
                writes.extend(buffers);
            }
        }
    }
}

/// What stands between two operations of a block.
fn between<'c>(block: Blk<'c>, first: Op<'c>, last: Op<'c>) -> Vec<Op<'c>> {
    let ops = ir::ops(block).into_iter().skip_while(|op| !edit::same(*op, first)).skip(1);
    ops.take_while(|op| !edit::same(*op, last)).collect()
}

/// The bytes of buffers that the function makes, each once.
fn bytes(values: &[Val<'_>]) -> i64 {
    let mut seen: Vec<Val<'_>> = vec![];
    for value in values {
        let made = edit::defining_op(*value).is_some_and(|op| ir::op_name(op) == "memref.alloc");
        if made && !seen.contains(value) {
            seen.push(*value);
        }
    }
    let size = |value: &Val<'_>| {
        let elements = ir::static_dims(value.r#type())?.iter().product::<i64>();
        Some(elements * size::element_bytes(ir::element_type(value.r#type()))? as i64)
    };
    seen.iter().filter_map(size).sum()
}

/// Moves the body of a loop into another one's, in front of `start`.
fn join<'c>(from: Op<'c>, body: Blk<'c>, start: Op<'c>) -> Result<()> {
    let block = edit::entry_block(from)
        .ok_or_else(|| crate::Error::internal("a loop without a body"))?;
    for (of, is) in edit::arguments(block).into_iter().zip(edit::arguments(body)) {
        edit::replace_uses(of, is);
    }
    let mut ops = ir::ops(block);
    ops.pop();
    ops.into_iter().for_each(|op| edit::move_before(op, start));
    edit::erase(from);
    Ok(())
}
