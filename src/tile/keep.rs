//! Which results stay in a pool for the calls that read them.
//!
//! A result that stays takes all its bytes from the call that writes it to the last that reads it, so that
//! calls in between have smaller tiles. It stays if all of these calls cost less together then, by what
//! their plans say of transfers and computation: the result that saves most first, each beside
//! those before.

use super::{
    choose::Chooser,
    plan::{Plan, Tensor},
};
use crate::plan::{Buffer, plan};
use std::collections::HashMap;

/// A call that is computed tile by tile, in the order of the program.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its loops and tiles.
    pub plan: Plan,
    /// How many of its tensors it reads.
    pub reads: usize,
}

/// A tensor of a call, by their places.
pub type Place = (usize, usize);

/// A result that may stay: all that reads it are calls.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who writes it.
    pub writer: Place,
    /// Who reads it, in order.
    pub readers: Vec<Place>,
}

/// Makes plans in which results stay where that costs less; gives the places of these candidates.
pub fn keep(calls: &mut [Call], candidates: &[Candidate]) -> Result<Vec<usize>, String> {
    let mut costs = Costs::default();
    let mut capacity: HashMap<String, i64> = HashMap::new();
    for pool in calls.iter().flat_map(|call| &call.plan.pools) {
        let known = capacity.entry(pool.name.clone()).or_insert(pool.bytes);
        *known = pool.bytes.min(*known);
    }
    let mut gains = vec![];
    for (place, candidate) in candidates.iter().enumerate() {
        if let Some((gain, _)) = attempt(calls, candidate, &mut costs)? {
            gains.push((gain, place));
        }
    }
    gains.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    let mut kept: Vec<usize> = vec![];
    for (_, place) in gains {
        let Some(candidate) = candidates.get(place) else { continue };
        let Some((_, changed)) = attempt(calls, candidate, &mut costs)? else { continue };
        let span = calls.get_mut(candidate.span()).into_iter().flatten();
        let before: Vec<Call> =
            span.zip(changed).map(|(call, new)| std::mem::replace(call, new)).collect();
        kept.push(place);
        let stay = kept.iter().filter_map(|place| candidates.get(*place));
        if !has_places(calls, &stay.collect::<Vec<_>>(), candidate, &capacity)? {
            kept.pop();
            let span = calls.get_mut(candidate.span()).into_iter().flatten();
            span.zip(before).for_each(|(call, old)| *call = old);
        }
    }
    kept.sort_unstable();
    Ok(kept)
}

impl Candidate {
    /// The calls during which it is in the pool.
    fn span(&self) -> std::ops::RangeInclusive<usize> {
        let last = self.readers.iter().map(|(call, _)| *call).max();
        self.writer.0..=last.unwrap_or(self.writer.0)
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        std::iter::once(self.writer).chain(self.readers.iter().copied())
    }

    /// The result as the call has it that writes it, and the name of its pool.
    fn of<'a>(&self, calls: &'a [Call]) -> Option<(&'a Tensor, &'a super::plan::Pool)> {
        let plan = &calls.get(self.writer.0)?.plan;
        let tensor = plan.tensors.get(self.writer.1)?;
        Some((tensor, plan.pools.get(tensor.pool_place()?)?))
    }
}

/// What calls cost that are not changed, by their plans.
#[derive(Default)]
struct Costs(HashMap<String, Option<f64>>);

impl Costs {
    fn of(&mut self, call: &Call) -> Result<Option<f64>, String> {
        let key = serde_json::to_string(&call.plan).map_err(|error| error.to_string())?;
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let cost = Chooser::new(&call.plan, call.reads, &[])?.least_cost();
        self.0.insert(key, cost);
        Ok(cost)
    }
}

/// What is saved if a result stays, and the calls then; none if that is nothing.
fn attempt(
    calls: &[Call],
    candidate: &Candidate,
    costs: &mut Costs,
) -> Result<Option<(f64, Vec<Call>)>, String> {
    let span = candidate.span();
    let Some((tensor, pool)) = candidate.of(calls) else { return Ok(None) };
    let bytes = tensor.bytes_in(pool);
    let name = pool.name.clone();
    let mut changed = calls.get(span.clone()).unwrap_or_default().to_vec();
    let mut places = candidate.places();
    let is_kept = places.all(|(call, tensor)| {
        let call = call.checked_sub(*span.start()).and_then(|call| changed.get_mut(call));
        let tensor = call.and_then(|call| call.plan.tensors.get_mut(tensor));
        tensor.map(|tensor| tensor.kept = true).is_some()
    });
    let uses: Vec<usize> = candidate.places().map(|(call, _)| call).collect();
    let others = changed.iter_mut().zip(span.clone()).filter(|(_, place)| !uses.contains(place));
    for (call, _) in others {
        call.plan.pools.iter_mut().filter(|pool| pool.name == name).for_each(|p| p.bytes -= bytes);
    }
    if !is_kept || changed.iter().any(|call| call.plan.pools.iter().any(|pool| pool.bytes < 1)) {
        return Ok(None);
    }
    let mut gain = 0.0;
    for (old, new) in calls.get(span).unwrap_or_default().iter().zip(&changed) {
        let (Some(before), Some(after)) = (costs.of(old)?, costs.of(new)?) else {
            return Ok(None);
        };
        gain += before - after;
    }
    Ok((gain > 0.0).then_some((gain, changed)))
}

/// Whether tiles and what stays have places in the pool of a result: sums of bytes alone do not say it.
fn has_places(
    calls: &[Call],
    stay: &[&Candidate],
    new: &Candidate,
    capacity: &HashMap<String, i64>,
) -> Result<bool, String> {
    let Some((_, pool)) = new.of(calls) else { return Ok(false) };
    let unsigned = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let align = unsigned(pool.alignment);
    let buffer = |bytes: i64, span| Buffer::once(unsigned(bytes), align, span);
    let mut buffers = vec![];
    for candidate in stay {
        let Some((tensor, home)) = candidate.of(calls) else { continue };
        if home.name == pool.name {
            let span = candidate.span();
            buffers.push(buffer(tensor.bytes_in(home), (*span.start(), *span.end())));
        }
    }
    for (time, call) in calls.iter().enumerate() {
        let Some(place) = call.plan.pools.iter().position(|other| other.name == pool.name) else {
            continue;
        };
        let chooser = Chooser::new(&call.plan, call.reads, &[])?;
        let Some(choice) = chooser.choose() else { return Ok(false) };
        let tiles = chooser.tiles(place, &choice).unwrap_or_default();
        buffers.extend(tiles.into_iter().map(|bytes| buffer(bytes, (time, time))));
    }
    let room = capacity.get(&pool.name).copied().unwrap_or(0);
    Ok(plan(&buffers).is_ok_and(|found| found.peak <= unsigned(room)))
}

