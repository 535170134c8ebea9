//! Computes, before the first phase, what depends on constants alone: standardized weights, tables of
//! positions, weights that a network quantizes itself.
//!
//! Kernels of the host do it: what is to be known becomes a network of its own, which is compiled and
//! run once. Folders (`dialects/graph/Fold*.cpp`) do the same for small constants, where sizes depend on
//! them.

use super::CompileOptions;
use crate::{
    Error, Result, Session, Tensor,
    import::constants::{dtype_of, elements_attribute},
    ir::{self, Builder, Op, Val, constant::Elements, edit, func, graph, view::OpView},
};
use melior::ir::{AttributeLike, Location, Module, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// Bytes that a result may take more than the constants that it is computed from, whatever the network.
const SMALL: usize = 16 << 10;
/// The part of all constants' bytes by which results may add to them together.
const GROWTH: usize = 10;

/// The weakest CPU of a kind, so that results do not depend on the machine that a compile runs on.
const HOST: &str =
    if cfg!(target_arch = "x86_64") { "llvm -mcpu=x86-64" } else { "llvm -mcpu=generic" };

/// Makes constants of what depends on constants alone, where that does not take much more memory.
///
/// Views, casts and dequantization are left to the kernels, which read weights as they are stored; transposes
/// of constants are gone (`moved.rs`). What cannot be compiled is left, too.
pub(super) fn evaluate(session: &Session, module: &Module<'_>) -> Result<()> {
    let Some(block) = func::main(ir::root(module)).and_then(edit::entry_block) else {
        return Ok(());
    };
    let ops = ir::ops(block);
    let known = Known::of(&ops);
    let found = known.worthwhile(&ops);
    if found.is_empty() {
        return Ok(());
    }
    let mut cone = Cone::default();
    for value in &found {
        cone.add(&known, *value);
    }
    match compute(session, &cone, &found) {
        Ok(tensors) => replace(&cone, &found, &tensors),
        Err(error) => {
            tracing::debug!(%error, "constants are left to be computed at run time");
            Ok(())
        }
    }
}

/// Operations that depend on constants alone.
struct Known {
    /// Operations, by address.
    ops: HashSet<ir::Id>,
}

/// Backward slice of a value: operations and constants, each once, operands before their users.
#[derive(Default)]
struct Cone<'c> {
    ops: Vec<Op<'c>>,
    constants: Vec<Op<'c>>,
    seen: HashSet<ir::Id>,
}

impl Known {
    /// `ops` are those of a network, in order.
    fn of(ops: &[Op<'_>]) -> Self {
        let mut known = Self { ops: HashSet::new() };
        for op in ops {
            if known.has_inputs_of(*op) {
                known.ops.insert(ir::id(*op));
            }
        }
        known
    }

    fn has_inputs_of(&self, op: Op<'_>) -> bool {
        let is_computed = ir::view::info(op).is_some_and(|info| !info.structure);
        is_computed
            && ir::op_name(op) != graph::Custom::NAME
            && op.operand_count() > 0
            && ir::operands(op).into_iter().all(|value| {
                edit::defining_op(value)
                    .is_some_and(|op| is_constant(op) || self.ops.contains(&ir::id(op)))
            })
            && ir::results(op).into_iter().all(|value| size(value).is_some())
    }

    /// The values to compute, in order.
    fn worthwhile<'c>(&self, ops: &[Op<'c>]) -> Vec<Val<'c>> {
        let constants: usize = ops.iter().filter_map(|op| stored(*op)).sum();
        let mut budget = constants / GROWTH;
        let (mut found, mut seen) = (vec![], HashSet::new());
        for op in ops.iter().filter(|op| !self.ops.contains(&ir::id(**op))) {
            let mut values = ir::operands(*op);
            values.reverse();
            while let Some(value) = values.pop() {
                let Some(op) =
                    edit::defining_op(value).filter(|op| self.ops.contains(&ir::id(*op)))
                else {
                    continue;
                };
                if !seen.insert(ir::id(value)) {
                    continue;
                }
                let growth = self.growth(value);
                if is_read_by_kernels(op) || growth > SMALL.max(budget) {
                    values.extend(ir::operands(op).into_iter().rev());
                } else {
                    budget = budget.saturating_sub(growth);
                    found.push(value);
                }
            }
        }
        found
    }

    /// Bytes that a value takes beyond the constants that it is computed from, as far as only known
    /// operations use those.
    fn growth(&self, value: Val<'_>) -> usize {
        let mut cone = Cone::default();
        cone.add(self, value);
        let saved = cone.constants.iter().filter_map(|op| {
            let users = ir::users_of(*op);
            let known = users.iter().all(|user| self.ops.contains(&ir::id(*user)));
            // Users outside of the cone need it for other results.
            let own = users.iter().filter(|user| cone.seen.contains(&ir::id(**user))).count();
            stored(*op).filter(|_| known).map(|bytes| bytes * own / users.len().max(1))
        });
        size(value).unwrap_or(usize::MAX).saturating_sub(saved.sum())
    }
}

impl<'c> Cone<'c> {
    fn add(&mut self, known: &Known, value: Val<'c>) {
        // Chains may be as long as a network: no recursion.
        let mut open: Vec<(Op<'c>, bool)> =
            edit::defining_op(value).map(|op| (op, false)).into_iter().collect();
        while let Some((op, inputs_are_there)) = open.pop() {
            if inputs_are_there {
                self.ops.push(op);
            } else if self.seen.insert(ir::id(op)) {
                if !known.ops.contains(&ir::id(op)) {
                    self.constants.push(op);
                    continue;
                }
                open.push((op, true));
                open.extend(
                    ir::operands(op)
                        .into_iter()
                        .rev()
                        .filter_map(edit::defining_op)
                        .map(|op| (op, false)),
                );
            }
        }
    }
}

/// The values, computed.
fn compute(session: &Session, cone: &Cone<'_>, found: &[Val<'_>]) -> Result<Vec<Tensor>> {
    let count = found.len();
    let span = tracing::info_span!(target: "phaseline::constants", "constants", count);
    let _span = span.entered();
    let module = Module::new(Location::unknown(session.context()));
    let inputs = network(session, &module, cone, found)?;
    let options = CompileOptions {
        targets: HOST.into(),
        name: "constants".into(),
        evaluate_constants: false,
        ..Default::default()
    };
    session.compile(module, &options)?.load()?.run(&inputs)
}

/// Makes the network that computes `results`; what it is to be given.
fn network(
    session: &Session,
    module: &Module<'_>,
    cone: &Cone<'_>,
    results: &[Val<'_>],
) -> Result<Vec<Tensor>> {
    let (function, b) = func::new_main(session.context(), module)?;
    let (mut inputs, mut values) = (vec![], HashMap::new());
    for op in &cone.constants {
        let value = result(*op)?;
        let new = match tensor(value) {
            Some(tensor) => {
                inputs.push(tensor);
                func::add_argument(session.context(), function, value.r#type(), vec![])?
            }
            None => result(b.insert_clone(*op))?,
        };
        values.insert(ir::id(value), new);
    }
    let new_of = |values: &HashMap<ir::Id, _>, value: Val<'_>| {
        let new = values.get(&ir::id(value)).copied();
        new.ok_or_else(|| Error::internal("a constant that depends on what is not there"))
    };
    for op in &cone.ops {
        let operands = ir::operands(*op).into_iter().map(|value| new_of(&values, value));
        let operands = operands.collect::<Result<Vec<_>>>()?;
        let copy = b.insert_clone(*op);
        edit::set_operands(copy, &operands)?;
        for (old, new) in ir::results(*op).into_iter().zip(ir::results(copy)) {
            values.insert(ir::id(old), new);
        }
    }
    let results =
        results.iter().map(|value| new_of(&values, *value)).collect::<Result<Vec<_>>>()?;
    func::end(&b, function, &results)?;
    Ok(inputs)
}

/// Puts constants in the place of values, and removes what computed them.
fn replace(cone: &Cone<'_>, found: &[Val<'_>], tensors: &[Tensor]) -> Result<()> {
    for (index, (value, tensor)) in found.iter().zip(tensors).enumerate() {
        let Some(op) = edit::defining_op(*value) else { continue };
        let b = Builder::before(op)?;
        let name = format!("computed_{index}");
        let attribute = elements_attribute(b.context, tensor, &name)
            .ok_or_else(|| Error::internal("a computed constant of an unknown type"))?;
        edit::replace_uses(*value, graph::Constant::build(&b, attribute)?.y());
    }
    for op in cone.ops.iter().rev().chain(&cone.constants) {
        if ir::users_of(*op).is_empty() {
            edit::erase(*op);
        }
    }
    Ok(())
}

/// True for an operation that kernels absorb: they take its operand as it is stored, and apply it
/// themselves.
fn is_read_by_kernels(op: Op<'_>) -> bool {
    let is_view = ir::view::info(op).is_some_and(|info| info.view);
    let names = [graph::Transpose::NAME, graph::DequantizeLinear::NAME, graph::Cast::NAME];
    is_view || names.contains(&ir::op_name(op))
}

fn is_constant(op: Op<'_>) -> bool {
    ir::op_name(op) == graph::Constant::NAME
}

/// Bytes of a value of known size whose elements tensors in memory can have.
fn size(value: Val<'_>) -> Option<usize> {
    let ty = value.r#type();
    let count = ir::static_dims(ty)?
        .into_iter()
        .try_fold(1_usize, |count, dim| count.checked_mul(usize::try_from(dim).ok()?))?;
    count.checked_mul(dtype_of(ty)?.size())
}

/// Bytes of a constant as it is stored.
fn stored(op: Op<'_>) -> Option<usize> {
    let constant = graph::Constant::of(op)?;
    Elements::of_value(constant.y()).map(|elements| elements.bytes().len())
}

/// A large constant as a tensor.
fn tensor(constant: Val<'_>) -> Option<Tensor> {
    let elements = Elements::of_value(constant).filter(|e| !e.attribute().is_dense_elements())?;
    let shape = ir::static_dims(constant.r#type())?.into_iter().map(usize::try_from);
    let shape = shape.collect::<std::result::Result<Vec<_>, _>>().ok()?;
    Tensor::from_bytes(dtype_of(constant.r#type())?, &shape, elements.into_bytes()).ok()
}

fn result(op: Op<'_>) -> Result<Val<'_>> {
    let value = ir::results(op).into_iter().next();
    value.ok_or_else(|| Error::internal("a constant without a value"))
}
