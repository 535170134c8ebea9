//! `graph-fuse-host`: products, convolutions and pools take the elementwise ops after them.
//!
//! A group is a root (anchor op) and its epilogue: the elementwise ops on results of its shape that
//! follow it, as long as one value leaves the group. It becomes a composite, which
//! `lower-host-kernels` turns into one kernel that never stores what lies between. Roots are looked
//! at from the last to the first, so that of the two branches of a residual sum the later one takes
//! the addition. Dequantized addends of a group are read as integers.
//!
//! Attention is a group of its own: a product, softmax of its rows, and a product with the result, each
//! with the elementwise ops after it. Its kernel never has all scores in memory.

use crate::{
    Result,
    host::kernel::{
        Kind,
        recognize::{
            Form, NHWC,
            attention::{is_softmax_of_rows, pays},
            broadcast_strides, computed_dims, float_dims, is_step, is_table, kernel_dims,
            operand_dims, operand_view,
        },
    },
    ir::{
        self, Op, Val, constant::Elements, edit, graph, names, op_name, view::OpView,
    },
    outline::make_composite,
    pass::{OptionValues, Pass, PassError},
};
use std::collections::{HashMap, HashSet};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-fuse-host",
    summary: "Group products, convolutions and pools with the elementwise ops after them",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

/// Ops in a group, at most: register pressure and code size grow with them.
const MAX_OPS: usize = 24;

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let target = ir::attr_str(function, names::TARGET).unwrap_or_else(|| "llvm".to_owned());
    let ops = ir::ops(block);
    let mut places = Places(ops.iter().enumerate().map(|(i, op)| (ir::id(*op), i)).collect());
    let mut grouped = HashSet::new();
    for root in ops.iter().rev() {
        let Some(kind) = root_kind(*root) else { continue };
        if grouped.contains(&ir::id(*root)) || computed_dims(ir::result0(*root)?).is_none() {
            continue;
        }
        let attention = places.attention(*root);
        let kind = if attention.is_some() { "attention".to_owned() } else { kind };
        let group = attention.unwrap_or_else(|| places.grow(*root, places.form(*root)));
        grouped.extend(group.iter().map(|op| ir::id(*op)));
        let place = places.0[&ir::id(group[group.len() - 1])];
        let composite = make_composite(&format!("llvm.{kind}"), &target, &group, vec![])?;
        places.0.insert(ir::id(composite), place);
    }
    Ok(())
}

/// The kernel that an op is the root of.
fn root_kind(op: Op<'_>) -> Option<String> {
    match op_name(op) {
        graph::MatMul::NAME | graph::Gemm::NAME => {
            float_dims(ir::result0(op).ok()?).map(|_| "matmul".to_owned())
        }
        graph::MatMulInteger::NAME => Some("matmul".to_owned()),
        graph::Composite::NAME => {
            let name = ir::attr_str(op, "name")?;
            let depthwise = ir::ops_of(op).into_iter().any(|op| {
                matches!(op_name(op), graph::Conv::NAME | graph::ConvInteger::NAME)
                    && ir::attr_i64(op, "group").unwrap_or(1) > 1
            });
            let kind = name.strip_prefix(NHWC)?;
            Some(if depthwise { format!("grouped_{kind}") } else { kind.to_owned() })
        }
        _ => Kind::of(op).map(|(_, name)| name.to_owned()),
    }
}

/// The position of each op in its block.
struct Places(HashMap<ir::Id, usize>);

impl Places {
    fn of(&self, op: Op<'_>) -> Option<usize> {
        self.0.get(&ir::id(op)).copied()
    }

    /// The form of a root's output.
    fn form(&self, root: Op<'_>) -> Form {
        match op_name(root) {
            graph::Composite::NAME => Form::Images,
            _ if Kind::of(root).is_some_and(|(kind, _)| kind.images) => Form::Images,
            _ => Form::Matrices,
        }
    }

    /// Attention whose second product is `root`: this product with its epilogue, the softmax that
    /// it multiplies, and the first product with all operations in between. No value but the last
    /// is used elsewhere.
    fn attention<'c>(&self, root: Op<'c>) -> Option<Vec<Op<'c>>> {
        let second = graph::MatMul::of(root)?;
        let softmax = self.above(second.a(), is_softmax_of_rows)?;
        let first = self.above(ir::operands(softmax)[0], graph::MatMul::is)?;
        if !pays(ir::operands(softmax)[0]) {
            return None;
        }
        let (mut group, between) =
            (self.grow(first, Form::Planes(1)), self.grow(softmax, Form::Planes(1)));
        let feeds = |group: &[Op<'c>], value: Val<'c>, user: Op<'c>| {
            let (last, from) = (group.last().copied(), edit::defining_op(value));
            last.zip(from).is_some_and(|(last, from)| {
                edit::same(last, from)
                    && ir::users_of(last).iter().all(|op| edit::same(*op, user))
            })
        };
        if !feeds(&group, ir::operands(softmax)[0], softmax)
            || !feeds(&between, second.a(), root)
        {
            return None;
        }
        group.extend(between);
        group.extend(self.grow(root, Form::Planes(1)));
        Some(group)
    }

    /// The closest op with a property among those that compute a value, through steps.
    fn above<'c>(&self, value: Val<'c>, is: impl Fn(Op<'c>) -> bool) -> Option<Op<'c>> {
        let mut stack = vec![value];
        for _ in 0..MAX_OPS {
            let Some(op) = edit::defining_op(stack.pop()?) else { continue };
            if self.of(op).is_some() && is(op) {
                return Some(op);
            }
            if is_step(op) {
                stack.extend(ir::operands(op).into_iter().rev());
            }
        }
        None
    }

    /// The group of a root, in block order.
    fn grow<'c>(&self, root: Op<'c>, form: Form) -> Vec<Op<'c>> {
        let mut group = vec![root];
        let mut complete = 1;
        while group.len() < MAX_OPS {
            let inside: HashSet<ir::Id> = group.iter().map(|op| ir::id(*op)).collect();
            let users = group.iter().flat_map(|op| ir::users_of(*op));
            let next = users
                .filter(|user| !inside.contains(&ir::id(*user)))
                .min_by_key(|user| self.of(*user).unwrap_or(usize::MAX));
            let Some(next) = next.filter(|next| self.fits(*next, (root, form), &inside)) else { break };
            group.extend(self.dequantizations(next, (root, form), &inside));
            group.push(next);
            if one_value_leaves(&group) {
                complete = group.len();
            }
        }
        group.truncate(complete);
        group
    }

    /// The dequantizations that an op alone reads: in its group, integers are read.
    fn dequantizations<'c>(
        &self,
        op: Op<'c>,
        root: (Op<'c>, Form),
        inside: &HashSet<ir::Id>,
    ) -> Vec<Op<'c>> {
        let mut definers: Vec<_> =
            ir::operands(op).into_iter().filter_map(edit::defining_op).collect();
        let mut seen = HashSet::new();
        definers.retain(|definer| {
            seen.insert(ir::id(*definer))
                && graph::DequantizeLinear::of(*definer).is_some()
                && !inside.contains(&ir::id(*definer))
                && ir::users_of(*definer).iter().all(|user| edit::same(*user, op))
                && self.fits(*definer, root, inside)
        });
        definers
    }

    /// True if an op may join the group.
    fn fits<'c>(&self, op: Op<'c>, (root, form): (Op<'c>, Form), inside: &HashSet<ir::Id>) -> bool {
        let Some(out) = ir::result0(root).ok().and_then(kernel_dims) else { return false };
        if self.of(op).is_none() || !is_step(op) || ir::results(op).len() != 1 {
            return false;
        }
        if ir::result0(op).ok().and_then(kernel_dims).as_ref() != Some(&out) {
            return false;
        }
        let mut seen = HashSet::new();
        ir::operands(op).into_iter().all(|operand| {
            let definer = edit::defining_op(operand);
            if definer.is_some_and(|definer| inside.contains(&ir::id(definer))) {
                return true;
            }
            if is_table(op, operand) {
                return Elements::of_value(operand).is_some();
            }
            let readable = operand_dims(operand)
                .and_then(|dims| broadcast_strides(&dims, &out))
                .and_then(|strides| operand_view(&out, &strides, form));
            readable.is_some() && !self.depends(operand, root, inside, &mut seen)
        })
    }

    /// True if a value is computed from one of the group.
    fn depends<'c>(
        &self,
        value: Val<'c>,
        root: Op<'c>,
        inside: &HashSet<ir::Id>,
        seen: &mut HashSet<ir::Id>,
    ) -> bool {
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            let Some(definer) = edit::defining_op(value) else { continue };
            if inside.contains(&ir::id(definer)) {
                return true;
            }
            // An op before the root cannot depend on it.
            if self.of(definer) > self.of(root) && seen.insert(ir::id(value)) {
                stack.extend(ir::operands(definer));
            }
        }
        false
    }
}

/// True if no result but the last op's is used outside of the group.
fn one_value_leaves(group: &[Op<'_>]) -> bool {
    let inside: HashSet<ir::Id> = group.iter().map(|op| ir::id(*op)).collect();
    group[..group.len() - 1]
        .iter()
        .all(|op| ir::users_of(*op).iter().all(|user| inside.contains(&ir::id(*user))))
}
