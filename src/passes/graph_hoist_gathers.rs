//! `graph-hoist-gathers`: rows are gathered before what is computed of each element, not after it.
//!
//! ```text
//! %f = graph.cast %table                    %g = graph.gather %table, %i
//! %y = graph.gather %f, %i           -->    %y = graph.cast %g
//! ```
//! A table of embeddings in halves or bytes would become one of floats in each run, of which a few rows are read. What
//! else such an operation reads is gathered with the table where it has that many rows, such as a scale for each.

use crate::{
    Result,
    ir::{
        self, Builder, Op, Val,
        constant::index_list,
        edit,
        graph::{self, DequantizeLinear, GatherAttrs, ReshapeAttrs},
        view::{self, OpView},
    },
    lower::normalize_axis,
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::ValueLike;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-hoist-gathers",
    summary: "Gather rows before elementwise operations, not after them",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let ops = edit::entry_block(function).map(ir::ops).unwrap_or_default();
    let mut open: Vec<_> = ops.into_iter().filter_map(graph::Gather::of).collect();
    // What was hoisted may be hoisted further.
    while let Some(gather) = open.pop() {
        let op = gather.op();
        let Some(hoist) = Hoist::of(gather) else { continue };
        open.extend(hoist.apply().map_err(|error| PassError::at(&op, error))?);
    }
    Ok(())
}

/// A gather that can change places with the operation before it.
struct Hoist<'c> {
    gather: graph::Gather<'c>,
    before: Op<'c>,
    /// The axis of each operand of `before` that is gathered along; none of those that stay as they are.
    axes: Vec<Option<i64>>,
    /// The sizes of what is gathered of, and its axis.
    dims: Vec<i64>,
    axis: usize,
}

impl<'c> Hoist<'c> {
    fn of(gather: graph::Gather<'c>) -> Option<Self> {
        let x = gather.x();
        let before = edit::defining_op(x).filter(|op| ir::results(*op).len() == 1)?;
        let sizes = |value: Val<'c>| ir::static_dims(value.r#type());
        let (dims, _, results) = (sizes(x)?, sizes(gather.indices())?, sizes(gather.y())?);
        let is_alone = ir::users(x).len() == 1 && gather.indices() != x;
        // Where more are gathered than there are, each is better computed once.
        let is_less = results.iter().product::<i64>() <= dims.iter().product();
        let axis = normalize_axis(gather.axis(), dims.len());
        if !is_alone || !is_less || dims.get(axis).is_none_or(|size| *size < 2) {
            return None;
        }
        let axes = match DequantizeLinear::of(before) {
            Some(op) => of_dequantization(op, axis, dims.len())?,
            None if view::is_elementwise(before) => ir::operands(before)
                .into_iter()
                .map(|operand| of_operand(operand, axis, &dims))
                .collect::<Option<_>>()?,
            None => return None,
        };
        let is_gathered = axes.iter().any(Option::is_some);
        is_gathered.then_some(Self { gather, before, axes, dims, axis })
    }

    /// The gathers that take its place.
    fn apply(self) -> Result<Vec<graph::Gather<'c>>> {
        let b = Builder::before(self.gather.op())?;
        let [indices, y] = [self.gather.indices(), self.gather.y()];
        let places = ir::dims(indices.r#type());
        let count = places.iter().product();
        // Along one list of places no dimension moves, so that the operands still belong together.
        let list = if places.len() == 1 { indices } else { reshape(&b, indices, &[count])? };
        let copy = edit::clone_before(self.before, self.gather.op());
        let mut made = vec![];
        for (index, axis) in self.axes.iter().enumerate() {
            let Some(axis) = *axis else { continue };
            let at = Builder::before(copy)?;
            let operand = ir::operands(copy)[index];
            let gather = graph::Gather::build(&at, operand, list, GatherAttrs { axis })?;
            edit::set_operand(copy, index, gather.y())?;
            made.push(gather);
        }
        let mut dims = self.dims;
        dims[self.axis] = count;
        let result = ir::result0(copy)?;
        let element = ir::element_type(result.r#type());
        edit::set_type(result, b.tensor(&dims, element));
        let shaped = match places.len() {
            1 => result,
            _ => reshape(&b, result, &ir::dims(y.r#type()))?,
        };
        edit::replace_uses(y, shaped);
        edit::erase(self.gather.op());
        edit::erase(self.before);
        Ok(made)
    }
}

fn reshape<'c>(b: &Builder<'c>, x: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
    let shape = index_list(b, dims)?;
    Ok(graph::Reshape::build(b, x, shape, ReshapeAttrs { allowzero: true })?.y())
}

/// How an operand that broadcasts is gathered along an axis of the result; `None` if that is not known.
fn of_operand(operand: Val<'_>, axis: usize, dims: &[i64]) -> Option<Option<i64>> {
    let own = ir::static_dims(operand.r#type())?;
    // Dimensions belong together from the last one on.
    let Some(at) = (axis + own.len()).checked_sub(dims.len()) else { return Some(None) };
    match own[at] {
        1 => Some(None),
        size => (size == dims[axis]).then_some(Some(at as i64)),
    }
}

fn of_dequantization(op: DequantizeLinear<'_>, axis: usize, rank: usize) -> Option<Vec<Option<i64>>> {
    if op.block_size() != 0 {
        return None;
    }
    let of_parameter = |value: &Val<'_>| {
        let dims = ir::static_dims(value.r#type())?;
        let is_one = dims.iter().all(|dim| *dim == 1);
        let along = normalize_axis(op.axis(), rank) == axis;
        Some((!is_one && along).then_some(0))
    };
    let parameters = ir::operands(op.op());
    std::iter::once(Some(Some(axis as i64)))
        .chain(parameters[1..].iter().map(of_parameter))
        .collect()
}
