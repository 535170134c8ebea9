//! Sums in memory that loops add up one by one, cut into blocks. The terms of a block are added up
//! in memory of its own first, and go from there to the sum at once. So the rounding errors of a
//! long sum are those of a block and of the number of blocks.
//!
//! Loops over other elements inside of those that sum are cut into strips, so that what a block sums takes a
//! few words of the stack.

use super::{
    blocks::{Locals, end_of_block, narrow, repeat_by},
    chains::{counter, depends, iterations, length, meetings, number},
    loops::{Bounds, count_between},
};
use crate::{
    Result,
    ir::{
        self, Builder, Op, OpSpec, Val,
        capture::{Copy, is_outside},
        edit, effects, memref, tir,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Limits for sums in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Terms that are added one by one at most.
    pub terms: i64,
    /// Sums that are added to side by side at most.
    pub lanes: i64,
}

/// `y[i] = y[i] + term`.
struct Site<'c> {
    store: Op<'c>,
    load: Op<'c>,
    add: Op<'c>,
    /// The loop that is cut into blocks, and its iterations in each.
    cut: (Op<'c>, i64),
    /// The loops inside of it that go over elements, the outer ones first.
    kept: Vec<Kept<'c>>,
}

/// A loop over elements inside of one that sums.
struct Kept<'c> {
    op: Op<'c>,
    /// Range that contains all of its iterations.
    range: Bounds<'c>,
    /// Iterations of a strip.
    strip: i64,
}

impl Kept<'_> {
    /// True if one strip is all of it.
    fn is_whole(&self) -> bool {
        extent(&self.range) <= self.strip
    }
}

/// Cuts a sum of a function, if one has to be.
pub fn cut_one<'c>(function: Op<'c>, blocks: Blocks, locals: &mut Locals<'c>) -> Result<bool> {
    for store in edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "memref.store") {
        if let Some(site) = Site::of(store, blocks) {
            site.cut(locals)?;
            return Ok(true);
        }
    }
    Ok(false)
}

impl<'c> Site<'c> {
    fn of(store: Op<'c>, blocks: Blocks) -> Option<Self> {
        let value = ir::operands(store)[0];
        let add = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.addf")?;
        if !ir::is_f32(value.r#type()) || add.block() != store.block() || ir::has_uses(value, 2) {
            return None;
        }
        let place = ir::operands(store).split_off(1);
        let load = ir::operands(add)
            .into_iter()
            .filter_map(edit::defining_op)
            .find(|op| ir::op_name(*op) == "memref.load" && ir::operands(*op) == place)?;
        if ir::users_of(load).len() != 1 || load.block() != store.block() {
            return None;
        }
        let (mut kept, mut before) = (vec![], None);
        let mut around = store.parent_operation();
        while let Some(op) = around.filter(|op| ["scf.for", "scf.if"].contains(&ir::op_name(*op))) {
            around = op.parent_operation();
            if ir::op_name(op) == "scf.if" {
                continue;
            }
            let is_free = ir::results(op).is_empty() && !touches(op, place[0], &[store, load]);
            if !is_free || !is_outside(place[0], op) {
                return None;
            }
            let counts = counter(op)?;
            if place[1..].iter().any(|index| depends(*index, counts)) {
                kept.push(op);
                continue;
            }
            let terms =
                *before.get_or_insert_with(|| meetings(&place[1..], &kept_around(store, &place)));
            let all = iterations(op);
            if all > 1 && terms.saturating_mul(all) > blocks.terms {
                // A block of all that there is would be cut for ever.
                let count = Some((blocks.terms / terms).max(1)).filter(|count| *count < all)?;
                let step = number(*ir::operands(op).get(2)?)?;
                let cut = (op, count.checked_mul(step)?);
                let kept = strips(&kept, op, &place, blocks.lanes)?;
                let site = Self { store, load, add, cut, kept };
                return site.is_apart().then_some(site);
            }
            before = Some(terms.saturating_mul(all));
        }
        None
    }

    /// True if nothing that the loops do is done more often when they run strip by strip, and the indices can be
    /// computed anywhere.
    fn is_apart(&self) -> bool {
        let repeat = self.cut.0;
        let innermost = self.kept.last().filter(|_| !self.kept.iter().all(Kept::is_whole));
        let has_effect = |op: &Op<'c>| {
            let name = ir::op_name(*op);
            name == "memref.store" || name == "memref.copy" || name.contains("call")
        };
        let mut effects = edit::walk(repeat).into_iter().filter(has_effect);
        effects.all(|op| innermost.is_none_or(|kept| is_inside(op, kept.op)))
            && ir::operands(self.store)[2..].iter().all(|index| is_plain(*index, repeat))
    }

    fn cut(self, locals: &mut Locals<'c>) -> Result<()> {
        let repeat = self.cut.0;
        let local = locals.take(repeat, self.kept.iter().map(|kept| kept.strip).product())?;
        // The loop itself moves.
        let next = repeat.next_in_block();
        let next = next.ok_or_else(|| crate::Error::internal("a block without an end"))?;
        let b = Builder::before(next)?.with_location(repeat.location());
        self.strip(&b, vec![], local)
    }

    /// The loops over strips from number `parts.len()` on, and the blocks in them.
    fn strip(&self, b: &Builder<'c>, parts: Vec<Bounds<'c>>, local: Val<'c>) -> Result<()> {
        let Some(kept) = self.kept.get(parts.len()) else {
            return self.blocks(b, &Sums { kept: &self.kept, parts, local });
        };
        if kept.is_whole() {
            return self.strip(b, [parts, vec![kept.range]].concat(), local);
        }
        repeat_by(b, kept.range, kept.strip, |b, from| {
            let to = end_of_block(b, kept.range, from, kept.strip)?;
            self.strip(b, [parts, vec![Bounds { from, to }]].concat(), local)
        })
    }

    fn blocks(&self, b: &Builder<'c>, sums: &Sums<'c, '_>) -> Result<()> {
        let (repeat, block) = self.cut;
        let [from, to, ..] = ir::operands(repeat)[..] else { return Ok(()) };
        repeat_by(b, Bounds { from, to }, block, |b, first| {
            sums.clear(b)?;
            let last = end_of_block(b, Bounds { from, to }, first, block)?;
            edit::move_to_end(repeat, b.block());
            edit::set_operand(repeat, 0, first)?;
            edit::set_operand(repeat, 1, last)?;
            self.add_up(b, sums, vec![])?;
            for (kept, part) in self.kept.iter().zip(&sums.parts) {
                if !kept.is_whole() {
                    narrow(kept.op, *part)?;
                }
            }
            self.redirect(sums)
        })
    }

    /// Adds what a block has summed to the sums, at indices of which the outer ones are known.
    fn add_up(&self, b: &Builder<'c>, sums: &Sums<'c, '_>, at: Vec<Val<'c>>) -> Result<()> {
        if let Some(part) = sums.parts.get(at.len()) {
            count_between(b, *part, &[], |b, index, _| {
                self.add_up(b, sums, [at, vec![index]].concat()).map(|()| vec![])
            })?;
            return Ok(());
        }
        let mut copy = Copy::nearby(b.block());
        for (kept, index) in self.kept.iter().zip(&at) {
            if let Some(counts) = counter(kept.op) {
                copy.replace(counts, *index);
            }
        }
        let mut place = vec![ir::operands(self.store)[1]];
        for index in ir::operands(self.store).split_off(2) {
            copy_plain(index, self.cut.0, &mut copy)?;
            place.push(copy.value(index));
        }
        let element = ir::operands(self.store)[0].r#type();
        let part = b.op1("memref.load", &[sums.local, sums.place(b, &at)?], element)?;
        let sum = b.op1("memref.load", &place, element)?;
        let mut operands = vec![b.binary("arith.addf", sum, part)?];
        operands.extend(place);
        b.create("memref.store", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    }

    /// Redirects the additions of the loops to the partial sums of a block.
    fn redirect(&self, sums: &Sums<'c, '_>) -> Result<()> {
        let at: Vec<_> = self.kept.iter().filter_map(|kept| counter(kept.op)).collect();
        let b = Builder::before(self.load)?;
        let place = sums.place(&b, &at)?;
        let old = ir::result0(self.load)?;
        edit::replace_uses(old, b.op1("memref.load", &[sums.local, place], old.r#type())?);
        let b = Builder::before(self.store)?;
        let operands = [ir::result0(self.add)?, sums.local, place];
        b.create("memref.store", OpSpec { operands: &operands, ..Default::default() })?;
        edit::erase(self.store);
        edit::erase(self.load);
        Ok(())
    }
}

/// Partial sums of a block: an element for each position in a strip of each loop.
struct Sums<'c, 's> {
    kept: &'s [Kept<'c>],
    /// The strips.
    parts: Vec<Bounds<'c>>,
    local: Val<'c>,
}

impl<'c> Sums<'c, '_> {
    fn clear(&self, b: &Builder<'c>) -> Result<()> {
        let zero = b.constant(b.f32(), 0.0)?;
        let count: i64 = self.kept.iter().map(|kept| kept.strip).product();
        let all = Bounds { from: b.index(0)?, to: b.index(count)? };
        let store = |b: &Builder<'c>, at| {
            let operands = [zero, self.local, at];
            b.create("memref.store", OpSpec { operands: &operands, ..Default::default() }).map(drop)
        };
        if count == 1 {
            return store(b, all.from);
        }
        count_between(b, all, &[], |b, at, _| store(b, at).map(|()| vec![])).map(drop)
    }

    /// Position of the partial sum that the loops add to at these indices.
    fn place(&self, b: &Builder<'c>, at: &[Val<'c>]) -> Result<Val<'c>> {
        let mut place = b.index(0)?;
        for ((index, part), kept) in at.iter().zip(&self.parts).zip(self.kept) {
            let inside = b.binary("arith.subi", *index, part.from)?;
            let before = b.binary("arith.muli", place, b.index(kept.strip)?)?;
            place = b.binary("arith.addi", before, inside)?;
        }
        Ok(place)
    }
}

/// The greatest number of iterations of a range.
fn extent(range: &Bounds<'_>) -> i64 {
    length(range.from, range.to).unwrap_or(i64::MAX)
}

/// The loops over elements, given from the innermost one, in strips of at most `lanes` elements in all: the innermost
/// loops are whole as far as that goes.
fn strips<'c>(
    loops: &[Op<'c>],
    outer: Op<'c>,
    place: &[Val<'c>],
    lanes: i64,
) -> Option<Vec<Kept<'c>>> {
    let mut room = lanes;
    let mut found = vec![];
    for op in loops {
        let range = range(*op, outer, place)?;
        let strip = extent(&range).min(room).max(1);
        room /= strip;
        found.insert(0, Kept { op: *op, range, strip });
    }
    Some(found)
}

/// The loops around an operation that the indices of a place count up with.
fn kept_around<'c>(op: Op<'c>, place: &[Val<'c>]) -> Vec<Op<'c>> {
    let around = std::iter::successors(op.parent_operation(), |op| op.parent_operation());
    let loops = around.filter(|op| ir::op_name(*op) == "scf.for");
    let counts = |op: &Op<'c>| {
        counter(*op).is_some_and(|counts| place[1..].iter().any(|index| depends(*index, counts)))
    };
    loops.filter(counts).collect()
}

/// The range of a loop inside of another one, by values from outside. It has the loop's own bounds,
/// or those of the dimension that its counter alone is the index of.
fn range<'c>(repeat: Op<'c>, outer: Op<'c>, place: &[Val<'c>]) -> Option<Bounds<'c>> {
    let [from, to, step, ..] = ir::operands(repeat)[..] else { return None };
    (number(step) == Some(1)).then_some(())?;
    let b = Builder::before(outer).ok()?;
    if let (Some(from), Some(to)) = (number(from), number(to)) {
        return Some(Bounds { from: b.index(from).ok()?, to: b.index(to).ok()? });
    }
    if is_outside(from, outer) && is_outside(to, outer) {
        return Some(Bounds { from, to });
    }
    let dims = ir::static_dims(place[0].r#type())?;
    let counts = counter(repeat)?;
    let at = place[1..].iter().position(|index| *index == counts)?;
    Some(Bounds { from: b.index(0).ok()?, to: b.index(*dims.get(at)?).ok()? })
}

/// True if an index is computed by arithmetic alone from what is outside of a loop and from counters.
fn is_plain<'c>(index: Val<'c>, repeat: Op<'c>) -> bool {
    let Some(op) = edit::defining_op(index) else { return true };
    is_outside(index, repeat)
        || (op.region_count() == 0
            && effects::is_free(op)
            && ir::operands(op).into_iter().all(|v| is_plain(v, repeat)))
}

/// Copies the arithmetic of an index inside of a loop.
fn copy_plain<'c>(index: Val<'c>, repeat: Op<'c>, copy: &mut Copy<'c>) -> Result<()> {
    let known = copy.value(index) != index || is_outside(index, repeat);
    let Some(op) = edit::defining_op(index).filter(|_| !known) else { return Ok(()) };
    for operand in ir::operands(op) {
        copy_plain(operand, repeat, copy)?;
    }
    copy.op(op).map(drop)
}

fn is_inside<'c>(op: Op<'c>, other: Op<'c>) -> bool {
    let mut around = std::iter::successors(Some(op), |op| op.parent_operation());
    around.any(|op| edit::same(op, other))
}

/// True if an operation uses a buffer or a part of it otherwise than by `own`; calls may be given anything.
fn touches<'c>(op: Op<'c>, buffer: Val<'c>, own: &[Op<'c>]) -> bool {
    let base = memref::base(buffer);
    edit::walk(op).into_iter().any(|inner| {
        let is_call = matches!(ir::op_name(inner), "func.call" | tir::CallExtern::NAME);
        let is_own = own.iter().any(|op| edit::same(*op, inner));
        let uses = ir::operands(inner)
            .into_iter()
            .any(|value| ir::is_memref(value.r#type()) && memref::base(value) == base);
        is_call || (uses && !is_own && !memref::is_view(inner))
    })
}
