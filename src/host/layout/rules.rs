//! Ops other than convolutions and pools, which mean the same in any layout.

use super::{Layout, axis_in_nhwc, image_dims, int_list, permuted_type, to_nhwc};
use crate::{
    Result,
    ir::{
        self, Builder, Op, Val,
        constant::Elements,
        edit, graph, op_name,
        view::{OpView, is_elementwise},
    },
    lower::normalize_axis,
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};

/// Rewrite of an op: operands, and attributes that change.
struct Rewrite<'c> {
    operands: Vec<Val<'c>>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
    /// True if the result loses the spatial dimensions, and with them the layout.
    drops_layout: bool,
}

/// Moves an op to NHWC when that makes sense.
pub(super) fn follow<'c>(layout: &mut Layout<'c>, op: Op<'c>) -> Result<()> {
    let name = op_name(op);
    let Some(mnemonic) = name.strip_prefix("graph.") else { return Ok(()) };
    let known = is_elementwise(op) || RULES.iter().any(|(rule, _)| *rule == mnemonic);
    let images = ir::results(op)
        .iter()
        .all(|result| image_dims(*result).is_some() || mnemonic.starts_with("reduce_"));
    if !known || !images || !pays(layout, op) {
        return Ok(());
    }
    let b = Builder::before(op)?;
    let rewrite = match RULES.iter().find(|(rule, _)| *rule == mnemonic) {
        Some((_, rule)) => rule(layout, &b, op)?,
        None => elementwise(layout, &b, op)?,
    };
    if let Some(rewrite) = rewrite {
        apply(layout, &b, op, &rewrite)?;
    }
    Ok(())
}

/// True if at least half of what the op reads, constants aside, is NHWC already. False if an
/// operand has no static shape.
fn pays<'c>(layout: &Layout<'c>, op: Op<'c>) -> bool {
    let (mut ready, mut other) = (0.0, 0.0);
    for operand in ir::operands(op) {
        let Some(dims) = ir::static_dims(operand.r#type()) else { return false };
        // Products of large sizes leave the range of integers.
        let size: f64 = dims.into_iter().map(|dim| dim as f64).product();
        if layout.is_nhwc(operand) {
            ready += size;
        } else if Elements::of_value(operand).is_none() {
            other += size;
        }
    }
    ready > 0.0 && ready >= other
}

fn apply<'c>(
    layout: &mut Layout<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    rewrite: &Rewrite<'c>,
) -> Result<()> {
    let clone = b.insert_clone(op);
    for (index, operand) in rewrite.operands.iter().enumerate() {
        edit::set_operand(clone, index, *operand)?;
    }
    for (name, value) in &rewrite.attributes {
        edit::set_attr(clone, name, *value);
    }
    for (old, new) in ir::results(op).into_iter().zip(ir::results(clone)) {
        if rewrite.drops_layout {
            edit::replace_uses(old, new);
            continue;
        }
        let ty = permuted_type(old.r#type(), &to_nhwc(ir::dims(old.r#type()).len()));
        edit::set_type(new, ty);
        layout.replace(b, old, new)?;
    }
    edit::erase(op);
    Ok(())
}

type Rule = for<'c> fn(&mut Layout<'c>, &Builder<'c>, Op<'c>) -> Result<Option<Rewrite<'c>>>;

const RULES: &[(&str, Rule)] = &[
    ("concat", along_axis),
    ("dequantize_linear", quantization),
    ("log_softmax", along_axis),
    ("lookup", lookup),
    ("pad", pad),
    ("quantize_linear", quantization),
    ("reduce_l1", reduce),
    ("reduce_l2", reduce),
    ("reduce_log_sum", reduce),
    ("reduce_log_sum_exp", reduce),
    ("reduce_max", reduce),
    ("reduce_mean", reduce),
    ("reduce_min", reduce),
    ("reduce_prod", reduce),
    ("reduce_sum", reduce),
    ("reduce_sum_square", reduce),
    ("resize", resize),
    ("slice", slice),
    ("softmax", along_axis),
    ("split", along_axis),
];

fn elementwise<'c>(
    layout: &mut Layout<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Result<Option<Rewrite<'c>>> {
    let rank = ir::dims(ir::result0(op)?.r#type()).len();
    let mut operands = vec![];
    for operand in ir::operands(op) {
        let dims = ir::dims(operand.r#type());
        operands.push(if dims.is_empty() {
            operand
        } else if Elements::of_value(operand).is_some() {
            let Some(constant) = layout.constant(b, operand, rank)? else { return Ok(None) };
            constant
        } else if dims.len() == rank && image_dims(operand).is_some() {
            layout.nhwc(b, operand)?
        } else {
            return Ok(None);
        });
    }
    Ok(Some(Rewrite { operands, attributes: vec![], drops_layout: false }))
}

/// A table has no layout.
fn lookup<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Option<Rewrite<'c>>> {
    let Some(lookup) = graph::Lookup::of(op) else { return Ok(None) };
    let operands = vec![layout.nhwc(b, lookup.x())?, lookup.table()];
    Ok(Some(Rewrite { operands, attributes: vec![], drops_layout: false }))
}

fn all_nhwc<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Vec<Val<'c>>> {
    ir::operands(op).into_iter().map(|operand| layout.nhwc(b, operand)).collect()
}

fn along_axis<'c>(
    layout: &mut Layout<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Result<Option<Rewrite<'c>>> {
    if ir::operands(op).iter().any(|operand| image_dims(*operand).is_none()) {
        return Ok(None);
    }
    let default = if op_name(op).ends_with("softmax") { -1 } else { 0 };
    let axis = axis_of(b, op, default);
    let attributes = vec![("axis", axis)];
    Ok(Some(Rewrite { operands: all_nhwc(layout, b, op)?, attributes, drops_layout: false }))
}

/// The attribute `axis` of an op on an image, for NHWC.
fn axis_of<'c>(b: &Builder<'c>, op: Op<'c>, default: i64) -> Attribute<'c> {
    let rank = ir::operands(op).first().map_or(0, |x| ir::dims(x.r#type()).len());
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(default), rank);
    b.i64_attr(axis_in_nhwc(axis, rank))
}

/// Parameters are one for all, or lie along one axis.
fn quantization<'c>(
    layout: &mut Layout<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Result<Option<Rewrite<'c>>> {
    let mut operands = ir::operands(op);
    let lists = operands[1..].iter().all(|value| ir::dims(value.r#type()).len() <= 1);
    if image_dims(operands[0]).is_none() || !lists || ir::attr_i64(op, "block_size") > Some(0) {
        return Ok(None);
    }
    let attributes = vec![("axis", axis_of(b, op, 1))];
    operands[0] = layout.nhwc(b, operands[0])?;
    Ok(Some(Rewrite { operands, attributes, drops_layout: false }))
}

fn reduce<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Option<Rewrite<'c>>> {
    let Some(rank) = ir::operands(op).first().and_then(|x| image_dims(*x)).map(|dims| dims.len())
    else {
        return Ok(None);
    };
    let mut axes: Vec<_> = ir::attr_i64s(op, "axes")
        .unwrap_or_default()
        .iter()
        .map(|axis| normalize_axis(*axis, rank))
        .collect();
    let keeps = ir::attr_bool(op, "keepdims").unwrap_or(true);
    axes.sort_unstable();
    if !keeps && !axes.iter().copied().eq(2..rank) {
        return Ok(None);
    }
    let axes: Vec<i64> = axes.iter().map(|axis| axis_in_nhwc(*axis, rank)).collect();
    let attributes = vec![("axes", b.i64s_attr(&axes))];
    Ok(Some(Rewrite { operands: all_nhwc(layout, b, op)?, attributes, drops_layout: !keeps }))
}

/// Puts a constant list with one entry per dimension into the order of NHWC.
fn permuted_list<'c>(b: &Builder<'c>, list: Val<'c>, rank: usize) -> Result<Option<Val<'c>>> {
    let perm = to_nhwc(rank);
    let Some(elements) = Elements::of_value(list) else { return Ok(None) };
    if ir::is_float(list.r#type()) {
        let values = elements.floats();
        if values.len() != rank {
            return Ok(None);
        }
        let moved = perm.iter().map(|axis| values[*axis as usize] as f32).collect();
        return crate::host::kernel::weights::constant(b, &[rank as i64], moved, "nhwc_scales")
            .map(Some);
    }
    let values = elements.ints();
    if values.is_empty() || values.len() % rank != 0 {
        return Ok(None);
    }
    let moved: Vec<i64> =
        values.chunks(rank).flat_map(|part| perm.iter().map(|axis| part[*axis as usize])).collect();
    int_list(b, &moved).map(Some)
}

/// Rewrites an op whose first operand is an image, and whose `list` has an entry per dimension.
fn with_list<'c>(
    layout: &mut Layout<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    list: usize,
) -> Result<Option<Rewrite<'c>>> {
    let mut operands = ir::operands(op);
    if image_dims(operands[0]).is_none() || list >= operands.len() {
        return Ok(None);
    }
    let rank = ir::dims(operands[0].r#type()).len();
    let Some(moved) = permuted_list(b, operands[list], rank)? else { return Ok(None) };
    if moved.r#type() != operands[list].r#type() {
        return Ok(None);
    }
    operands[0] = layout.nhwc(b, operands[0])?;
    operands[list] = moved;
    Ok(Some(Rewrite { operands, attributes: vec![], drops_layout: false }))
}

fn pad<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Option<Rewrite<'c>>> {
    // The operand `axes` says which dimensions the list is about.
    let about_all = graph::Pad::of(op).is_some_and(|pad| {
        let rank = ir::dims(pad.x().r#type()).len() as i64;
        ir::dims(pad.pads().r#type()) == [2 * rank] && pad.axes().is_none()
    });
    if about_all { with_list(layout, b, op, 1) } else { Ok(None) }
}

fn resize<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Option<Rewrite<'c>>> {
    let plain = graph::Resize::of(op).is_some_and(|resize| {
        resize.axes().is_empty()
            && op.operand_count() == 2
            && resize.coordinate_transformation_mode() != "tf_crop_and_resize"
    });
    if plain { with_list(layout, b, op, 1) } else { Ok(None) }
}

fn slice<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Option<Rewrite<'c>>> {
    let Some(axes) = graph::Slice::of(op).and_then(graph::Slice::axes) else { return Ok(None) };
    let mut operands = ir::operands(op);
    if image_dims(operands[0]).is_none() {
        return Ok(None);
    }
    let Some(known) = Elements::of_value(axes) else { return Ok(None) };
    let rank = ir::dims(operands[0].r#type()).len();
    let moved: Vec<i64> =
        known.ints().iter().map(|axis| axis_in_nhwc(normalize_axis(*axis, rank), rank)).collect();
    let moved = int_list(b, &moved)?;
    if moved.r#type() != axes.r#type() {
        return Ok(None);
    }
    operands[0] = layout.nhwc(b, operands[0])?;
    operands[3] = moved;
    Ok(Some(Rewrite { operands, attributes: vec![], drops_layout: false }))
}
