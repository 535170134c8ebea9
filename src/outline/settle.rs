//! Decides about operations that no device takes as they are. An operator of a vendor is replaced
//! by its reference, and rules bring the rest into forms that more devices know. A form that hosts
//! do not know as well is tried first ([`super::forms`]).

use super::{
    DivideOptions, PartitionInput, PartitionedFunction,
    call_sites::place_calls,
    divide_all,
    forms::{Refused, take_forms},
    operator,
};
use crate::{
    Error, Result,
    graph::OpId,
    ir::{
        Op, context_of, edit, func,
        graph::Custom,
        names::{TAKEN, TARGET},
        op_name, rewrite,
        view::OpView,
    },
    partition::Verdict,
    rules,
    targets::{Operators, TargetInstance},
};
use melior::ir::Attribute;
use std::collections::BTreeSet;

/// Decides as [`divide_all`] does. An operator that no device takes is replaced by its reference;
/// rules rewrite other operations ([`rules::NORMAL`]). The results are divided like everything
/// else.
///
/// # Errors
/// An operator that no device takes has no reference, or something cannot be divided.
pub fn settle<'c>(
    module: Op<'c>,
    targets: &[TargetInstance],
    options: &DivideOptions,
    operators: &Operators,
) -> Result<Vec<(Op<'c>, PartitionedFunction<'c>)>> {
    if let Some(host) = targets.last() {
        place_calls(module, &host.id);
    }
    // A file that says where operations of another form go is for what rules make; until then they decide without it.
    let mut options = *options;
    let placement = options.placement;
    let (fits, is_whole) = covers(module, targets, &options)?;
    options.placement = placement.filter(|_| fits);
    let mut free = targets.len() > 1 && !is_whole;
    let (mut try_forms, mut refused) = (free && options.placement.is_none(), vec![]);
    loop {
        let mut partitioned_functions = divide_all(module, targets, &options)?;
        if free {
            if normalize(&partitioned_functions)? {
                continue;
            }
            if std::mem::take(&mut try_forms) {
                refused.clear();
                if take_forms(&partitioned_functions, targets, &options, &mut refused)? {
                    continue;
                }
            }
            if placement.is_some() && options.placement.is_none() {
                (options.placement, free) = (placement, false);
                continue;
            }
        }
        for (_, partitioned) in &mut partitioned_functions {
            refused.iter().for_each(|refused: &Refused<'_>| refused.tell(partitioned));
        }
        let left: Vec<_> = partitioned_functions
            .iter()
            .flat_map(|(_, partitioned)| {
                left(partitioned).into_iter().map(move |id| (partitioned, id))
            })
            .collect();
        if left.is_empty() {
            return Ok(partitioned_functions);
        }
        for (partitioned, id) in left {
            let Some(op) = partitioned.view.ops.get(id.index()).copied() else { continue };
            if edit::entry_block(op).is_none() {
                return Err(untaken(partitioned, id, targets, operators));
            }
            operator::expand(op)?;
        }
        try_forms = free && placement.is_none();
    }
}

/// Two flags for a placement file: it fits the network function as it is (true without a file), and
/// it places all of it.
fn covers(
    module: Op<'_>,
    targets: &[TargetInstance],
    options: &DivideOptions,
) -> Result<(bool, bool)> {
    let (Some(placement), Some(main)) = (options.placement, func::main(module)) else {
        return Ok((true, false));
    };
    let free = DivideOptions { placement: None, ..*options };
    let graph = PartitionInput::new(main, targets, &free)?.view.graph;
    let fits = placement.fits(&graph);
    Ok((fits, fits && placement.ops.len() >= graph.op_count()))
}

/// Applies rules to operations that no device takes; true if there was something to change.
/// Operations that a user demands a place for stay as they are.
fn normalize(all: &[(Op<'_>, PartitionedFunction<'_>)]) -> Result<bool> {
    let mut changes = 0;
    for (function, partitioned) in all {
        let ops = &partitioned.view.ops;
        let names: BTreeSet<&str> = ops.iter().map(|op| op_name(*op)).collect();
        let rules = rules::normal(&names);
        if rules.is_empty() {
            continue;
        }
        let regions = &partitioned.partition.region_of;
        let taken = ops.iter().zip(regions).filter(|(_, region)| region.is_some());
        let taken: Vec<_> = taken.map(|(op, _)| *op).collect();
        let unit = Attribute::unit(context_of(*function));
        taken.iter().for_each(|op| edit::set_attr(*op, TAKEN, unit));
        let made = rewrite::apply_except(*function, &rules, &[TAKEN, TARGET]);
        // A rule may have changed those along with others: what is there now is looked at.
        for op in edit::walk(*function) {
            edit::remove_attr(op, TAKEN);
        }
        changes +=
            made.map_err(|error| Error::invalid(format!("{}: {}", error.location, error.message)))?;
    }
    Ok(changes > 0)
}

/// The operators of vendors that stay with the host.
fn left(partitioned: &PartitionedFunction<'_>) -> Vec<OpId> {
    let graph = &partitioned.view.graph;
    let live = graph.live_ops();
    let stays = |id: OpId| {
        let op = partitioned.view.ops.get(id.index());
        op.is_some_and(|op| Custom::is(*op))
            && partitioned.partition.region_of[id.index()].is_none()
            && live[id.index()]
    };
    graph.ops().map(|(id, _)| id).filter(|id| stays(*id)).collect()
}

/// The error for an operator that no device takes, with its reasons and the targets that know it.
fn untaken(
    partitioned: &PartitionedFunction<'_>,
    id: OpId,
    targets: &[TargetInstance],
    operators: &Operators,
) -> Error {
    let graph = &partitioned.view.graph;
    let mut text = format!("no target takes {}, and it has no reference", graph.describe(id));
    let verdicts = &partitioned.partition.verdicts[id.index()];
    for (target, verdict) in targets.iter().zip(verdicts) {
        if *verdict != Verdict::NoPattern {
            text.push_str(&format!("\n  {}: {}", target.id, verdict.text(graph)));
        }
    }
    let custom = partitioned.view.ops.get(id.index()).copied().and_then(Custom::of);
    let hint = custom.and_then(|op| match operators.own(op.domain(), op.name()) {
        Some(_) => None,
        None => Some(operators.hint(op.domain(), op.name()).unwrap_or_else(|| {
            "no known target declares it ([[operator]] in a manifest; directories with targets are \
             added with --target-path)"
                .to_owned()
        })),
    });
    text.extend(hint.map(|hint| format!("\n  {hint}")));
    Error::unsupported(text)
}
