//! Divides the network function between the targets of a spec, and changes the IR accordingly.

use super::{RegionPlan, View, make_composite, outline_region, sort_topologically, view};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, edit, func},
    partition::{self, Partition, Placement, Report, Request},
    pattern::{OpTable, Pattern},
    target::TargetInstance,
};
use std::collections::BTreeSet;

/// A function's operations, and where each of them goes.
pub struct Division<'c> {
    /// The operations.
    pub view: View<'c>,
    /// The regions.
    pub partition: Partition,
    /// Decisions and reasons, for people.
    pub report: Report,
    /// The decision as a file that can be given back.
    pub placement: Placement,
}

/// Decides. Nothing is changed; `placement` comes before patterns.
pub fn divide<'c>(
    function: Op<'c>,
    targets: &[TargetInstance],
    placement: Option<&Placement>,
) -> Result<Division<'c>> {
    let table = OpTable::graph()?;
    let (hosts, devices): (Vec<_>, Vec<_>) = targets.iter().partition(|target| target.is_host());
    let host = hosts
        .last()
        .ok_or_else(|| Error::invalid("the target spec has no host; add one last, such as llvm"))?;
    let patterns: Vec<Vec<Pattern>> =
        devices.iter().map(|device| device.load_patterns(&table)).collect::<Result<_>>()?;
    let devices: Vec<_> =
        devices.iter().zip(&patterns).map(|(device, patterns)| device.device(patterns)).collect();
    let mut view = view(function, &table)?;
    if let Some(placement) = placement {
        placement.apply(&mut view.graph)?;
    }
    let request = Request { graph: &view.graph, table: &table, devices: &devices, host: &host.id };
    let partition = partition::partition(&request)?;
    let report = Report::new(&request, &partition);
    let placement = Placement::of(&view.graph, &partition);
    Ok(Division { view, partition, report, placement })
}

/// Moves every match into a `graph.composite` and every region into a function of its target.
pub fn apply<'c>(
    module: Op<'c>,
    function: Op<'c>,
    division: &Division<'c>,
    targets: &[TargetInstance],
) -> Result<()> {
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a function without a body was divided"))?;
    let mut regions = vec![];
    for region in &division.partition.regions {
        let kind = targets
            .iter()
            .find(|target| target.id == region.target)
            .map_or(region.target.as_str(), |target| target.kind.name.as_str());
        let mut composites = vec![];
        for composite in &region.composites {
            let ops: Vec<_> = composite
                .found
                .ops
                .iter()
                .filter_map(|id| division.view.ops.get(id.index()).copied())
                .collect();
            let name = format!("{kind}.{}", composite.name);
            composites.push(make_composite(&name, &region.target, &ops, vec![])?);
        }
        regions.push((region, composites));
    }
    sort_topologically(block)?;
    let mut symbols: BTreeSet<String> =
        func::functions(module).into_iter().map(func::symbol).collect();
    for (region, composites) in regions {
        let symbol = fresh(&mut symbols, &region.name());
        let plan = RegionPlan { target: &region.target, symbol: &symbol, ops: &composites };
        outline_region(&plan)?;
        sort_topologically(block)?;
    }
    if let Some(host) = targets.iter().rfind(|target| target.is_host()) {
        let name = Builder::before(function)?.str_attr(&host.id);
        for other in func::functions(module) {
            if ir::attr_str(other, super::view::PLACEMENT).is_none() {
                edit::set_attr(other, super::view::PLACEMENT, name);
            }
        }
    }
    Ok(())
}

/// A symbol that no function has yet, as a C identifier.
fn fresh(symbols: &mut BTreeSet<String>, wanted: &str) -> String {
    let clean: String =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut name = clean.clone();
    let mut number = 0;
    while !symbols.insert(name.clone()) {
        number += 1;
        name = format!("{clean}_{number}");
    }
    name
}
