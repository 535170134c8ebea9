//! Sequential loops and branches on tensors, for ops whose order of effects matters.

use super::generic::region;
use crate::{
    Result,
    ir::{self, Builder, OpSpec, Val, edit},
};
use melior::ir::{Attribute, ValueLike};

/// Builder of a loop body: it gets the loops' indices and the state, and returns the new state.
pub type Body<'c, 's> =
    Box<dyn FnOnce(&Builder<'c>, &[Val<'c>], &[Val<'c>]) -> Result<Vec<Val<'c>>> + 's>;

/// Half-open bounds of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'c> {
    /// The first index.
    pub from: Val<'c>,
    /// The index behind the last one.
    pub to: Val<'c>,
}

/// `scf.for` from 0 to `count` (an index), which carries `state` along.
pub fn count_to<'c>(
    b: &Builder<'c>,
    count: Val<'c>,
    state: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, Val<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    count_between(b, Bounds { from: b.index(0)?, to: count }, state, body)
}

/// `scf.for` between two indices, which carries `state` along.
pub fn count_between<'c>(
    b: &Builder<'c>,
    bounds: Bounds<'c>,
    state: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, Val<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let types: Vec<_> = state.iter().map(|value| value.r#type()).collect();
    let mut arguments = vec![b.index_type()];
    arguments.extend(&types);
    let region = region(b, &arguments, |b, arguments| {
        let operands = body(b, arguments[0], &arguments[1..])?;
        b.create("scf.yield", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let mut operands = vec![bounds.from, bounds.to, b.index(1)?];
    operands.extend(state);
    let spec = OpSpec {
        operands: &operands,
        results: &types,
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::results(b.create("scf.for", spec)?))
}

/// Loops over all positions of a tensor of shape `dims` in row-major order.
pub fn nest<'c, 's>(
    b: &Builder<'c>,
    dims: &[i64],
    state: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>], &[Val<'c>]) -> Result<Vec<Val<'c>>> + 's,
) -> Result<Vec<Val<'c>>> {
    nest_from(b, dims, vec![], state, Box::new(body))
}

/// The same where no position sees what another one writes: the loops can be tasks of several threads.
pub fn independent<'c, 's>(
    b: &Builder<'c>,
    dims: &[i64],
    state: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>], &[Val<'c>]) -> Result<Vec<Val<'c>>> + 's,
) -> Result<Vec<Val<'c>>> {
    let results = nest_from(b, dims, vec![], state, Box::new(body))?;
    let mut outermost = results.first().and_then(|result| edit::defining_op(*result));
    for _ in dims {
        let Some(repeat) = outermost.filter(|op| ir::op_name(*op) == "scf.for") else { break };
        edit::set_attr(repeat, INDEPENDENT, Attribute::unit(b.context));
        let yielded = edit::entry_block(repeat).and_then(|block| ir::ops(block).pop());
        let inner = yielded.and_then(|op| ir::operands(op).first().copied());
        outermost = inner.and_then(edit::defining_op);
    }
    Ok(results)
}

/// Marks a loop whose iterations do not see what others write.
pub const INDEPENDENT: &str = "independent";
/// Marks a loop that is better off in a function of its own, where buffers are known not to alias.
pub const ALONE: &str = "alone";

/// Marks the loop that gives these results so.
pub fn alone(results: &[Val<'_>]) {
    let repeat = results.first().and_then(|result| edit::defining_op(*result));
    if let Some(repeat) = repeat.filter(|op| ir::op_name(*op) == "scf.for") {
        edit::set_attr(repeat, ALONE, Attribute::unit(ir::context_of(repeat)));
    }
}

/// `scf.while`: as long as `condition` holds of the state, `body` makes the next one.
pub fn while_holds<'c>(
    b: &Builder<'c>,
    state: &[Val<'c>],
    condition: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let types: Vec<_> = state.iter().map(|value| value.r#type()).collect();
    let before = region(b, &types, |b, state| {
        let operands = [&[condition(b, state)?], state].concat();
        b.create("scf.condition", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let after = region(b, &types, |b, state| {
        let operands = body(b, state)?;
        b.create("scf.yield", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let regions = vec![before, after];
    let spec = OpSpec { operands: state, results: &types, regions, ..Default::default() };
    Ok(ir::results(b.create("scf.while", spec)?))
}

fn nest_from<'c>(
    b: &Builder<'c>,
    dims: &[i64],
    indices: Vec<Val<'c>>,
    state: &[Val<'c>],
    body: Body<'c, '_>,
) -> Result<Vec<Val<'c>>> {
    let Some((first, rest)) = dims.split_first() else {
        return body(b, &indices, state);
    };
    let count = b.index(*first)?;
    count_to(b, count, state, |b, index, state| {
        let mut indices = indices;
        indices.push(index);
        nest_from(b, rest, indices, state, body)
    })
}

/// `scf.if`: the new state when `condition` holds, else `state` as it is.
pub fn when<'c>(
    b: &Builder<'c>,
    condition: Val<'c>,
    state: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let types: Vec<_> = state.iter().map(|value| value.r#type()).collect();
    let yes = region(b, &[], |b, _| {
        let operands = body(b)?;
        b.create("scf.yield", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let no = region(b, &[], |b, _| {
        b.create("scf.yield", OpSpec { operands: state, ..Default::default() })?;
        Ok(())
    })?;
    let spec = OpSpec {
        operands: &[condition],
        results: &types,
        regions: vec![yes, no],
        ..Default::default()
    };
    Ok(ir::results(b.create("scf.if", spec)?))
}

/// `tensor.insert`: the tensor with one element replaced.
pub fn insert<'c>(
    b: &Builder<'c>,
    element: Val<'c>,
    tensor: Val<'c>,
    indices: &[Val<'c>],
) -> Result<Val<'c>> {
    let mut operands = vec![element, tensor];
    operands.extend(indices);
    b.op1("tensor.insert", &operands, tensor.r#type())
}
