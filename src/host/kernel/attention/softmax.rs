//! The softmax of rows of the working memory.

use crate::{
    Result, approximate,
    host::kernel::{
        Emitter, Epilogue, Ix, View,
        contraction::Place,
        lanes::{add, fold, greater, reduce},
        program::Program,
        tiling::Width,
        types::Element,
    },
    ir::Val,
};

/// Rows of the working memory.
pub(super) struct Rows<'k, 'c> {
    /// Elements of a row.
    pub count: i64,
    /// From one row to the next.
    pub step: i64,
    pub memory: Val<'c>,
    /// Operands of the program.
    pub operands: Vec<(&'k View, Val<'c>)>,
    /// Elementwise program for the results. Without one, the inverse of a row's sum is written
    /// behind it, and the row is left as exponentials.
    pub program: Option<&'k Program<'c>>,
}

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

    /// The greatest element of a row. Where one is NaN the result is any.
    fn greatest(&self, e: &Emitter<'c>, at: Ix<'c>) -> Result<Val<'c>> {
        let least = e.splat(f64::NEG_INFINITY, e.isa.lanes, Element::F32)?;
        let maxima = fold(e, self.count, Some(least), |e, (from, width, _), most| {
            let value = e.load_or(self.memory, e.add(at, from)?, width, f64::NEG_INFINITY)?;
            most.map(|most| greater(e, value, most)).transpose()
        })?;
        reduce(e, maxima, greater)
    }

    /// Makes a row the exponentials of what its elements are less than `greatest`; their sum.
    fn exponentials(&self, e: &Emitter<'c>, at: Ix<'c>, greatest: Val<'c>) -> Result<Val<'c>> {
        let greatest = e.broadcast(greatest, e.isa.lanes)?;
        let zero = e.splat(0.0, e.isa.lanes, Element::F32)?;
        let sums = fold(e, self.count, Some(zero), |e, (from, width, _), sum| {
            let from = e.add(at, from)?;
            // Lanes behind the row add 0, and there is room for them.
            let value = e.load_or(self.memory, from, width, f64::NEG_INFINITY)?;
            let below = e.builder.binary("arith.subf", value, greatest)?;
            let power = approximate::exp_of_most_zero(&e.builder, below)?;
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
        fold(e, self.count, None, |e, (from, width, _), _| {
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
