//! Loops over blocks and strips of a range, and memory for what is summed in them.

use super::{chains::number, generic::region, loops::Bounds};
use crate::{
    Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val, edit},
};
use melior::ir::{block::BlockLike, r#type::MemRefType};

/// Memory on the stack, which loops of a function that are not in one another share.
pub struct Locals<'c> {
    entry: Blk<'c>,
    /// Buffers with their sizes in words, and the loops that have them in use.
    found: Vec<(Val<'c>, i64, Vec<Op<'c>>)>,
}

impl<'c> Locals<'c> {
    /// No buffers yet; they go to the first block of a function.
    pub fn new(entry: Blk<'c>) -> Self {
        Self { entry, found: vec![] }
    }

    /// Memory of so many words for a loop.
    pub fn take(&mut self, user: Op<'c>, size: i64) -> Result<Val<'c>> {
        let top = |op: Op<'c>| super::nests::ancestor(op, self.entry).unwrap_or(op);
        // A word that nothing counts through may be in a register.
        let fits = |had: i64| if size == 1 { had == 1 } else { had >= size };
        let is_free =
            |users: &[Op<'c>]| !users.iter().any(|other| edit::same(top(*other), top(user)));
        let place = self.found.iter().position(|(_, had, users)| fits(*had) && is_free(users));
        if let Some((value, _, users)) = place.and_then(|place| self.found.get_mut(place)) {
            users.push(user);
            return Ok(*value);
        }
        let first = self.entry.first_operation();
        let first = first.ok_or_else(|| crate::Error::internal("a function without an end"))?;
        let b = Builder::before(first)?;
        let ty = MemRefType::new(b.f32(), &[size], None, None).into();
        let attributes = vec![("operandSegmentSizes", b.parse_attr("array<i32: 0, 0>")?)];
        let spec = OpSpec { results: &[ty], attributes, ..Default::default() };
        let value = ir::result0(b.create("memref.alloca", spec)?)?;
        self.found.push((value, size, vec![user]));
        Ok(value)
    }
}

/// `scf.for` over a range by steps of a number.
pub fn repeat_by<'c>(
    b: &Builder<'c>,
    range: Bounds<'c>,
    step: i64,
    body: impl FnOnce(&Builder<'c>, Val<'c>) -> Result<()>,
) -> Result<()> {
    let region = region(b, &[b.index_type()], |b, arguments| {
        body(b, arguments[0])?;
        b.create("scf.yield", OpSpec::default())?;
        Ok(())
    })?;
    let operands = [range.from, range.to, b.index(step)?];
    let spec = OpSpec { operands: &operands, regions: vec![region], ..Default::default() };
    b.create("scf.for", spec).map(drop)
}

/// End of the block of a range that begins at `first`.
pub fn end_of_block<'c>(
    b: &Builder<'c>,
    range: Bounds<'c>,
    first: Val<'c>,
    block: i64,
) -> Result<Val<'c>> {
    let end = b.binary("arith.addi", first, b.index(block)?)?;
    match number(range.from).zip(number(range.to)) {
        Some((from, to)) if (to - from) % block == 0 => Ok(end),
        _ => b.binary("arith.minsi", end, range.to),
    }
}

/// Narrows the range of a loop to bounds.
pub fn narrow<'c>(repeat: Op<'c>, bounds: Bounds<'c>) -> Result<()> {
    let b = Builder::before(repeat)?;
    let [from, to, ..] = ir::operands(repeat)[..] else { return Ok(()) };
    if number(from).is_some() && number(to).is_some() {
        // The strips are of just this range.
        edit::set_operand(repeat, 0, bounds.from)?;
        return edit::set_operand(repeat, 1, bounds.to);
    }
    edit::set_operand(repeat, 0, b.binary("arith.maxsi", from, bounds.from)?)?;
    edit::set_operand(repeat, 1, b.binary("arith.minsi", to, bounds.to)?)
}
