//! The softmax of rows of the working memory.

use crate::{
    Result,
    host::kernel::{
        Emitter, Epilogue, Ix, View, contraction::Place, program::Program, tiling::Width,
        types::Element,
    },
    ir::Val,
};

/// Vectors that a turn of a loop over a row takes.
const UNROLL: i64 = 4;

/// Rows of the working memory.
pub(super) struct Rows<'k, 'c> {
    /// Elements of a row.
    pub count: i64,
    /// From one row to the next.
    pub step: i64,
    pub memory: Val<'c>,
    /// Operands of the program.
    pub operands: Vec<(&'k View, Val<'c>)>,
    /// What is done to the results. If there is nothing, the inverse of a row's sum is written
    /// behind it, and the row is left as exponentials.
    pub program: Option<&'k Program<'c>>,
}

/// A vector of a row: its first element and width, and the accumulator that it goes to.
type Vector<'c> = (Ix<'c>, Width, usize);

impl<'c> Rows<'_, 'c> {
    /// Does the rows `first..last`.
    pub fn emit(
        &self,
        e: &Emitter<'c>,
        (first, last): (Ix<'c>, Ix<'c>),
        place: Place<'c>,
    ) -> Result<()> {
        e.repeat((first, last, 1), vec![], |e, row, _| {
            let at = e.add(place.row, e.mul(row, self.step)?)?;
            let greatest = self.greatest(e, at)?;
            let sum = self.exponentials(e, at, greatest)?;
            let one = e.builder.constant(e.builder.f32(), 1.0)?;
            let inverse = e.builder.binary("arith.divf", one, sum)?;
            match self.program {
                Some(program) => {
                    self.results(e, (at, inverse), program, Place { col: row, ..place })?;
                }
                None => {
                    let behind = e.add(at, Ix::Const(self.step - 1))?;
                    let inverse = e.broadcast(inverse, 1)?;
                    e.store(inverse, self.memory, behind, Width::full(1))?;
                }
            }
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Goes through a row, with `accumulators` of vectors.
    fn fold(
        &self,
        e: &Emitter<'c>,
        start: Option<Val<'c>>,
        body: impl Fn(&Emitter<'c>, Vector<'c>, Option<Val<'c>>) -> Result<Option<Val<'c>>>,
    ) -> Result<Vec<Val<'c>>> {
        let lanes = e.isa.lanes;
        let count = start.map_or(0, |_| UNROLL.min(self.count.div_euclid(lanes).max(1)));
        let mut sums: Vec<Val<'c>> = start.into_iter().cycle().take(count as usize).collect();
        let by = UNROLL * lanes;
        let whole = self.count - self.count % by;
        let step = |e: &Emitter<'c>, vector: Vector<'c>, sums: &mut Vec<Val<'c>>| {
            let place = if sums.is_empty() { 0 } else { vector.2 % sums.len() };
            let sum = body(e, vector, sums.get(place).copied())?;
            if let (Some(sum), Some(slot)) = (sum, sums.get_mut(place)) {
                *slot = sum;
            }
            Ok::<_, crate::Error>(())
        };
        sums = e.repeat((Ix::Const(0), Ix::Const(whole), by), sums, |e, from, mut sums| {
            for i in 0..UNROLL {
                let at = e.add(from, Ix::Const(i * lanes))?;
                step(e, (at, Width::full(lanes), i as usize), &mut sums)?;
            }
            Ok(sums)
        })?;
        for (i, from) in (whole..self.count).step_by(lanes as usize).enumerate() {
            let width = Width { lanes, used: lanes.min(self.count - from) };
            step(e, (Ix::Const(from), width, i), &mut sums)?;
        }
        Ok(sums)
    }

    /// The greatest element of a row. Where one is NaN the result is any.
    fn greatest(&self, e: &Emitter<'c>, at: Ix<'c>) -> Result<Val<'c>> {
        let least = e.splat(f64::NEG_INFINITY, e.isa.lanes, Element::F32)?;
        let maxima = self.fold(e, Some(least), |e, (from, width, _), most| {
            let value = e.load_or(self.memory, e.add(at, from)?, width, f64::NEG_INFINITY)?;
            most.map(|most| greater(e, value, most)).transpose()
        })?;
        reduce(e, maxima, greater)
    }

    /// Makes a row the exponentials of what its elements are less than `greatest`; their sum.
    fn exponentials(&self, e: &Emitter<'c>, at: Ix<'c>, greatest: Val<'c>) -> Result<Val<'c>> {
        let greatest = e.broadcast(greatest, e.isa.lanes)?;
        let zero = e.splat(0.0, e.isa.lanes, Element::F32)?;
        let sums = self.fold(e, Some(zero), |e, (from, width, _), sum| {
            let from = e.add(at, from)?;
            // Lanes behind the row add 0, and there is room for them.
            let value = e.load_or(self.memory, from, width, f64::NEG_INFINITY)?;
            let below = e.builder.binary("arith.subf", value, greatest)?;
            let power = e.builder.unary("math.exp", below)?;
            e.store(power, self.memory, from, Width::full(width.lanes))?;
            sum.map(|sum| add(e, sum, power)).transpose()
        })?;
        reduce(e, sums, add)
    }

    /// Makes the exponentials of a row the operands of the second product.
    fn results(
        &self,
        e: &Emitter<'c>,
        (at, inverse): (Ix<'c>, Val<'c>),
        program: &Program<'c>,
        place: Place<'c>,
    ) -> Result<()> {
        let inverse = e.broadcast(inverse, e.isa.lanes)?;
        self.fold(e, None, |e, (from, width, _), _| {
            let mut operands = vec![];
            for (view, buffer) in &self.operands {
                if view.table {
                    operands.push(*buffer);
                    continue;
                }
                let steps = [
                    (place.batch, view.batch),
                    (place.plane, view.plane),
                    (place.col, view.col),
                    (from, view.channel),
                ];
                let at = e.sum(view.offset, &steps)?;
                operands.push(view.load(e, *buffer, at, width)?);
            }
            let from = e.add(at, from)?;
            let full = Width::full(width.lanes);
            let value = e.float("arith.mulf", e.load(self.memory, from, full)?, inverse)?;
            e.store(program.emit(e, value, &operands)?, self.memory, from, full)?;
            Ok(None)
        })?;
        Ok(())
    }
}

/// The greater one; the second, if one is NaN.
fn greater<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    e.builder.select(e.builder.cmpf("ogt", a, b)?, a, b)
}

fn add<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    e.builder.binary("arith.addf", a, b)
}

/// Folds vectors, and then the halves of one, to one element.
fn reduce<'c>(
    e: &Emitter<'c>,
    vectors: Vec<Val<'c>>,
    with: fn(&Emitter<'c>, Val<'c>, Val<'c>) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let none = || crate::Error::internal("a row that nothing is taken from");
    let mut vectors = vectors.into_iter();
    let first = vectors.next().ok_or_else(none)?;
    let mut value = vectors.try_fold(first, |value, other| with(e, value, other))?;
    let mut lanes = e.isa.lanes;
    while lanes > 1 {
        lanes /= 2;
        let [low, high] = [0, lanes].map(|from| e.part(value, from, lanes));
        value = with(e, low?, high?)?;
    }
    e.element(value)
}
