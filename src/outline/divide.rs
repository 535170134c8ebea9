//! Divides the network function between the targets of a spec, and changes the IR accordingly.

use super::{
    PartitionInput, RegionPlan, View,
    call::{Calls, MatchedOps, outside_use},
    captures::{self, layouts},
    make_composite, outline_region, sort_topologically, start_early,
    transposes::{cancel, within},
    view::view,
};
use crate::{
    Error, Result,
    graph::{Bound, Facts, ValueId},
    ir::{
        self, Blk, Builder, Op, OpSpec, Val, edit, func, graph,
        names::{self, LAYOUTS, TARGET},
    },
    partition::{
        self, Composite, Device, Judged, Partition, Placement, Profile, Region, Report, TileReport,
        Verdict, placement::HOST, report::DeviceVerdict,
    },
    pattern::BoundCall,
    targets::{InHeaders, TargetInstance, hooks::Judge},
    tile::choose::Chooser,
};
use melior::ir::operation::OperationLike;
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
};

/// Attribute of a composite: the lowering that its pattern names in the manifest.
pub const LOWERING: &str = "lower";

/// A function's operations, with the target of each.
pub struct PartitionedFunction<'c> {
    /// The operations.
    pub view: View<'c>,
    /// The regions.
    pub partition: Partition,
    /// The composites of its matches.
    pub details: Details,
    /// Decisions and reasons, for people.
    pub report: Report,
    /// The decision as a file that can be given back.
    pub placement: Placement,
}

/// The composites of the matches of a partition: for each region, for each composite.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The function that it becomes a call of, if it does.
    pub calls: Vec<Vec<Option<BoundCall>>>,
    /// The names of its pattern, where hooks want to know them.
    names: Vec<Vec<Vec<(String, Bound)>>>,
    /// The lowering that the pattern names.
    lowerings: Vec<Vec<Option<String>>>,
    /// The tiles of its call by a profile.
    tiles: Vec<Vec<Option<TileReport>>>,
}

impl Details {
    fn of(
        partition_input: &PartitionInput<'_, '_>,
        (devices, targets): (&[Device<'_>], &[TargetInstance]),
        partition: &Partition,
    ) -> Result<Self> {
        let (mut calls, mut lowerings, mut tiles, mut names) = (vec![], vec![], vec![], vec![]);
        for region in &partition.regions {
            let device = &devices[region.device];
            let facts = Facts {
                graph: &partition_input.view.graph,
                table: &partition_input.table,
                options: device.options,
            };
            let pattern_of = |composite: &Composite| &device.patterns[composite.pattern];
            let bind = |composite: &Composite| {
                let pattern = pattern_of(composite);
                let call =
                    pattern.call.as_ref().map(|call| call.bind(pattern, &composite.found, facts));
                call.transpose().map_err(Error::internal)
            };
            let mut bound = region.composites.iter().map(bind).collect::<Result<Vec<_>>>()?;
            let decided =
                region.composites.iter().zip(&mut bound).map(|(composite, call)| match call {
                    Some(call) => {
                        partition_input.decide_tiles(region.device, &composite.found, call)
                    }
                    None => Ok(None),
                });
            tiles.push(decided.collect::<Result<Vec<_>>>()?);
            calls.push(bound);
            let is_named =
                targets.iter().any(|t| t.id == region.target && t.kind.hooks.read_regions());
            let of = |composite: &Composite| match is_named {
                true => composite.found.names(pattern_of(composite)),
                false => vec![],
            };
            names.push(region.composites.iter().map(of).collect());
            let lower = |composite| pattern_of(composite).spec.lower.clone();
            lowerings.push(region.composites.iter().map(lower).collect());
        }
        Ok(Self { calls, names, lowerings, tiles })
    }
}

/// True if a program is asked about a region before it has its place.
fn is_judged(targets: &[TargetInstance], region: &Region) -> bool {
    let target = targets.iter().find(|target| target.id == region.target);
    target.is_some_and(|target| target.kind.hooks.dry_run().is_some())
}

/// Asks about regions, as the functions that they would be in a copy of the module.
fn ask(
    function: Op<'_>,
    (partition_input, targets): (&PartitionInput<'_, '_>, &[TargetInstance]),
    (partition, details, report, placement): (&Partition, &Details, &Report, &Placement),
    (open, judge): (&[usize], &dyn Judge),
) -> Result<Vec<Judged>> {
    let around = std::iter::successors(Some(function), |op| op.parent_operation());
    let module = around.last().and_then(edit::clone_module);
    let module = module.ok_or_else(|| Error::internal("a function outside of a module"))?;
    let root = ir::root(&module);
    let name = func::symbol(function);
    let copy = func::functions(root).into_iter().find(|other| func::symbol(*other) == name);
    let copy = copy.ok_or_else(|| Error::internal("a copy of the module lacks a function"))?;
    let partitioned = PartitionedFunction {
        view: view(copy, &partition_input.table)?,
        partition: partition.clone(),
        details: details.clone(),
        report: report.clone(),
        placement: placement.clone(),
    };
    let made = apply_regions(root, copy, &partitioned, targets)?;
    let mut judged = vec![];
    for (index, made) in made.into_iter().filter(|(index, _)| open.contains(index)) {
        let region = &partition.regions[index];
        let target = targets.iter().find(|target| target.id == region.target);
        let target = target.ok_or_else(|| Error::internal("a region of no target"))?;
        let mut judgement = judge.judge(root, made, target)?;
        if let (true, Some(cost)) = (partition_input.is_search(), judgement.cost) {
            let known = &report.regions[index].cost;
            judgement.dear = cost + known.call + known.transfer > known.on_host;
        }
        judged.push(Judged { device: region.device, ops: region.ops.clone(), judgement });
    }
    Ok(judged)
}

/// Settings of the division.
#[derive(Clone, Copy, Debug, Default)]
pub struct DivideOptions<'a> {
    /// Placements, which come before patterns.
    pub placement: Option<&'a Placement>,
    /// Look for the partition that costs least, instead of going by preference.
    pub search: bool,
    /// Measured costs and tiles, in place of estimates.
    pub profile: Option<&'a Profile>,
    /// Make each match of a device a region of its own, whatever the device merges.
    pub apart: bool,
    /// The programs that are asked about regions before these have their places.
    pub judge: Option<&'a dyn Judge>,
}

impl PartitionedFunction<'_> {
    /// The operations that are not on a device since its hook declined their region, with the reason.
    pub fn declined(&self) -> Vec<String> {
        let mut found = vec![];
        for op in &self.report.ops {
            for verdict in &op.verdicts {
                if let Verdict::Declined { .. } = verdict.verdict {
                    let node = match op.node.is_empty() {
                        true => format!("operation {}", op.index),
                        false => format!("'{}'", op.node),
                    };
                    let DeviceVerdict { target, text, .. } = verdict;
                    found.push(format!("{} {node} is on {}: {target}: {text}", op.op, op.target));
                }
            }
        }
        found
    }

    /// Adds to the report the tiling of each match.
    pub fn account_for_tiles(&mut self) -> Result<()> {
        let found = self.partition.regions.iter().flat_map(|region| &region.composites);
        let calls = self.details.calls.iter().flatten().zip(self.details.tiles.iter().flatten());
        for (composite, (call, measured)) in found.zip(calls) {
            let plan = call.as_ref().and_then(|call| call.tile.as_ref());
            let op = self.report.ops.get_mut(composite.found.root.index());
            let (Some(plan), Some(op)) = (plan, op) else { continue };
            let reads = plan.reads(composite.found.outputs.len());
            let chooser = Chooser::new(plan, reads, &[]).map_err(Error::internal)?;
            op.tiles = chooser.decided().and_then(|choice| chooser.account(&choice));
            op.tile_times = measured.clone();
        }
        Ok(())
    }
}

/// Decides. Nothing is changed.
pub fn divide_with<'c>(
    function: Op<'c>,
    targets: &[TargetInstance],
    options: &DivideOptions,
) -> Result<PartitionedFunction<'c>> {
    let partition_input = PartitionInput::new(function, targets, options)?;
    let devices = partition_input.devices()?;
    let mut judged: Vec<Judged> = vec![];
    let (partition, details, report, placement) = loop {
        let request = partition_input.request(&devices, &judged)?;
        let partition = partition::partition(&request)?;
        let details = Details::of(&partition_input, (&devices, targets), &partition)?;
        let report = Report::new(&request, &partition);
        let placement = Placement::of(&partition_input.view.graph, &partition);
        let is_new = |region: &&Region| request.judgement(region.device, &region.ops).is_none();
        let open: Vec<usize> = partition
            .regions
            .iter()
            .enumerate()
            .filter(|(_, region)| !region.inline && is_new(region) && is_judged(targets, region))
            .map(|(index, _)| index)
            .collect();
        let Some(judge) = options.judge.filter(|_| !open.is_empty()) else {
            break (partition, details, report, placement);
        };
        let decided = (&partition, &details, &report, &placement);
        let said = ask(function, (&partition_input, targets), decided, (&open, judge))?;
        judged.extend(said);
    };
    drop(devices);
    let name = crate::ir::func::symbol(function);
    let (operations, regions) = (report.ops.len(), report.regions.len());
    tracing::info!(target: "phaseline::partition", function = name, operations, regions, "divided");
    for region in &report.regions {
        let (name, patterns) = (region.name.as_str(), region.patterns.join(" "));
        tracing::debug!(target: "phaseline::partition", region = name, patterns, cost = ?region.cost);
    }
    Ok(PartitionedFunction { view: partition_input.view, partition, details, report, placement })
}

/// Moves every match into a `graph.composite` and every region into a function of its target.
pub fn apply<'c>(
    module: Op<'c>,
    function: Op<'c>,
    partitioned: &PartitionedFunction<'c>,
    targets: &[TargetInstance],
) -> Result<()> {
    apply_regions(module, function, partitioned, targets).map(drop)
}

/// The same; gives the functions with the numbers of their regions.
fn apply_regions<'c>(
    module: Op<'c>,
    function: Op<'c>,
    partitioned: &PartitionedFunction<'c>,
    targets: &[TargetInstance],
) -> Result<Vec<(usize, Op<'c>)>> {
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a function without a body was divided"))?;
    let mut maker = Maker {
        partitioned,
        current: RefCell::new(partitioned.view.values.iter().copied().collect()),
        calls: Calls::default(),
    };
    let mut regions = vec![];
    for (index, region) in partitioned.partition.regions.iter().enumerate() {
        let target = targets.iter().find(|target| target.id == region.target);
        if target.is_some_and(TargetInstance::is_host) {
            // A host has no patterns: its regions keep plain operations instead of composites.
            let ops = region.ops.iter();
            let ops = ops.filter_map(|id| partitioned.view.ops.get(id.index()).copied());
            regions.push((index, ops.collect()));
            continue;
        }
        let kind = target.map_or(region.target.as_str(), |target| target.kind.name.as_str());
        // Code of the host includes no headers of others: prototypes go by the arguments there.
        maker.calls.has_headers =
            region.inline || target.is_some_and(|t| !t.kind.codegen.headers.is_empty());
        maker.calls.in_headers = match target.filter(|_| region.inline) {
            Some(target) => InHeaders::of(target)?,
            None => InHeaders::default(),
        };
        let places = 0..region.composites.len();
        let composites: Vec<_> =
            places.map(|place| maker.make(kind, (index, place))).collect::<Result<_>>()?;
        if !region.inline {
            regions.push((index, composites));
        }
    }
    let Calls { mut transposes, unfilled, .. } = maker.calls;
    cancel(&mut transposes, &unfilled)?;
    // Regions do not overlap, so that one order before and one after all of them will do.
    sort_topologically(block)?;
    let order: HashMap<ir::Id, usize> =
        ir::ops(block).into_iter().enumerate().map(|(place, op)| (ir::id(op), place)).collect();
    let mut symbols = Symbols::of(module);
    let mut made = vec![];
    for (index, composites) in regions {
        let region = &partitioned.partition.regions[index];
        let symbol = symbols.fresh(&region.name());
        let mut ops = within(&composites, &transposes);
        ops.sort_by_key(|op| order.get(&ir::id(*op)));
        transposes.retain(|op| !ops.iter().any(|other| edit::same(*other, *op)));
        let plan = RegionPlan { target: &region.target, symbol: &symbol, ops: &ops };
        let outlined = outline_region(&plan)?;
        let target = targets.iter().find(|target| target.id == region.target);
        if let Some(target) = target {
            pin(outlined, target, &composites)?;
        }
        made.push((index, outlined));
    }
    sort_topologically(block)?;
    start_queues(module, block, targets);
    if let Some(host) = targets.last() {
        name_hosts(module, function, &host.id)?;
    }
    Ok(made)
}

/// Records the queue in which a region runs, where patterns of its matches have one.
fn pin(function: Op<'_>, target: &TargetInstance, composites: &[Op<'_>]) -> Result<()> {
    for composite in composites {
        let name = ir::attr_str(*composite, "name").unwrap_or_default();
        let pattern = name.split_once('.').map_or(name.as_str(), |(_, pattern)| pattern);
        if let Some(queue) = target.pinned(pattern)? {
            let b = Builder::before(function)?;
            edit::set_attr(function, names::PINNED, b.i64_attr(queue));
        }
    }
    Ok(())
}

/// Has devices with queues begin as early as they can.
fn start_queues<'c>(module: Op<'c>, block: Blk<'c>, targets: &[TargetInstance]) {
    let queued = targets.iter().filter(|target| target.kind.queue.is_some());
    let queued: Vec<&str> = queued.map(|target| target.id.as_str()).collect();
    if queued.is_empty() {
        return;
    }
    let functions = func::functions(module).into_iter();
    let target = |function: Op<'c>| {
        let id = ir::attr_str(function, TARGET).filter(|id| queued.contains(&id.as_str()))?;
        Some((func::symbol(function), id))
    };
    let functions: HashMap<String, String> = functions.filter_map(target).collect();
    start_early(block, |op| functions.get(&func::symbol_ref(op, "callee")?).cloned());
}

/// Writes the host's id on the function that was divided and on functions without a target.
fn name_hosts<'c>(module: Op<'c>, function: Op<'c>, id: &str) -> Result<()> {
    let b = Builder::before(function)?;
    if ir::attr_str(function, TARGET).as_deref() == Some(HOST) {
        // The id is no demand any more, so that the operations have to say it.
        let ops = edit::entry_block(function).map(ir::ops).unwrap_or_default();
        for op in ops.into_iter().filter(|op| ir::op_name(*op).starts_with("graph.")) {
            if ir::op_name(op) != graph::Constant::NAME && ir::attr_str(op, TARGET).is_none() {
                edit::set_attr(op, TARGET, b.str_attr(HOST));
            }
        }
    }
    for other in func::functions(module) {
        // Operations placed by the function's attribute are in functions of their own now.
        let is_divided = edit::same(other, function);
        if is_divided || ir::attr_str(other, TARGET).is_none() {
            edit::set_attr(other, TARGET, b.str_attr(id));
        }
    }
    Ok(())
}

/// Makes composites one after the other.
struct Maker<'c, 'd> {
    partitioned: &'d PartitionedFunction<'c>,
    /// Current value in the IR for each value of the view.
    current: RefCell<HashMap<ValueId, Val<'c>>>,
    calls: Calls<'c>,
}

impl<'c> Maker<'c, '_> {
    fn make(&mut self, kind: &str, (region, place): (usize, usize)) -> Result<Op<'c>> {
        let partitioned = self.partitioned;
        let chosen = &partitioned.partition.regions[region];
        let composite = &chosen.composites[place];
        let ids = composite.found.ops.iter();
        let ops: Vec<_> =
            ids.filter_map(|id| partitioned.view.ops.get(id.index()).copied()).collect();
        let name = format!("{kind}.{}", composite.name);
        let lost = || Error::internal("a value of a match is not in the function");
        let value = |id: ValueId| self.current.borrow().get(&id).copied().ok_or_else(lost);
        let outputs = composite.found.outputs.iter().copied().map(value);
        let outputs: Vec<_> = outputs.collect::<Result<_>>()?;
        // An unread value that a call computes all the same is an output while the composite is
        // made.
        let unread = outputs.iter().filter(|output| outside_use(**output, &ops).is_none());
        let readers = unread.map(|output| reader(*output)).collect::<Result<Vec<_>>>()?;
        let uses: Vec<_> = outputs.iter().map(|output| outside_use(*output, &ops)).collect();
        let names = &partitioned.details.names[region][place];
        captures::write(&partitioned.view, &composite.found, names)?;
        let made = match &partitioned.details.calls[region][place] {
            Some(call) => {
                let found = MatchedOps { ops, input: &value, outputs };
                self.calls.make(&name, &chosen.target, found, call)?
            }
            None => make_composite(&name, &chosen.target, &ops, vec![])?,
        };
        if !names.is_empty()
            && let Some(call) = &partitioned.details.calls[region][place]
        {
            edit::set_attr(made, LAYOUTS, Builder::before(made)?.str_attr(&layouts(call)));
        }
        if let Some(lowering) = &partitioned.details.lowerings[region][place] {
            edit::set_attr(made, LOWERING, Builder::before(made)?.str_attr(lowering));
        }
        // The value that the users of an output use now stands for it.
        for (id, (user, place)) in composite.found.outputs.iter().zip(uses.into_iter().flatten()) {
            if let Some(now) = ir::operands(user).get(place) {
                self.current.borrow_mut().insert(*id, *now);
            }
        }
        readers.into_iter().for_each(edit::erase);
        Ok(made)
    }
}

/// A reader of a value at the end of its block.
fn reader(value: Val<'_>) -> Result<Op<'_>> {
    let outside = || Error::internal("an output outside of a block");
    let maker = super::definer(value).ok_or_else(outside)?;
    let last = ir::ops(Builder::before(maker)?.block()).pop().ok_or_else(outside)?;
    let spec = OpSpec { operands: &[value], ..Default::default() };
    Builder::before(last)?.create("builtin.unrealized_conversion_cast", spec)
}

/// The symbols of a module's functions.
struct Symbols {
    taken: BTreeSet<String>,
    /// For each wanted name, the number of functions that have it with a number.
    numbers: HashMap<String, usize>,
}

impl Symbols {
    fn of(module: Op<'_>) -> Self {
        let taken = func::functions(module).into_iter().map(func::symbol).collect();
        Self { taken, numbers: HashMap::new() }
    }

    /// A symbol that no function has yet, as a C identifier.
    fn fresh(&mut self, wanted: &str) -> String {
        let clean: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = clean.clone();
        let number = self.numbers.entry(clean.clone()).or_default();
        while !self.taken.insert(name.clone()) {
            *number += 1;
            name = format!("{clean}_{number}");
        }
        name
    }
}
