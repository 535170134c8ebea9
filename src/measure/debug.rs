//! Search for the fault of a divided network: `phaseline debug`.
//!
//! The host computes every value of the network. Each match of each device is then run by itself
//! on the host's values, so that an error shows where it arises and nowhere else. If all of them
//! are right and the network as a whole is not, the regions are added one by one.

use super::extract::Extract;
use crate::{
    CompileOptions, DType, Error, Phase, Result, Session, Tensor,
    codegen::c::compile::DeviceBuild,
    graph::ValueId,
    hook::DryRuns,
    ir::{
        self, edit, func,
        names::{PATTERN, TARGET},
        types::dtype_name,
    },
    outline::{self, DivideOptions, PartitionedFunction},
    partition::{Placement, placement::HOST},
    passes::graph_partition,
    targets::read_profile,
    tensor::{Comparison, compare},
};
use indexmap::IndexMap;
use melior::ir::{Module, ValueLike};
use std::collections::{HashMap, HashSet};

/// Tolerance for differences.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Relative difference of floats.
    pub rtol: f64,
    /// Absolute difference of floats.
    pub atol: f64,
    /// Difference of integers; of floats that come from integers, as many steps of their quantization.
    pub steps: f64,
}

impl Tolerance {
    /// Compares integers, or floats that `step` separates for neighbouring integers.
    fn compare(&self, got: &Tensor, want: &Tensor, step: f64) -> Result<Comparison> {
        let float = self.atol.max(self.steps * step);
        let atol = if want.dtype().is_float() { float } else { self.steps };
        Ok(compare(got, want, self.rtol, atol)?)
    }
}

/// A match that was run by itself.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Name of its region: target and number.
    pub region: String,
    /// The pattern.
    pub pattern: String,
    /// Nodes of the model that it takes.
    pub nodes: Vec<String>,
    /// Differences of host and device, for each result; or the reason why the match did not run.
    pub outcome: std::result::Result<Vec<Comparison>, String>,
    /// All tensors if a result differs: those read, the right results, and the device's.
    pub tensors: IndexMap<String, Tensor>,
}

impl Checked {
    /// True if it ran and all results are within the tolerance.
    pub fn passed(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|results| results.iter().all(Comparison::passed))
    }
}

/// Findings about a network.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The matches, in the order of the program.
    pub matches: Vec<Checked>,
    /// Differences of the whole network's outputs; or the reason why it did not run.
    pub whole: std::result::Result<Vec<Comparison>, String>,
    /// The region with which the whole becomes wrong, though each match is right.
    pub region: Option<String>,
}

impl Session {
    /// Compares each match of a network with the host, on the values that `inputs`, in the order
    /// of the network's, lead to. `progress` is told how much is done, how much there is, and what
    /// is next.
    pub fn find_difference(
        &self,
        module: &mut Module<'_>,
        options: &CompileOptions<'_>,
        inputs: &[Tensor],
        tolerance: Tolerance,
        progress: &dyn Fn(usize, usize, &str),
    ) -> Result<Findings> {
        self.run_phases(module, options, Phase::PrePartition)?;
        let targets = options.resolve(self)?;
        if let Some(host) = targets.last() {
            // What a function computes differs from call to call.
            outline::inline_calls(ir::root(module), &host.id)?;
        }
        let placement = options.placement.as_deref().map(graph_partition::read_placement);
        let placement: Option<Placement> = placement.transpose()?;
        let profile = options.profile.as_deref().map(read_profile).transpose()?;
        let judge = DryRuns::default();
        let how = DivideOptions {
            placement: placement.as_ref(),
            search: options.placement_search,
            profile: profile.as_ref(),
            apart: options.apart,
            judge: Some(&judge),
        };
        let operators = options.operators(self)?;
        let partitioned_functions = outline::settle(ir::root(module), &targets, &how, &operators)?;
        let (_, partitioned) =
            partitioned_functions.into_iter().next().ok_or_else(func::no_main)?;
        let mut search = Search {
            session: self,
            options,
            partitioned: &partitioned,
            tolerance,
            known: HashMap::new(),
            build: DeviceBuild::default(),
        };
        progress(0, 1, "all values on the host");
        search.compute(inputs)?;
        let regions = &partitioned.partition.regions;
        let all: usize = regions.iter().map(|region| region.composites.len()).sum();
        let mut matches = vec![];
        for region in regions {
            for (place, _) in region.composites.iter().enumerate() {
                progress(matches.len(), all + 1, &region.name());
                matches.push(search.check(region, place));
                self.clear_diagnostics();
            }
        }
        progress(all, all + 1, "the whole network");
        let whole = search.whole(module, inputs, regions.len());
        let wrong = |outcome: &Outcome| {
            !outcome.as_ref().is_ok_and(|list| list.iter().all(Comparison::passed))
        };
        let region = match wrong(&whole) && matches.iter().all(Checked::passed) {
            true => Some(search.first_wrong(module, inputs, &wrong)),
            false => None,
        };
        self.clear_diagnostics();
        Ok(Findings { matches, whole, region })
    }
}

type Outcome = std::result::Result<Vec<Comparison>, String>;

struct Search<'a, 'c> {
    session: &'c Session,
    options: &'a CompileOptions<'a>,
    partitioned: &'a PartitionedFunction<'c>,
    tolerance: Tolerance,
    /// Keeps the objects of devices' C, which is the same for all matches.
    build: DeviceBuild,
    /// Values that the host computed.
    known: HashMap<ValueId, Tensor>,
}

impl<'c> Search<'_, 'c> {
    /// The options of the user for a network that is divided as its attributes say.
    fn options(&self) -> CompileOptions<'_> {
        CompileOptions {
            targets: self.options.targets.clone(),
            target_path: self.options.target_path.clone(),
            name: "debug".into(),
            after: Phase::PrePartition,
            cc: self.options.cc.clone(),
            devices: Some(&self.build),
            // The tiles are those of the compile that is looked into.
            profile: self.options.profile.clone(),
            phases: self.options.phases.clone(),
            ..Default::default()
        }
    }

    fn run(&self, module: Module<'_>, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.session.compile(module, &self.options())?.load()?.run(inputs)
    }

    /// Lets the host compute the values of all operations.
    fn compute(&mut self, inputs: &[Tensor]) -> Result<()> {
        let view = &self.partitioned.view;
        let ops: Vec<_> = view.graph.ops().map(|(id, _)| id).collect();
        let made: HashMap<ValueId, _> = view.values.iter().copied().collect();
        // What a program can be given: types and sizes that are known.
        let passes = |id: &ValueId| {
            made.get(id).is_some_and(|value| {
                let ty = value.r#type();
                ir::static_dims(ty).is_some() && DType::from_name(&dtype_name(ty)).is_some()
            })
        };
        let results = ops.iter().flat_map(|id| view.graph.op(*id).results.clone());
        let outputs: Vec<ValueId> = results.filter(passes).collect();
        let (arguments, _) = view.graph.boundary(&ops);
        let extract = Extract {
            ops: &ops,
            inputs: &arguments,
            outputs: &outputs,
            target: HOST,
            pattern: None,
            times: 1,
        };
        // The network may have inputs that nothing reads, in another order.
        let given = edit_arguments(self.partitioned, &made).zip(inputs);
        self.known.extend(given.map(|(id, tensor)| (id, tensor.clone())));
        let read = self.moved(&arguments)?;
        let computed = self.run(extract.module(self.session, view)?, &read)?;
        self.known.extend(outputs.into_iter().zip(computed));
        Ok(())
    }

    /// Host results for those of the values that are no constants.
    fn moved(&self, values: &[ValueId]) -> Result<Vec<Tensor>> {
        let graph = &self.partitioned.view.graph;
        let values = values.iter().filter(|value| !graph.is_constant(**value));
        values.map(|value| self.value(*value)).collect()
    }

    fn value(&self, value: ValueId) -> Result<Tensor> {
        let found = self.known.get(&value).cloned();
        found.ok_or_else(|| Error::unsupported("a value whose type no program can be given"))
    }

    /// Runs a match by itself.
    fn check(&self, region: &crate::partition::Region, place: usize) -> Checked {
        let composite = &region.composites[place];
        let found = &composite.found;
        let graph = &self.partitioned.view.graph;
        let nodes = found.ops.iter().map(|id| graph.op(*id).location.clone());
        let mut checked = Checked {
            region: region.name(),
            pattern: composite.name.clone(),
            nodes: nodes.filter(|node| !node.is_empty()).collect(),
            outcome: Ok(vec![]),
            tensors: IndexMap::new(),
        };
        let extract = Extract {
            ops: &found.ops,
            inputs: &found.inputs,
            outputs: &found.outputs,
            target: &region.target,
            pattern: Some(&composite.name),
            times: 1,
        };
        let outcome = self.compare(&extract, &mut checked.tensors);
        checked.outcome = outcome.map_err(|error| error.to_string());
        if checked.passed() {
            checked.tensors.clear();
        }
        checked
    }

    fn compare(
        &self,
        extract: &Extract<'_>,
        tensors: &mut IndexMap<String, Tensor>,
    ) -> Result<Vec<Comparison>> {
        let inputs = self.moved(extract.inputs)?;
        let wanted: Vec<_> =
            extract.outputs.iter().map(|v| self.value(*v)).collect::<Result<_>>()?;
        let got = self.run(extract.module(self.session, &self.partitioned.view)?, &inputs)?;
        let own: HashSet<ir::Id> = extract
            .ops
            .iter()
            .filter_map(|id| self.partitioned.view.ops.get(id.index()))
            .map(ir::id)
            .collect();
        let mut results = vec![];
        for (place, ((got, want), id)) in got.iter().zip(&wanted).zip(extract.outputs).enumerate() {
            let step = self.step(*id, &|op| own.contains(&ir::id(op)));
            results.push(self.tolerance.compare(got, want, step)?);
            tensors.insert(format!("expected_{place}"), want.clone());
            tensors.insert(format!("got_{place}"), got.clone());
        }
        let inputs = inputs.into_iter().enumerate();
        tensors.extend(inputs.map(|(place, tensor)| (format!("input_{place}"), tensor)));
        Ok(results)
    }

    /// Runs the whole network, with so many of the regions on their devices.
    fn whole(&self, module: &Module<'_>, inputs: &[Tensor], regions: usize) -> Outcome {
        self.whole_or_error(module, inputs, regions).map_err(|error| error.to_string())
    }

    fn whole_or_error(
        &self,
        module: &Module<'_>,
        inputs: &[Tensor],
        regions: usize,
    ) -> Result<Vec<Comparison>> {
        let copy = edit::clone_module(ir::root(module))
            .ok_or_else(|| Error::internal("a network that is no module"))?;
        let main = func::main(ir::root(&copy)).ok_or_else(func::no_main)?;
        let body = edit::entry_block(main).map(ir::ops).unwrap_or_default();
        let is_constant = |op: &ir::Op<'_>| ir::op_name(*op) == ir::graph::Constant::NAME;
        let ops: Vec<_> = body.into_iter().filter(|op| !is_constant(op)).collect();
        let context = self.session.context();
        let text = |value: &str| melior::ir::attribute::StringAttribute::new(context, value).into();
        for op in ops.iter().filter(|op| ir::op_name(**op).starts_with("graph.")) {
            edit::set_attr(*op, TARGET, text(HOST));
            edit::remove_attr(*op, PATTERN);
        }
        for region in self.partitioned.partition.regions.iter().take(regions) {
            for composite in &region.composites {
                for op in composite.found.ops.iter().filter_map(|id| ops.get(id.index())) {
                    edit::set_attr(*op, TARGET, text(&region.target));
                    edit::set_attr(*op, PATTERN, text(&composite.name));
                }
            }
        }
        let outputs = self.partitioned.view.graph.outputs().to_vec();
        let got = self.run(copy, inputs)?;
        let pairs = got.iter().zip(outputs);
        // An output may be an input or a constant as it is, which nothing computes.
        let pairs = pairs.filter_map(|(got, id)| Some((got, self.known.get(&id)?, id)));
        let all = |_: ir::Op<'_>| true;
        pairs
            .map(|(got, want, id)| self.tolerance.compare(got, want, self.step(id, &all)))
            .collect()
    }

    /// Error of a value if an integer that it comes from is off by one.
    fn step(&self, id: ValueId, inside: &dyn Fn(ir::Op<'_>) -> bool) -> f64 {
        let values = &self.partitioned.view.values;
        let value = values.iter().find(|(known, _)| *known == id);
        value.map_or(0.0, |(_, value)| outline::quantization_step(*value, inside))
    }

    /// The region with which the whole becomes wrong: without any it is right.
    fn first_wrong(
        &self,
        module: &Module<'_>,
        inputs: &[Tensor],
        wrong: &dyn Fn(&Outcome) -> bool,
    ) -> String {
        let regions = &self.partitioned.partition.regions;
        let (mut right, mut bad) = (0, regions.len());
        while right + 1 < bad {
            let middle = usize::midpoint(right, bad);
            match wrong(&self.whole(module, inputs, middle)) {
                true => bad = middle,
                false => right = middle,
            }
        }
        regions.get(bad.saturating_sub(1)).map(crate::partition::Region::name).unwrap_or_default()
    }
}

/// The network's inputs as values of the view, in order.
fn edit_arguments<'d, 'c>(
    partitioned: &'d PartitionedFunction<'c>,
    made: &'d HashMap<ValueId, ir::Val<'c>>,
) -> impl Iterator<Item = ValueId> + 'd {
    let is_argument =
        |id: &ValueId| made.get(id).is_some_and(|value| edit::owner_block(*value).is_some());
    partitioned.view.values.iter().map(|(id, _)| *id).filter(move |id| is_argument(id))
}
