//! Writes the patches of a region.

use super::{
    access::{Access, Part, Span},
    choose::Choice,
    network::{Network, Step},
    region::Needs,
};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, constant::index_list, edit, graph, view::OpView},
};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;

/// The patches under way.
struct Emit<'n, 'c> {
    network: &'n Network<'c>,
    choice: &'n Choice,
    builder: Builder<'c>,
}

/// Puts patches in the place of a region.
pub fn emit(network: &Network<'_>, choice: &Choice) -> Result<()> {
    let region = &choice.region;
    let last = network.steps[region.steps.end - 1].op;
    let emit = Emit { network, choice, builder: Builder::before(last)? };
    let mut parts = vec![];
    for patch in region.patches(network, &choice.grid) {
        parts.push(emit.patch(&patch)?);
    }
    for (axis, count) in choice.grid.iter().rev() {
        let rows = parts.chunks(usize::try_from(*count).unwrap_or(1));
        parts = rows.map(|row| emit.join(row, *axis)).collect::<Result<_>>()?;
    }
    let [whole] = parts[..] else { return Err(Error::internal("patches that are not joined")) };
    edit::replace_uses(network.values[region.end].value, whole);
    for step in network.steps[region.steps.clone()].iter().rev() {
        let mut operands: Vec<Val<'_>> = vec![];
        for value in ir::operands(step.op) {
            if !operands.contains(&value) {
                operands.push(value);
            }
        }
        edit::erase(step.op);
        operands.into_iter().for_each(erase_unused);
    }
    Ok(())
}

/// Removes what computed a constant that nothing reads any more.
fn erase_unused(value: Val<'_>) {
    let Some(maker) = edit::defining_op(value) else { return };
    let operands = ir::operands(maker);
    let constant = |value: &Val<'_>| {
        edit::defining_op(*value).is_some_and(|op| ir::op_name(op) == graph::Constant::NAME)
    };
    if operands.iter().all(constant) && ir::users_of(maker).is_empty() {
        edit::erase(maker);
    }
}

impl<'c> Emit<'_, 'c> {
    /// One patch: its part of the region's result.
    fn patch(&self, patch: &[Span]) -> Result<Val<'c>> {
        let region = &self.choice.region;
        let needs = region
            .needs(self.network, &self.choice.grid, patch)
            .ok_or_else(|| Error::internal("a patch without operands"))?;
        let mut made: HashMap<usize, Val<'c>> = HashMap::new();
        for step in &self.network.steps[region.steps.clone()] {
            let result = step.results[0];
            if needs.contains_key(&result) {
                let value = self.step(step, &needs, &mut made)?;
                made.insert(result, value);
            }
        }
        made.get(&region.end).copied().ok_or_else(|| Error::internal("a patch without a result"))
    }

    /// An operation for one patch.
    fn step(
        &self,
        step: &Step<'c>,
        needs: &Needs,
        made: &mut HashMap<usize, Val<'c>>,
    ) -> Result<Val<'c>> {
        let result = step.results[0];
        let need = &needs[&result];
        let out = &self.network.values[result].dims;
        let mut operands = vec![];
        let mut pads = vec![];
        for (value, access) in &step.operands {
            let dims = &self.network.values[*value].dims;
            let mut parts: Vec<(usize, Option<Part>)> = vec![];
            for ((axis, _), need) in self.choice.grid.iter().zip(need) {
                let part = access.part(*axis, dims, out[*axis], *need);
                parts.push((*axis, part.map_err(|()| Error::internal("a patch of padding"))?));
            }
            operands.push(self.operand(*value, access, &parts, needs, made)?);
            if matches!(access, Access::Windows(_)) {
                pads = parts;
            }
        }
        let clone = self.builder.with_location(ir::location_of(self.network.values[result].value));
        let op = clone.insert_clone(step.op);
        edit::replace_operands(op, &operands);
        self.set_pads(op, &pads)?;
        let own = ir::result0(op)?;
        edit::set_type(own, self.cut(result, need));
        Ok(own)
    }

    /// The type of a part of a value.
    fn cut(&self, value: usize, spans: &[Span]) -> Type<'c> {
        let it = &self.network.values[value];
        let mut dims = it.dims.clone();
        for ((axis, _), span) in self.choice.grid.iter().zip(spans) {
            dims[*axis] = span.len();
        }
        self.builder.tensor(&dims, ir::element_type(it.value.r#type()))
    }

    /// The part of a value that an operation reads.
    fn operand(
        &self,
        value: usize,
        access: &Access,
        parts: &[(usize, Option<Part>)],
        needs: &Needs,
        made: &HashMap<usize, Val<'c>>,
    ) -> Result<Val<'c>> {
        let it = &self.network.values[value];
        let source = match made.get(&value) {
            Some(made) => *made,
            None if it.constant => self.constant(it.value)?,
            None => it.value,
        };
        let missing = if let Access::Same(missing) = access { *missing } else { 0 };
        let (mut axes, mut starts, mut ends) = (vec![], vec![], vec![]);
        for (place, (axis, part)) in parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let own = axis - missing;
            let there = match needs.get(&value).filter(|_| made.contains_key(&value)) {
                Some(spans) => spans[place],
                None => Span { start: 0, end: it.dims[own] },
            };
            if there != part.span {
                axes.push(own as i64);
                starts.push(part.span.start - there.start);
                ends.push(part.span.end - there.start);
            }
        }
        if axes.is_empty() {
            return Ok(source);
        }
        let list = |values: &[i64]| index_list(&self.builder, values);
        let (starts, ends, axes) = (list(&starts)?, list(&ends)?, list(&axes)?);
        Ok(graph::Slice::build(&self.builder, source, starts, ends, Some(axes), None)?.y())
    }

    /// A constant, or what computes it once more: patterns have dequantized weights for themselves.
    fn constant(&self, value: Val<'c>) -> Result<Val<'c>> {
        let maker = edit::defining_op(value).filter(|op| ir::op_name(*op) != graph::Constant::NAME);
        let Some(maker) = maker else { return Ok(value) };
        let operands: Vec<_> = ir::operands(maker)
            .into_iter()
            .map(|operand| self.constant(operand))
            .collect::<Result<_>>()?;
        let copy = self.builder.with_location(ir::location_of(value)).insert_clone(maker);
        edit::replace_operands(copy, &operands);
        let place = ir::results(maker).iter().position(|result| *result == value);
        Ok(ir::results(copy)[place.unwrap_or_default()])
    }

    /// Gives an operation the padding that a patch has.
    fn set_pads(&self, op: Op<'c>, parts: &[(usize, Option<Part>)]) -> Result<()> {
        let cut = parts.iter().filter_map(|(axis, part)| Some((*axis, part.as_ref()?.pads)));
        if let Some(pad) = graph::Pad::of(op) {
            let rank = ir::dims(pad.y().r#type()).len();
            let axes = pad.axes().and_then(super::network::ints);
            let axes = axes.unwrap_or_else(|| (0..rank as i64).collect());
            let mut amounts = super::network::ints(pad.pads()).unwrap_or_default();
            for (axis, (begin, end)) in cut {
                let own = |a: &i64| crate::lower::normalize_axis(*a, rank) == axis;
                let Some(place) = axes.iter().position(own) else { continue };
                (amounts[place], amounts[axes.len() + place]) = (begin, end);
            }
            return edit::set_operand(op, 1, index_list(&Builder::before(op)?, &amounts)?);
        }
        let mut cut = cut.peekable();
        if cut.peek().is_none() {
            return Ok(());
        }
        let spatial = ir::dims(ir::result0(op)?.r#type()).len() - 2;
        let mut pads = ir::attr_i64s(op, "pads").unwrap_or_default();
        pads.resize(2 * spatial, 0);
        for (axis, (begin, end)) in cut {
            (pads[axis - 2], pads[spatial + axis - 2]) = (begin, end);
        }
        edit::set_attr(op, "pads", self.builder.i64s_attr(&pads));
        Ok(())
    }

    /// Patches next to each other along an axis.
    fn join(&self, parts: &[Val<'c>], axis: usize) -> Result<Val<'c>> {
        Ok(graph::Concat::build(&self.builder, parts, axis as i64)?.y())
    }
}
