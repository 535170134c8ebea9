//! Loops over graphs: Loop and Scan become `graph.scan`, or are unrolled where they cannot.
//!
//! A loop of the graph dialect has a known number of steps, and values of the same types in each.
//! Loops are unrolled where the import must know the number of a step, as for a slice that begins
//! there or a condition. Loops of a few steps are unrolled, too.

use melior::ir::ValueLike;

use crate::import::ImportError;
use crate::ir::{self, Val};
use crate::tensor::Tensor;

use super::body::{LoopBody, LoopStart, StepEnd, Way};
use super::context::NodeContext;
use super::control::{Outcome, attempt, graph_attribute, unsupported};
use super::emit::{Emitter, OpError, OpResult};
use super::flatten::Node;
use super::importer::Importer;
use super::proto::GraphProto;
use super::scan_plan::ScanPlan;

/// Longest loop that is unrolled.
const MAX_ITERATIONS: i64 = 4096;

/// Longest loop that computes on after its condition has ended it, without effect.
const MAX_WATCHED: i64 = 1 << 16;

/// Inputs of a Loop.
struct LoopInputs<'c> {
    /// The greatest number of steps.
    limit: i64,
    /// The greatest number of steps, if only a run knows.
    count: Option<Val<'c>>,
    /// True unless the initial condition is known to be false: the loop then has no steps.
    goes_on: bool,
    /// The same, if only a run knows.
    begins: Option<Val<'c>>,
    /// True if the body computes the condition for another step.
    watches: bool,
    carried: Vec<Val<'c>>,
    /// Number of outputs that are collected.
    collected: usize,
}

/// A step that can be the body of a loop, with its emitter and its outputs.
pub(super) type Step<'c> = (LoopBody<'c>, Emitter<'c>, Vec<Val<'c>>);

impl<'c> Importer<'_, 'c> {
    /// A loop whose trip count is known, and whose condition is at each iteration.
    pub(super) fn import_loop(
        &mut self,
        node: &Node<'_>,
        inputs: &[Option<Val<'c>>],
    ) -> Outcome<'c> {
        let graph = attempt!(graph_attribute(node, "body"));
        let given = attempt!(self.loop_inputs(graph, inputs));
        let steps = if given.goes_on { given.limit } else { 0 };
        if steps < 1 {
            return self.loop_of_no_trips(node, graph, &given);
        }
        let is_open = given.count.is_some() || given.begins.is_some();
        if (is_open || steps > self.unroll_loops)
            && steps < i64::MAX
            && let Some(results) =
                self.loop_of_loop(node, graph, &given, (given.begins.is_some(), vec![]))?
        {
            return Ok(results);
        }
        if is_open {
            return Ok(Err(unsupported(
                "a run decides how often the loop runs, so that each step must be as the others: no state may change its \
                 shape, and no size may depend on the step",
            )));
        }
        self.unroll_loop(node, graph, given)
    }

    fn loop_of_no_trips(
        &mut self,
        node: &Node<'_>,
        graph: &GraphProto,
        given: &LoopInputs<'c>,
    ) -> Outcome<'c> {
        let start = LoopStart {
            steps: 0,
            limit: None,
            states: given.carried.clone(),
            sequences: vec![],
            changing: vec![],
        };
        let arguments = |node: &NodeContext<'_, 'c>, inside: &[Val<'c>]| {
            let counter = node.constant(&Tensor::scalar(0_i64)?)?;
            let goes_on = node.constant(&Tensor::scalar(true)?)?;
            Ok([counter, goes_on].into_iter().chain(inside.iter().copied()).collect())
        };
        let collected = vec![Way::default(); given.collected];
        self.run_never(node, graph, start, arguments, (&given.carried, &collected))
    }

    fn loop_inputs(
        &self,
        graph: &GraphProto,
        inputs: &[Option<Val<'c>>],
    ) -> OpResult<LoopInputs<'c>> {
        let input = |index: usize| inputs.get(index).copied().flatten();
        let known = |value: Val<'c>| {
            let numbers = self.emitter.known(value).and_then(|tensor| tensor.to_i64());
            numbers.and_then(|list| list.first().copied())
        };
        let carried: Vec<_> = inputs.iter().skip(2).copied().flatten().collect();
        let collected = graph.output.len().checked_sub(1 + carried.len());
        let collected = collected.ok_or("the body has too few outputs")?;
        let count = input(0).filter(|count| known(*count).is_none());
        let begins = input(1).filter(|condition| known(*condition).is_none());
        let limit = match count {
            None => input(0).and_then(known).unwrap_or(i64::MAX),
            Some(count) => match self.most.get(&ir::id(count)) {
                Some(most) => *most,
                // Nothing has the size of the number of steps then.
                None if collected == 0 => i32::MAX.into(),
                None => {
                    return Err(unsupported(
                        "what a loop collects has as many elements as it runs steps, which only a run knows: give the trip \
                         count a value or, if it is an input, a range (--value NAME=1..16)",
                    ));
                }
            },
        };
        Ok(LoopInputs {
            limit,
            count,
            goes_on: input(1).and_then(known).is_none_or(|condition| condition != 0),
            begins,
            watches: input(1).is_some() || input(0).is_none(),
            carried,
            collected,
        })
    }

    /// A Loop as `graph.scan`, whose last state counts the iterations; none if it cannot be one. One more state says whether it
    /// goes on where it `ends` before its steps do. Dimensions of states are `changing` from step to step.
    fn loop_of_loop(
        &mut self,
        node: &Node<'_>,
        graph: &GraphProto,
        given: &LoopInputs<'c>,
        (ends, changing): (bool, Vec<(usize, usize)>),
    ) -> Result<Option<OpResult<Vec<Option<Val<'c>>>>>, ImportError> {
        let around = self.with_context(node, |node| {
            let scalar = |value: Val<'c>| node.reshape(value, &[]);
            let begins = match given.begins {
                Some(begins) => Some(scalar(begins)?),
                None if ends => Some(node.constant(&Tensor::scalar(true)?)?),
                None => None,
            };
            let limit = given.count.map(scalar).transpose()?;
            Ok((node.constant(&Tensor::scalar(0_i64)?)?, begins, limit))
        });
        let Ok((counter, begins, limit)) = around else { return Ok(None) };
        let count = given.carried.len();
        let states: Vec<_> = given.carried.iter().copied().chain([counter]).chain(begins).collect();
        let start = LoopStart {
            steps: given.limit,
            limit,
            states,
            sequences: vec![],
            changing: changing.clone(),
        };
        let arguments = |node: &NodeContext<'_, 'c>, inside: &[Val<'c>]| {
            let goes_on = node.constant(&Tensor::scalar(true)?)?;
            Ok([inside[count], goes_on]
                .into_iter()
                .chain(inside[..count].iter().copied())
                .collect())
        };
        let Some(step) = self.import_step(node, graph, start, arguments)? else { return Ok(None) };
        let (body, inner, outputs) = step;
        let goes_on = inner.known(outputs[0]).and_then(|value| value.to_i64());
        let (next, slices) = outputs[1..].split_at(count);
        let more = changes(&body.arguments[..count], next);
        if more.as_ref().is_none_or(|more| !more.is_empty()) {
            // Unrolling tells sizes better, where it can.
            let is_open = given.count.is_some() || ends;
            let is_new = |more: &Vec<_>| more.iter().all(|change| !changing.contains(change));
            return match more.filter(|more| is_open && is_new(more)) {
                Some(more) => {
                    let changing = [changing, more].concat();
                    self.loop_of_loop(node, graph, given, (ends, changing))
                }
                None => Ok(None),
            };
        }
        let is_watched =
            given.watches && goes_on.as_ref().is_none_or(|value| value.first() != Some(&1));
        if is_watched && goes_on.is_some() {
            return Ok(None);
        }
        if is_watched && !ends {
            // The number of a step may decide, which unrolling tells.
            return match given.count {
                Some(_) => self.loop_of_loop(node, graph, given, (true, changing)),
                None => Ok(None),
            };
        }
        if ends && given.limit > MAX_WATCHED {
            return Ok(Some(Err(unsupported(format!(
                "the data of a loop end it, and its trip count is not known to be {MAX_WATCHED} at most: give it one"
            )))));
        }
        let counter = body.arguments[count];
        let going = body.arguments.get(count + 1).copied();
        let old = body.arguments[..count].to_vec();
        let finish = || -> OpResult<Vec<Option<Val<'c>>>> {
            let ticked = if ir::has_uses(counter, 1) {
                let one = inner.constant(&Tensor::scalar(1_i64)?.into(), "one")?;
                inner.op("add", &[counter, one], &[])?[0]
            } else {
                counter
            };
            let mut states = next.to_vec();
            if let Some(going) = going {
                // After its end a loop keeps its states.
                for (next, old) in states.iter_mut().zip(&old) {
                    *next = inner.op("where", &[going, *next, *old], &[])?[0];
                }
            }
            states.push(ticked);
            if let Some(going) = going {
                let scalar =
                    inner.constant(&Tensor::from_slice::<i64>(&[0], &[])?.into(), "shape")?;
                let condition = inner.op("reshape", &[outputs[0], scalar], &[])?[0];
                states.push(match is_watched {
                    true => inner.op("and", &[going, condition], &[])?[0],
                    false => going,
                });
            }
            let mut slices: Vec<_> = slices.iter().map(|it| (*it, Way::default())).collect();
            let is_collected = !slices.is_empty();
            slices.extend(going.filter(|_| is_collected).map(|going| (going, Way::default())));
            let end = StepEnd { states, slices };
            let mut results = body.finish(&self.emitter, &inner, &end)?;
            results.drain(count..=count + usize::from(going.is_some()));
            let ran = going.filter(|_| is_collected).and_then(|_| results.pop());
            if !is_collected || (ran.is_none() && limit.is_none()) {
                return Ok(results.into_iter().map(Some).collect());
            }
            // Slices collected by steps that did not run are left out.
            self.with_context(node, |node| {
                let mut flags = ran;
                if let Some(limit) = limit {
                    let steps: Vec<_> = (0..given.limit).collect();
                    let below = node.op("less", &[node.i64s(&steps)?, limit], &[])?;
                    flags = Some(match flags {
                        Some(flags) => node.op("and", &[flags, below], &[])?,
                        None => below,
                    });
                }
                let Some(flags) = flags else { return Ok(vec![]) };
                let mut all: Vec<_> = results[..count].iter().copied().map(Some).collect();
                for column in &results[count..] {
                    let axis = [("axis", 0_i64.into())];
                    all.push(Some(node.op("compress", &[*column, flags], &axis)?));
                }
                Ok(all)
            })
        };
        Ok(Some(finish()))
    }

    /// Imports a graph as one step of a loop. None, and nothing is left of it, if the graph cannot
    /// be one: its types change from step to step, or it holds values known for a single step only.
    pub(super) fn import_step(
        &mut self,
        node: &Node<'_>,
        graph: &GraphProto,
        start: LoopStart<'c>,
        arguments: impl FnOnce(&NodeContext<'_, 'c>, &[Val<'c>]) -> OpResult<Vec<Val<'c>>>,
    ) -> Result<Option<Step<'c>>, ImportError> {
        let refused = self.refused.clone();
        let sequences = start.sequences.iter().map(|(value, _)| value);
        let mut is_open = !start.changing.is_empty()
            || start.states.iter().chain(sequences).any(|value| !is_static(value));
        let (body, inner) = LoopBody::new(&self.emitter, start);
        let block = inner.builder().block();
        self.enter(inner);
        let arguments = self.with_context(node, |node| arguments(node, &body.arguments));
        let outputs = match arguments {
            Ok(arguments) => self.run_body(node, graph, "step", &arguments),
            Err(_) => Ok(vec![]),
        };
        let Some(inner) = self.leave() else { return Ok(None) };
        // The fault in it is reported when it is unrolled.
        let failed = self.refused.len() > refused.len();
        self.refused = refused;
        let outputs = outputs.ok().and_then(|list| list.into_iter().collect::<Option<Vec<_>>>());
        let Some(outputs) = outputs.filter(|list| !failed && list.len() == graph.output.len())
        else {
            return Ok(None);
        };
        // Sizes of a step follow from those around the loop, or else only unrolling tells them.
        is_open |= inner.captured().iter().any(|value| !is_static(value));
        let known = |op: &ir::Op<'c>| ir::results(*op).iter().all(is_static);
        let is_loop = is_open || ir::ops(block).iter().all(known);
        Ok(is_loop.then_some((body, inner, outputs)))
    }

    /// Runs a Loop step by step.
    fn unroll_loop(
        &mut self,
        node: &Node<'_>,
        body: &GraphProto,
        given: LoopInputs<'c>,
    ) -> Outcome<'c> {
        let LoopInputs { limit, mut goes_on, watches, collected, .. } = given;
        let mut carried = given.carried.clone();
        let mut columns = vec![Vec::new(); collected];
        let mut iteration = 0;
        while iteration < limit && goes_on {
            if iteration == MAX_ITERATIONS {
                let reason = format!("a loop of more than {MAX_ITERATIONS} iterations");
                return Ok(Err(unsupported(reason)));
            }
            let counters = attempt!(self.with_context(node, |node| Ok([
                node.constant(&Tensor::scalar(iteration)?)?,
                node.constant(&Tensor::scalar(true)?)?,
            ])));
            let arguments: Vec<_> = counters.into_iter().chain(carried.iter().copied()).collect();
            let outputs = self.run_body(node, body, &iteration.to_string(), &arguments)?;
            let Some(outputs) = outputs.into_iter().collect::<Option<Vec<_>>>() else {
                return Ok(Ok(vec![None; node.proto.output.len()]));
            };
            if watches {
                let condition = self.emitter.known(outputs[0]).and_then(|c| c.to_i64());
                goes_on = match condition.as_deref() {
                    Some([condition, ..]) => *condition != 0,
                    _ => {
                        if limit < i64::MAX
                            && let Some(results) =
                                self.loop_of_loop(node, body, &given, (true, vec![]))?
                        {
                            return Ok(results);
                        }
                        return Ok(Err(unsupported(
                            "data decide on the end of the loop, so that it needs a trip count, and each step must be as the \
                             others: no state may change its shape, and no size may depend on the step",
                        )));
                    }
                };
            }
            let split = 1 + carried.len();
            carried = outputs[1..split].to_vec();
            for (column, value) in columns.iter_mut().zip(&outputs[split..]) {
                column.push(*value);
            }
            iteration += 1;
        }
        Ok(self.with_context(node, |node| {
            let mut results: Vec<_> = carried.into_iter().map(Some).collect();
            for column in &columns {
                results.push(Some(stack(node, column, 0)?));
            }
            Ok(results)
        }))
    }

    /// A scan over sequences.
    pub(super) fn import_scan(
        &mut self,
        node: &Node<'_>,
        inputs: &[Option<Val<'c>>],
    ) -> Outcome<'c> {
        let body = attempt!(graph_attribute(node, "body"));
        if node.opset < 9 {
            return Ok(Err(unsupported("the form of operator set 8 is not supported")));
        }
        let Some(inputs) = inputs.iter().copied().collect::<Option<Vec<_>>>() else {
            return Ok(Err("an input is missing".into()));
        };
        let plan = attempt!(ScanPlan::read(node, body, &inputs));
        if plan.length == 0 {
            let (states, sequences) = inputs.split_at(plan.carried);
            let sequences = sequences.iter().copied().zip(plan.scanned.iter().copied()).collect();
            let start = LoopStart {
                steps: 0,
                limit: None,
                states: states.to_vec(),
                sequences,
                changing: vec![],
            };
            let all = |_: &NodeContext<'_, 'c>, inside: &[Val<'c>]| Ok(inside.to_vec());
            return self.run_never(node, body, start, all, (states, &plan.collected));
        }
        let is_open = plan.length == ir::DYNAMIC;
        if (is_open || plan.length > self.unroll_loops)
            && let Some(results) = self.loop_of_scan(node, body, &inputs, &plan)?
        {
            return Ok(results);
        }
        if is_open {
            return Ok(Err(unsupported(
                "a run decides on the length of the scanned sequences, so that each step must be as the others: no state may \
                 change its shape",
            )));
        }
        if plan.length > MAX_ITERATIONS {
            return Ok(Err(unsupported(format!("unrolling a scan over {} elements", plan.length))));
        }
        self.unroll_scan(node, body, &inputs, &plan)
    }

    /// A Scan as `graph.scan`; none if it cannot be one.
    fn loop_of_scan(
        &mut self,
        node: &Node<'_>,
        graph: &GraphProto,
        inputs: &[Val<'c>],
        plan: &ScanPlan,
    ) -> Result<Option<OpResult<Vec<Option<Val<'c>>>>>, ImportError> {
        let (states, sequences) = inputs.split_at(plan.carried);
        let sequences = sequences.iter().copied().zip(plan.scanned.iter().copied()).collect();
        let start = LoopStart {
            steps: plan.length,
            limit: None,
            states: states.to_vec(),
            sequences,
            changing: vec![],
        };
        let arguments = |_: &NodeContext<'_, 'c>, inside: &[Val<'c>]| Ok(inside.to_vec());
        let Some(step) = self.import_step(node, graph, start, arguments)? else { return Ok(None) };
        let (body, inner, outputs) = step;
        let (next, slices) = outputs.split_at(plan.carried);
        if !same_types(states, next) {
            return Ok(None);
        }
        let mut ways = vec![];
        for (slice, way) in slices.iter().zip(&plan.collected) {
            if way.axis > ir::dims(slice.r#type()).len() {
                return Ok(None);
            }
            ways.push((*slice, *way));
        }
        let end = StepEnd { states: next.to_vec(), slices: ways };
        let results = body.finish(&self.emitter, &inner, &end);
        Ok(Some(results.map(|results| results.into_iter().map(Some).collect())))
    }

    /// Runs a Scan step by step.
    fn unroll_scan(
        &mut self,
        node: &Node<'_>,
        body: &GraphProto,
        inputs: &[Val<'c>],
        plan: &ScanPlan,
    ) -> Outcome<'c> {
        let mut carried = inputs[..plan.carried].to_vec();
        let mut columns = vec![Vec::new(); plan.collected.len()];
        for step in 0..plan.length {
            let pieces = attempt!(self.with_context(node, |node| {
                let piece = |(index, way): (usize, &Way)| {
                    let at = if way.reversed { plan.length - 1 - step } else { step };
                    let value = inputs[plan.carried + index];
                    let piece = node.slice(value, way.axis, at, at + 1)?;
                    node.squeeze(piece, &[way.axis as i64])
                };
                plan.scanned.iter().enumerate().map(piece).collect::<OpResult<Vec<_>>>()
            }));
            let arguments: Vec<_> = carried.iter().copied().chain(pieces).collect();
            let outputs = self.run_body(node, body, &step.to_string(), &arguments)?;
            let Some(outputs) = outputs.into_iter().collect::<Option<Vec<_>>>() else {
                return Ok(Ok(vec![None; node.proto.output.len()]));
            };
            carried = outputs[..plan.carried].to_vec();
            for (column, value) in columns.iter_mut().zip(&outputs[plan.carried..]) {
                column.push(*value);
            }
        }
        Ok(self.with_context(node, |node| {
            let mut results: Vec<_> = carried.into_iter().map(Some).collect();
            for (mut column, way) in columns.into_iter().zip(&plan.collected) {
                if way.reversed {
                    column.reverse();
                }
                let rank = column.first().map_or(0, |value| ir::dims(value.r#type()).len());
                let axis = node.axis(way.axis as i64, rank + 1)?;
                results.push(Some(stack(node, &column, axis as i64)?));
            }
            Ok(results)
        }))
    }
}

fn is_static(value: &Val<'_>) -> bool {
    ir::static_dims(value.r#type()).is_some()
}

/// The dimensions of states that are others in the next step; none if not only dimensions are.
fn changes(states: &[Val<'_>], next: &[Val<'_>]) -> Option<Vec<(usize, usize)>> {
    let mut all = vec![];
    for (index, (state, next)) in states.iter().zip(next).enumerate() {
        let (before, after) = (ir::dims(state.r#type()), ir::dims(next.r#type()));
        let is_same_kind = ir::element_type(state.r#type()) == ir::element_type(next.r#type());
        if before.len() != after.len() || !is_same_kind {
            return None;
        }
        let dims = before.iter().zip(&after).enumerate();
        all.extend(dims.filter(|(_, (a, b))| a != b).map(|(axis, _)| (index, axis)));
    }
    Some(all)
}

/// The states of a loop have one type each in all steps.
fn same_types(states: &[Val<'_>], next: &[Val<'_>]) -> bool {
    states.iter().zip(next).all(|(a, b)| a.r#type() == b.r#type())
}

/// The values next to each other along a new dimension.
fn stack<'c>(node: &NodeContext<'_, 'c>, values: &[Val<'c>], axis: i64) -> OpResult<Val<'c>> {
    let slices = values.iter().map(|value| node.unsqueeze(*value, &[axis]));
    node.concat(&slices.collect::<OpResult<Vec<_>>>()?, axis)
}
