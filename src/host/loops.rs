//! Loops that are no kernels: their amount of work, and their division into tasks.

use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, edit, memref},
    lower::generic::Aff,
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};

/// Elementary operations that make a task worth handing to a thread.
pub(super) const TASK_WORK: i64 = 1 << 15;
/// Tasks of one nest, at most.
pub(super) const MAX_TASKS: i64 = 64;
/// Elements along the innermost dimension that a task has at least, so that no two threads write to
/// one line of the cache and vectors are full.
const MIN_RUN: i64 = 256;

/// A `linalg.generic` on buffers of static sizes.
pub struct Nest<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Number of operands that are read only.
    inputs: usize,
    /// The map of each operand.
    maps: Vec<Vec<Aff>>,
    parallel: Vec<bool>,
    /// Iterations of each loop.
    pub(super) extents: Vec<i64>,
}

/// A parallel loop that is cut into tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The loop.
    pub at: usize,
    /// Its iterations.
    pub(super) extent: i64,
    /// Iterations of a task.
    pub(super) step: i64,
}

impl Cut {
    /// Number of tasks.
    pub fn tasks(&self) -> i64 {
        self.extent.div_euclid(self.step) + i64::from(self.extent % self.step != 0)
    }
}

impl<'c> Nest<'c> {
    /// Reads an operation; `None` if it is another one, or a size is unknown.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if ir::op_name(op) != "linalg.generic" || !ir::results(op).is_empty() {
            return None;
        }
        let maps: Vec<_> = edit::array(op.attribute("indexing_maps").ok()?)
            .into_iter()
            .map(Aff::of_map)
            .collect::<Option<_>>()?;
        let kinds = edit::array(op.attribute("iterator_types").ok()?);
        let parallel: Vec<_> =
            kinds.iter().map(|kind| kind.to_string().contains("parallel")).collect();
        let operands = ir::operands(op);
        let inputs = usize::try_from(segment(op)?).ok()?;
        let mut extents = vec![None; parallel.len()];
        for (map, operand) in maps.iter().zip(&operands) {
            if !ir::is_memref(operand.r#type()) {
                continue;
            }
            let dims = ir::static_dims(operand.r#type())?;
            for (index, dim) in map.iter().zip(dims) {
                if let Some(at) = index.single() {
                    extents[at] = Some(dim);
                }
            }
        }
        let extents = extents.into_iter().collect::<Option<_>>()?;
        Some(Self { op, inputs, maps, parallel, extents })
    }

    /// Elementary operations of all iterations.
    pub fn operations(&self) -> i64 {
        let body = ir::ops_of(self.op).len().saturating_sub(1) as i64;
        self.extents.iter().fold(body, |all, extent| all.saturating_mul(*extent))
    }

    /// About how much time the loops take, as elementary operations.
    pub fn work(&self) -> i64 {
        let body: i64 = ir::ops_of(self.op)
            .into_iter()
            .map(|op| if ir::op_name(op).starts_with("math.") { 10 } else { 1 })
            .sum();
        self.extents.iter().fold(body, |work, extent| work.saturating_mul(*extent))
    }

    /// The operands that are written.
    pub fn writes(&self) -> Vec<Val<'c>> {
        ir::operands(self.op).split_off(self.inputs)
    }

    /// True if all of a written operand is overwritten, and nothing of it is read.
    pub fn overwrites(&self, value: Val<'c>) -> bool {
        let operands = ir::operands(self.op);
        if operands.iter().filter(|operand| **operand == value).count() != 1 {
            return false;
        }
        let Some(place) = operands.iter().position(|operand| *operand == value) else {
            return false;
        };
        let Some(block) = edit::entry_block(self.op) else { return false };
        let unread =
            edit::arguments(block).get(place).is_some_and(|before| !ir::has_uses(*before, 1));
        let singles: Vec<_> = self.maps[place].iter().filter_map(Aff::single).collect();
        let mut distinct = singles.clone();
        distinct.sort_unstable();
        distinct.dedup();
        unread && singles.len() == self.maps[place].len() && distinct.len() == singles.len()
    }

    /// Strides of an operand in elements for each loop, and its offset. `None` if those are not
    /// known, an index is no loop alone, or loops are reductions.
    pub(super) fn strides(&self, place: usize) -> Option<(Vec<i64>, i64)> {
        let (strides, start) = memref::strides(ir::operands(self.op).get(place)?.r#type())?;
        if !self.parallel.iter().all(|parallel| *parallel)
            || strides.contains(&ir::DYNAMIC)
            || start == ir::DYNAMIC
        {
            return None;
        }
        let mut moves = vec![0; self.extents.len()];
        for (index, stride) in self.maps[place].iter().zip(strides) {
            moves[index.single()?] += stride;
        }
        Some((moves, start))
    }

    /// The loop to cut, if the work is worth it and there is one.
    pub fn cut(&self) -> Option<Cut> {
        let wanted = (self.work() / TASK_WORK).min(MAX_TASKS);
        if wanted < 2 {
            return None;
        }
        let candidates: Vec<usize> =
            (0..self.extents.len()).filter(|at| self.can_cut(*at)).collect();
        let last = self.extents.len().checked_sub(1)?;
        let least = |at: usize| if at == last { MIN_RUN } else { 1 };
        let parts = |at: usize| (self.extents[at] / least(at)).min(wanted);
        // The outermost one with enough iterations, or else that with most.
        let enough = candidates.iter().copied().find(|at| parts(*at) >= wanted.min(8));
        let at = enough
            .or_else(|| candidates.into_iter().max_by_key(|at| (parts(*at), usize::MAX - at)))?;
        let extent = self.extents[at];
        let mut step = (extent + parts(at).max(1) - 1) / parts(at).max(1);
        if at == last {
            step = (step + MIN_RUN - 1) / MIN_RUN * MIN_RUN;
        }
        let cut = Cut { at, extent, step };
        (cut.tasks() > 1).then_some(cut)
    }

    /// True if each operand depends on a loop, if at all, by one plain index: a part of it is then
    /// a view.
    fn can_cut(&self, at: usize) -> bool {
        let operands = ir::operands(self.op);
        self.parallel[at]
            && self.maps.iter().zip(&operands).enumerate().all(|(place, (map, operand))| {
                let uses: Vec<_> = map.iter().filter(|index| index.has(at)).collect();
                let written = place >= self.inputs;
                let plain = match uses[..] {
                    // Tasks that write the same elements would race.
                    [] => !written,
                    [index] => index.single() == Some(at),
                    _ => false,
                };
                let strided = || {
                    let strides = memref::strides(operand.r#type());
                    strides.is_some_and(|(strides, _)| !strides.contains(&ir::DYNAMIC))
                };
                plain && (uses.is_empty() || strided())
            })
    }
}

/// Number of operands that are read only.
fn segment(op: Op<'_>) -> Option<i64> {
    let sizes = op.attribute("operandSegmentSizes").ok()?;
    let sizes = melior::ir::attribute::DenseI32ArrayAttribute::try_from(sizes).ok()?;
    sizes.element(0).ok().map(i64::from)
}

impl Cut {
    /// Limits the copy `inside` of a nest to the tasks `lo..hi`.
    pub fn apply<'c>(
        &self,
        b: &Builder<'c>,
        nest: &Nest<'c>,
        inside: Op<'c>,
        (lo, hi): (Val<'c>, Val<'c>),
    ) -> Result<()> {
        let (from, to) = self.range(b, (lo, hi))?;
        let size = b.binary("arith.subi", to, from)?;
        for (index, operand) in ir::operands(inside).into_iter().enumerate() {
            let place = nest.maps[index].iter().position(|index| index.has(self.at));
            if let Some(place) = place {
                edit::set_operand(inside, index, part(b, operand, place, (from, size))?)?;
            }
        }
        self.shift_indices(inside, from)
    }

    /// The first iteration of the tasks `lo..hi`, and the one behind their last.
    fn range<'c>(
        &self,
        b: &Builder<'c>,
        (lo, hi): (Val<'c>, Val<'c>),
    ) -> Result<(Val<'c>, Val<'c>)> {
        let step = b.index(self.step)?;
        let from = b.binary("arith.muli", lo, step)?;
        let mut to = b.binary("arith.muli", hi, step)?;
        if self.extent % self.step != 0 {
            to = b.binary("arith.minsi", to, b.index(self.extent)?)?;
        }
        Ok((from, to))
    }

    /// Limits a `scf.for` from 0 to the tasks `lo..hi`.
    pub fn limit<'c>(
        &self,
        b: &Builder<'c>,
        repeat: Op<'c>,
        tasks: (Val<'c>, Val<'c>),
    ) -> Result<()> {
        let (from, to) = self.range(b, tasks)?;
        edit::set_operand(repeat, 0, from)?;
        edit::set_operand(repeat, 1, to)
    }

    /// Adds the first iteration of the task to the indices that the body takes of the loop.
    fn shift_indices<'c>(&self, inside: Op<'c>, from: Val<'c>) -> Result<()> {
        for op in ir::ops_of(inside) {
            if ir::op_name(op) != "linalg.index" || ir::attr_i64(op, "dim") != Some(self.at as i64)
            {
                continue;
            }
            let index = ir::result0(op)?;
            let Some(block) = op.block() else { continue };
            let after =
                ir::ops(block).into_iter().skip_while(|other| !edit::same(*other, op)).nth(1);
            let Some(after) = after else { continue };
            let sum = Builder::before(after)?.binary("arith.addi", index, from)?;
            if let Some(adder) = edit::defining_op(sum) {
                edit::replace_uses_except(index, sum, adder);
            }
        }
        Ok(())
    }
}

/// The part `from..from + size` of a buffer along a dimension.
fn part<'c>(
    b: &Builder<'c>,
    buffer: Val<'c>,
    along: usize,
    (from, size): (Val<'c>, Val<'c>),
) -> Result<Val<'c>> {
    let ty = buffer.r#type();
    let mut sizes = ir::dims(ty);
    let (strides, _) = memref::strides(ty)
        .ok_or_else(|| crate::Error::internal("a buffer without strides is cut"))?;
    let mut offsets = vec![0; sizes.len()];
    let steps = vec![1; sizes.len()];
    (offsets[along], sizes[along]) = (ir::DYNAMIC, ir::DYNAMIC);
    let text = |list: &[i64]| {
        let known =
            |size: &i64| if *size == ir::DYNAMIC { "?".to_owned() } else { size.to_string() };
        list.iter().map(known).collect::<Vec<_>>()
    };
    let element = ir::element_type(ty);
    let result = format!(
        "memref<{}x{element}, strided<[{}], offset: ?>>",
        text(&sizes).join("x"),
        text(&strides).join(", ")
    );
    let result = Type::parse(b.context, &result)
        .ok_or_else(|| crate::Error::internal(format!("no type {result}")))?;
    let attributes: Vec<(&str, Attribute<'c>)> = vec![
        ("static_offsets", b.i64s_attr(&offsets)),
        ("static_sizes", b.i64s_attr(&sizes)),
        ("static_strides", b.i64s_attr(&steps)),
        ("operandSegmentSizes", b.parse_attr("array<i32: 1, 1, 1, 0>")?),
    ];
    let operands = [buffer, from, size];
    let spec = OpSpec { operands: &operands, results: &[result], attributes, ..Default::default() };
    ir::result0(b.create("memref.subview", spec)?)
}
