//! Bodies of loops: `graph.scan` is built around operations that are emitted one by one.

use melior::ir::{Region, Type, ValueLike};

use crate::ir::{self, Builder, DYNAMIC, Val, edit, graph};

use super::emit::{Attr, Emitter, OpResult};

/// Dimension along which a sequence is read or written, and its direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) axis: usize,
    pub(crate) reversed: bool,
}

/// Initial values and slices of a loop.
pub(crate) struct LoopStart<'c> {
    /// Number of steps.
    pub(crate) steps: i64,
    /// The number of steps that a run takes, a scalar of 64-bit integers, if it can be fewer.
    pub(crate) limit: Option<Val<'c>>,
    /// The states before the first step.
    pub(crate) states: Vec<Val<'c>>,
    /// Values that each step sees a slice of.
    pub(crate) sequences: Vec<(Val<'c>, Way)>,
    /// States and those of their dimensions that change from step to step.
    pub(crate) changing: Vec<(usize, usize)>,
}

/// Results of a step.
pub(crate) struct StepEnd<'c> {
    /// The states of the next step.
    pub(crate) states: Vec<Val<'c>>,
    /// The slices that are collected.
    pub(crate) slices: Vec<(Val<'c>, Way)>,
}

/// A loop whose body is being emitted.
pub(crate) struct LoopBody<'c> {
    start: LoopStart<'c>,
    region: Region<'c>,
    /// Block arguments of the body: the states, then the slices of the sequences.
    pub(crate) arguments: Vec<Val<'c>>,
}

impl<'c> LoopBody<'c> {
    /// An empty body, and an emitter into it.
    pub(crate) fn new(outer: &Emitter<'c>, start: LoopStart<'c>) -> (Self, Emitter<'c>) {
        let builder = outer.builder();
        let slices = start.sequences.iter().map(|(value, way)| {
            let mut dims = ir::dims(value.r#type());
            dims.remove(way.axis);
            builder.tensor(&dims, ir::element_type(value.r#type()))
        });
        let states = start.states.iter().enumerate().map(|(index, value)| {
            let changing = start.changing.iter().filter(|(state, _)| *state == index);
            let mut dims = ir::dims(value.r#type());
            let mut is_open = false;
            for (_, axis) in changing {
                dims[*axis] = DYNAMIC;
                is_open = true;
            }
            match is_open {
                true => builder.tensor(&dims, ir::element_type(value.r#type())),
                false => value.r#type(),
            }
        });
        let types: Vec<Type<'c>> = states.chain(slices).collect();
        let slots: Vec<_> = types.iter().map(|ty| (*ty, builder.location)).collect();
        let region = Region::new();
        let block = edit::append_block(&region, &slots);
        let inner = outer.inside(Builder::at_end(builder.context, block, builder.location));
        let arguments = edit::arguments(block);
        (Self { start, region, arguments }, inner)
    }

    /// Ends the body, and puts the loop where `outer` emits. The results are the last states, then
    /// what was collected.
    pub(crate) fn finish(
        self,
        outer: &Emitter<'c>,
        inner: &Emitter<'c>,
        end: &StepEnd<'c>,
    ) -> OpResult<Vec<Val<'c>>> {
        let values: Vec<_> =
            end.states.iter().copied().chain(end.slices.iter().map(|(slice, _)| *slice)).collect();
        graph::Yield::build(inner.builder(), &values, &[])?;
        let LoopStart { steps, limit, states, sequences, .. } = self.start;
        let captured = inner.captured();
        let groups = [states.len(), sequences.len(), captured.len(), usize::from(limit.is_some())];
        let operands: Vec<_> = states
            .into_iter()
            .chain(sequences.iter().map(|(sequence, _)| *sequence))
            .chain(captured)
            .chain(limit)
            .collect();
        let (read, written): (Vec<Way>, Vec<Way>) = (
            sequences.iter().map(|(_, way)| *way).collect(),
            end.slices.iter().map(|(_, way)| *way).collect(),
        );
        let attributes = [
            ("steps", Attr::Int(steps)),
            ("input_axes", list(&read, |way| way.axis as i64)),
            ("input_reversed", list(&read, |way| way.reversed.into())),
            ("output_axes", list(&written, |way| way.axis as i64)),
            ("output_reversed", list(&written, |way| way.reversed.into())),
        ];
        outer.op_with_region("scan", (&operands, &groups), &attributes, self.region)
    }
}

/// An attribute with a number for each sequence; an empty list stands for zeros.
fn list<'c>(ways: &[Way], number: impl Fn(&Way) -> i64) -> Attr<'c> {
    let numbers: Vec<i64> = ways.iter().map(number).collect();
    Attr::Ints(if numbers.iter().all(|number| *number == 0) { vec![] } else { numbers })
}
