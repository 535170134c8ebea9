//! Nests of loops over buffers: which elements each iteration uses, and loops that become one.

use crate::{
    Error, Result,
    ir::{
        self, Blk, Builder, Op, OpSpec, Val, alias, attribute, edit, effects, memref, names, size,
    },
};
use melior::ir::{ValueLike, block::BlockLike, operation::OperationLike, r#type::MemRefType};

/// A load or store.
pub struct Access<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Size of each dimension that has more than one element, and the operand that is its index.
    dims: Vec<(i64, usize)>,
}

/// The uses of a buffer.
#[derive(Default)]
pub struct Uses<'c> {
    /// Loads and stores.
    pub accesses: Vec<Access<'c>>,
    /// Views of the whole, those of views behind them.
    pub views: Vec<Op<'c>>,
    /// All others: other views, and whatever uses the buffer through them.
    pub others: Vec<Op<'c>>,
}

impl<'c> Access<'c> {
    /// Sizes and indices from dimension `from` on, of those with more than one element.
    pub fn dims(&self, from: usize) -> Vec<(i64, Val<'c>)> {
        let operands = ir::operands(self.op);
        self.dims.iter().skip(from).map(|(size, at)| (*size, operands[*at])).collect()
    }

    /// Number of dimensions with more than one element.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Redirects the access to a buffer of one dimension, which holds the dimensions from `from`
    /// on.
    pub fn redirect(self, buffer: Val<'c>, from: usize) -> Result<()> {
        let b = Builder::before(self.op)?;
        let mut place = None;
        for (size, index) in self.dims(from) {
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
        let attributes: Vec<_> = [names::ACCESS, names::SEES]
            .into_iter()
            .filter_map(|name| Some((name, self.op.attribute(name).ok()?)))
            .collect();
        if ir::op_name(self.op) == "memref.load" {
            let old = ir::result0(self.op)?;
            let new = b.op1_with("memref.load", &[buffer, place], old.r#type(), attributes)?;
            edit::replace_uses(old, new);
        } else {
            let operands = &[ir::operands(self.op)[0], buffer, place];
            b.create("memref.store", OpSpec { operands, attributes, ..Default::default() })?;
        }
        edit::erase(self.op);
        Ok(())
    }
}

/// The sizes of a buffer of static shape whose elements lie one after the other.
fn plain_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let sizes = ir::static_dims(value.r#type())?;
    let strides = memref::static_strides(value.r#type())?;
    (strides == memref::row_major(&sizes)).then_some(sizes)
}

impl<'c> Uses<'c> {
    /// The uses of a buffer of static shape and plain layout.
    pub fn of(value: Val<'c>) -> Option<Self> {
        let mut uses = Self::default();
        uses.visit(value)?;
        Some(uses)
    }

    fn visit(&mut self, value: Val<'c>) -> Option<()> {
        let sizes = plain_dims(value)?;
        for user in ir::users(value) {
            // Asking an operation for a result that it does not have prints it, which takes long.
            let view = memref::is_whole(user).then(|| ir::result0(user).ok()).flatten();
            if let Some(element) = effects::element(user).filter(|e| e.buffer == value) {
                let places = element.first_index..;
                let dims = sizes.iter().copied().zip(places).filter(|(size, _)| *size != 1);
                self.accesses.push(Access { op: user, dims: dims.collect() });
            } else if let Some(view) = view.filter(|view| plain_dims(*view).is_some()) {
                self.views.push(user);
                self.visit(view)?;
            } else {
                self.others.push(user);
                self.others.extend(alias::users_behind(user));
            }
        }
        Some(())
    }
}

/// The operations of a block that have the accesses in them, in their order, if all are loops over
/// dimension `depth` and each iteration keeps to its own elements. The innermost dimension stays whole.
pub fn loops_over<'c>(
    accesses: &[&Access<'c>],
    block: Blk<'c>,
    depth: usize,
) -> Option<(Vec<Op<'c>>, i64)> {
    let mut found: Vec<Op<'c>> = vec![];
    let mut count = None;
    for access in accesses {
        let top = ancestor(access.op, block)?;
        if access.rank() < depth + 2 {
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
    found.sort_by(|a, b| edit::is_before(*b, *a).cmp(&edit::is_before(*a, *b)));
    count.map(|count| (found, count))
}

/// The operation of a block that an operation is in.
pub fn ancestor<'c>(op: Op<'c>, block: Blk<'c>) -> Option<Op<'c>> {
    let mut around = std::iter::successors(Some(op), |op| op.parent_operation());
    around.find(|op| op.block().is_some_and(|its| its.to_raw().ptr == block.to_raw().ptr))
}

/// Induction variable of a loop from 0 to `count` that gives no values.
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

/// The buffers that operations, and what is in them, read and write.
#[derive(Default)]
pub struct Effects<'c> {
    /// Buffers that are read.
    pub reads: Vec<Val<'c>>,
    /// Buffers that are written.
    pub writes: Vec<Val<'c>>,
    /// True if a buffer is used that may be another name of any other one.
    pub is_opaque: bool,
}

impl<'c> Effects<'c> {
    /// The effects of some operations.
    pub fn of(ops: &[Op<'c>]) -> Self {
        let mut effects = Self::default();
        for op in ops {
            edit::walk(*op).into_iter().chain([*op]).for_each(|inner| effects.add(inner));
        }
        effects
    }

    fn add(&mut self, op: Op<'c>) {
        let operands = ir::operands(op);
        let buffers = operands.iter().filter(|value| ir::is_memref(value.r#type()));
        let buffers = buffers.map(|value| memref::base(*value));
        let uses = !memref::is_view(op);
        self.is_opaque |= uses && buffers.clone().any(|value| !alias::is_apart(value));
        let base = |value: Val<'c>| memref::base(value);
        self.reads.extend(effects::reads(op).into_iter().map(base));
        self.writes.extend(effects::writes(op).into_iter().map(base));
    }

    /// True if nothing is read or written.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }
}

/// Tests whether the loops before the last one may run with it, iteration by iteration, as far as
/// buffers other than `buffer` are concerned. None if they may not; true if nothing else between
/// the first and the last uses memory.
pub fn may_fuse<'c>(block: Blk<'c>, loops: &[Op<'c>], buffer: Val<'c>) -> Option<bool> {
    let [first, .., last] = loops else { return Some(true) };
    let before = Effects::of(&loops[..loops.len() - 1]);
    let after = Effects::of(&[*last]);
    if before.is_opaque || after.is_opaque {
        return None;
    }
    let is_own = |value: &Val<'c>| *value == buffer;
    let is_read = |value: &Val<'c>| !is_own(value) && before.reads.contains(value);
    let is_known = |value: &Val<'c>| is_own(value) || is_private(*value, block);
    if !before.writes.iter().all(is_known) || after.writes.iter().any(is_read) {
        return None;
    }
    let between = std::iter::successors(first.next_in_block(), |op| op.next_in_block());
    let between = between.take_while(|op| !edit::same(*op, *last));
    let others: Vec<_> =
        between.filter(|op| !loops.iter().any(|other| edit::same(*other, *op))).collect();
    let others = Effects::of(&others);
    let is_used = |value: &Val<'c>| is_own(value) || before.reads.contains(value);
    (!others.is_opaque && !others.writes.iter().any(is_used)).then_some(others.is_empty())
}

/// True for an allocated buffer that only one operation of a block uses.
fn is_private<'c>(buffer: Val<'c>, block: Blk<'c>) -> bool {
    let made = edit::defining_op(buffer).is_some_and(|op| ir::op_name(op) == "memref.alloc");
    let Some(uses) = Uses::of(buffer).filter(|uses| made && uses.others.is_empty()) else {
        return false;
    };
    let tops = uses.accesses.iter().map(|access| ancestor(access.op, block));
    let Some(tops) = tops.collect::<Option<Vec<_>>>() else { return false };
    tops.iter().all(|top| edit::same(*top, tops[0]))
}

/// Moves the bodies of loops into the last one, which then does all of their work; gives its body.
pub fn join<'c>(loops: &[Op<'c>]) -> Result<Blk<'c>> {
    let body = |op| edit::entry_block(op).ok_or_else(|| Error::internal("a loop without a body"));
    let (last, others) =
        loops.split_last().ok_or_else(|| Error::internal("no loops are to become one"))?;
    let into = body(*last)?;
    let start = *ir::ops(into).first().ok_or_else(|| Error::internal("a loop without an end"))?;
    for other in others {
        let from = body(*other)?;
        for (of, is) in edit::arguments(from).into_iter().zip(edit::arguments(into)) {
            edit::replace_uses(of, is);
        }
        let mut ops = ir::ops(from);
        ops.pop();
        ops.into_iter().for_each(|op| edit::move_before(op, start));
        edit::erase(*other);
    }
    Ok(into)
}

/// The bytes of buffers that the function makes, each once.
pub fn bytes(values: &[Val<'_>]) -> u64 {
    let mut seen: Vec<Val<'_>> = vec![];
    for value in values {
        let made = edit::defining_op(*value).is_some_and(|op| ir::op_name(op) == "memref.alloc");
        if made && !seen.contains(value) {
            seen.push(*value);
        }
    }
    seen.iter().filter_map(|value| size::bytes(value.r#type())).sum()
}

/// Makes a buffer of one dimension where another one is made, aligned as that.
pub fn buffer_beside<'c>(alloc: Op<'c>, count: i64) -> Result<Val<'c>> {
    let b = Builder::before(alloc)?;
    let element = ir::element_type(ir::result0(alloc)?.r#type());
    let ty = MemRefType::new(element, &[count], None, None).into();
    let mut attributes = vec![("operandSegmentSizes", b.parse_attr("array<i32: 0, 0>")?)];
    attributes.extend(alloc.attribute("alignment").ok().map(|value| ("alignment", value)));
    ir::result0(
        b.create("memref.alloc", OpSpec { results: &[ty], attributes, ..Default::default() })?,
    )
}
