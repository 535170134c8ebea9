//! Loops of at most so many steps that are made around operations.

use crate::{
    Result,
    ir::{self, Builder, OpSpec, Val, edit, graph},
};
use melior::ir::{Region, Type, ValueLike, attribute::DenseI32ArrayAttribute};

/// The parts of a `graph.scan` without sequences.
pub(super) struct Body<'a, 'c> {
    pub steps: i64,
    /// The number of steps that run, a scalar i64.
    pub limit: Val<'c>,
    pub states: &'a [Val<'c>],
    pub captured: &'a [Val<'c>],
    /// The axis of the steps in each collected result.
    pub axes: &'a [i64],
}

impl<'c> Body<'_, 'c> {
    /// The loop. `step` is given states and captured values, and gives the next states and what is collected.
    pub fn build(
        &self,
        b: &Builder<'c>,
        step: impl FnOnce(&Builder<'c>, &[Val<'c>], &[Val<'c>]) -> Result<(Vec<Val<'c>>, Vec<Val<'c>>)>,
    ) -> Result<Vec<Val<'c>>> {
        let region = Region::new();
        let given = [self.states, self.captured].concat();
        let slots: Vec<_> = given.iter().map(|value| (value.r#type(), b.location)).collect();
        let block = edit::append_block(&region, &slots);
        let inner = Builder::at_end(b.context, block, b.location);
        let arguments = edit::arguments(block);
        let (states, captured) = arguments.split_at(self.states.len());
        let (next, slices) = step(&inner, states, captured)?;
        graph::Yield::build(&inner, &[&next[..], &slices].concat(), &[])?;
        let collected = slices.iter().zip(self.axes).map(|(slice, axis)| {
            let mut dims = ir::dims(slice.r#type());
            dims.insert(*axis as usize, self.steps);
            b.tensor(&dims, ir::element_type(slice.r#type()))
        });
        let types: Vec<_> = next.iter().map(|value| value.r#type()).chain(collected).collect();
        scan(b, self, region, &types)
    }
}

/// A loop over a region that is there.
pub(super) fn scan<'c>(
    b: &Builder<'c>,
    parts: &Body<'_, 'c>,
    region: Region<'c>,
    types: &[Type<'c>],
) -> Result<Vec<Val<'c>>> {
    let groups = [parts.states.len(), 0, parts.captured.len(), 1].map(|count| count as i32);
    let operands = [parts.states, parts.captured, &[parts.limit]].concat();
    let none = b.i64s_attr(&[]);
    let is_zero = parts.axes.iter().all(|axis| *axis == 0);
    let axes = if is_zero { none } else { b.i64s_attr(parts.axes) };
    let spec = OpSpec {
        operands: &operands,
        results: types,
        attributes: vec![
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &groups).into()),
            ("steps", b.i64_attr(parts.steps)),
            ("input_axes", none),
            ("input_reversed", none),
            ("output_axes", axes),
            ("output_reversed", none),
        ],
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::results(b.create(graph::Scan::NAME, spec)?))
}
