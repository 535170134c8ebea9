//! `hoist-gathers`: rows are gathered before elementwise operations, not after them.
//!
//! ```text
//! %f = graph.cast %table                    %g = graph.gather %table, %i
//! %y = graph.gather %f, %i           -->    %y = graph.cast %g
//! ```
//! A table of embeddings in halves or bytes would become one of floats in each run, of which a few
//! rows are read. Other operands of such an operation are gathered with the table where they have
//! that many rows, such as a scale for each.

use crate::{
    Result,
    ir::{
        self, Builder, Op, Val,
        constant::index_list,
        edit,
        graph::{self, DequantizeLinear, GatherAttrs, ReshapeAttrs},
        rewrite::{Rewriter, Rule},
        view::{self, OpView},
    },
    lower::normalize_axis,
};
use melior::ir::ValueLike;

/// The rule.
pub const RULE: Rule = Rule { name: "hoist-gathers", root: graph::Gather::NAME, benefit: 1, apply };

fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let hoist = graph::Gather::of(op).and_then(Hoist::of);
    hoist.map_or(Ok(false), |hoist| hoist.apply(r))
}

/// A gather that can change places with the operation before it.
struct Hoist<'c> {
    gather: graph::Gather<'c>,
    before: Op<'c>,
    /// The axis of each operand of `before` that is gathered along; none of those that stay as they are.
    axes: Vec<Option<i64>>,
    /// The sizes of the gathered value, and the axis.
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

    /// Puts gathers of the operands in its place.
    fn apply(self, r: &mut Rewriter<'_, 'c>) -> Result<bool> {
        let b = r.before(self.gather.op())?;
        let [indices, y] = [self.gather.indices(), self.gather.y()];
        let places = ir::dims(indices.r#type());
        let count = places.iter().product();
        // Along one list of places no dimension moves, so that the operands still belong together.
        let list = if places.len() == 1 { indices } else { reshape(&b, indices, &[count])? };
        let copy = b.insert_clone(self.before);
        for (index, axis) in self.axes.iter().enumerate() {
            let Some(axis) = *axis else { continue };
            let at = r.before(copy)?;
            let operand = ir::operands(copy)[index];
            let gather = graph::Gather::build(&at, operand, list, GatherAttrs { axis })?;
            r.retype_operand(copy, index, gather.y())?;
        }
        let mut dims = self.dims;
        dims[self.axis] = count;
        let result = ir::result0(copy)?;
        let element = ir::element_type(result.r#type());
        r.set_type(result, b.tensor(&dims, element));
        let shaped = match places.len() {
            1 => result,
            _ => reshape(&b, result, &ir::dims(y.r#type()))?,
        };
        r.retype_uses(y, shaped);
        r.erase(self.gather.op())?;
        r.erase(self.before)?;
        Ok(true)
    }
}

fn reshape<'c>(b: &Builder<'c>, x: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
    let shape = index_list(b, dims)?;
    Ok(graph::Reshape::build(b, x, shape, ReshapeAttrs { allowzero: true })?.y())
}

/// Axis along which an operand is gathered for an axis of the result; `Some(None)` if the operand
/// broadcasts there, and `None` if it is not known.
fn of_operand(operand: Val<'_>, axis: usize, dims: &[i64]) -> Option<Option<i64>> {
    let own = ir::static_dims(operand.r#type())?;
    // Dimensions belong together from the last one on.
    let Some(at) = (axis + own.len()).checked_sub(dims.len()) else { return Some(None) };
    match own[at] {
        1 => Some(None),
        size => (size == dims[axis]).then_some(Some(at as i64)),
    }
}

fn of_dequantization(
    op: DequantizeLinear<'_>,
    axis: usize,
    rank: usize,
) -> Option<Vec<Option<i64>>> {
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
