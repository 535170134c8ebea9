//! Decides about operators of vendors: what no device takes is replaced by its reference.

use super::{DivideOptions, PartitionedFunction, call_sites::place_calls, divide_all, operator};
use crate::{
    Error, Result,
    graph::OpId,
    ir::{Op, edit, graph::Custom, view::OpView},
    partition::Verdict,
    targets::{Operators, TargetInstance},
};

/// Decides as [`divide_all`] does. An operator that no device takes is replaced by its reference,
/// and what that consists of is divided like everything else.
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
    loop {
        let partitioned_functions = divide_all(module, targets, options)?;
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
    }
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

/// Says why no device takes an operator, and who else knows it.
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
