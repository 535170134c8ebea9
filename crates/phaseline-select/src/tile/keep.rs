//! Choice of the results that stay in a pool for the calls that read them.
//!
//! A result that stays takes all its bytes from the call that writes it to the last that reads it,
//! so that calls in between have smaller tiles. It stays if all of these calls cost less together
//! then, by their plans' costs of transfers and computation. The result that saves most is tried
//! first, each beside those before.

use super::{
    choose::Chooser,
    plan::{Plan, Tensor},
    pool::Pool,
    stay::Gain,
};
use crate::plan::{Buffer, plan};
use std::collections::HashMap;

/// A call that is computed tile by tile, in the order of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its loops and tiles.
    pub plan: Plan,
    /// Number of its tensors that it reads; they come first.
    pub reads: usize,
}

impl Call {
    /// A tensor that is not kept yet, and the pool that could keep it. None unless the pool keeps
    /// results, and the tensor is there as its tile is, or as the pool of its tile converts it.
    pub fn home(&self, tensor: usize) -> Option<(&Tensor, &Pool)> {
        let is_read = tensor < self.reads;
        let tensor = self.plan.tensors.get(tensor).filter(|tensor| !tensor.kept)?;
        let pool = self.plan.pools.get(self.plan.keeping(tensor)?)?;
        let row = tensor.dims.last().map_or(1, |dim| dim.size);
        let is_full = pool.filled(row, tensor.kept_element()) == row;
        let is_right = match tensor.is_converted() {
            true => !is_read,
            false => tensor.moved_element() == tensor.element,
        };
        (pool.dma.keep_results && is_full && is_right).then_some((tensor, pool))
    }

    /// A tensor that is kept, and its pool.
    pub fn home_of_kept(&self, tensor: usize) -> Option<(&Tensor, &Pool)> {
        let tensor = self.plan.tensors.get(tensor).filter(|tensor| tensor.kept)?;
        Some((tensor, self.plan.pools.get(self.plan.keeping(tensor)?)?))
    }

    /// Reason that a result of the call has no [`Call::home`]; none if it has one, or is in a pool
    /// that keeps nothing.
    pub fn homeless(&self, tensor: usize) -> Option<String> {
        if self.home(tensor).is_some() {
            return None;
        }
        let tensor = self.plan.tensors.get(tensor).filter(|tensor| !tensor.kept)?;
        let own = &self.plan.pools.get(tensor.pool_place()?)?.dma;
        let converts = tensor.is_converted() || tensor.moved_element() != tensor.element;
        let keeping = self.plan.keeping(tensor).and_then(|place| self.plan.pools.get(place));
        let keeping = keeping.filter(|pool| pool.dma.keep_results);
        match (converts, keeping) {
            (true, None) => own.keep_results.then(|| "a store converts it".to_owned()),
            (false, None) => None,
            (_, Some(pool)) => Some(format!(
                "its rows of {} bytes do not fill rows of {} bytes of pool '{}'",
                tensor.dims.last().map_or(1, |dim| dim.size) * tensor.kept_element(),
                pool.row,
                pool.name
            )),
        }
    }
}

/// A tensor of a call, by their places.
pub type Place = (usize, usize);

/// A result that may stay: all that reads it are calls.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The call that writes it, and its place there.
    pub writer: Place,
    /// The calls that read it, in order, with its place in each.
    pub readers: Vec<Place>,
}

/// Decision on a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The result stays.
    Kept(Gain),
    /// The calls would cost more by this if it stayed.
    Dearer(f64),
    /// There is no space for it beside tiles and other residents.
    NoRoom,
}

/// Makes plans in which results stay where that costs less, and returns the decision on each
/// candidate. With `all` they stay at any cost, and half of their pools is left to other tiles.
pub fn keep(
    calls: &mut [Call],
    candidates: &[Candidate],
    all: bool,
) -> Result<Vec<Outcome>, String> {
    let mut costs = Costs::default();
    let capacity = Capacity::of(calls);
    let (mut gains, mut outcomes) = (vec![], vec![]);
    for (place, candidate) in candidates.iter().enumerate() {
        let attempt = attempt(calls, candidate, &mut costs, all)?;
        if let Attempt::Better { saved, .. } = &attempt {
            gains.push((*saved, place));
        }
        outcomes.push(attempt.refusal());
    }
    gains.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    let mut kept: Vec<usize> = vec![];
    for (_, place) in gains {
        let (Some(candidate), Some(outcome)) = (candidates.get(place), outcomes.get_mut(place))
        else {
            continue;
        };
        let attempt = attempt(calls, candidate, &mut costs, all)?;
        *outcome = attempt.refusal();
        let Attempt::Better { calls: changed, cost, saved } = attempt else { continue };
        let Some((tensor, pool)) = candidate.of(calls) else { continue };
        let (name, bytes) = (pool.name.clone(), tensor.bytes_in(pool));
        let span = calls.get_mut(candidate.span()).into_iter().flatten();
        let before: Vec<Call> =
            span.zip(changed).map(|(call, new)| std::mem::replace(call, new)).collect();
        kept.push(place);
        let stay = kept.iter().filter_map(|place| candidates.get(*place)?.resident(calls));
        if has_places(calls, &stay.collect::<Vec<_>>(), &capacity)? {
            let after = calls.get(candidate.span()).unwrap_or_default();
            let gain = Gain::of_whole(&before, after, (&name, bytes))?;
            *outcome = Outcome::Kept(Gain { cost, before: cost + saved, ..gain });
        } else {
            kept.pop();
            let span = calls.get_mut(candidate.span()).into_iter().flatten();
            span.zip(before).for_each(|(call, old)| *call = old);
        }
    }
    Ok(outcomes)
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

    /// The bytes that it takes.
    fn resident(&self, calls: &[Call]) -> Option<Resident> {
        let (tensor, pool) = self.of(calls)?;
        let (pool, bytes) = (pool.name.clone(), tensor.bytes_in(pool));
        Some(Resident { pool, bytes, span: (*self.span().start(), *self.span().end()) })
    }

    /// The result as the call has it that writes it, and the name of its pool.
    fn of<'a>(&self, calls: &'a [Call]) -> Option<(&'a Tensor, &'a Pool)> {
        let plan = &calls.get(self.writer.0)?.plan;
        let tensor = plan.tensors.get(self.writer.1)?;
        Some((tensor, plan.pools.get(plan.keeping(tensor)?)?))
    }
}

/// Least costs of calls, cached by their plans.
#[derive(Default)]
pub struct Costs(HashMap<String, Option<f64>>);

impl Costs {
    /// Cost of the cheapest tiles of a call; none if none fit.
    pub fn of(&mut self, call: &Call) -> Result<Option<f64>, String> {
        let key = serde_json::to_string(&call.plan).map_err(|error| error.to_string())?;
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let cost = Chooser::new(&call.plan, call.reads, &[])?.least_cost();
        self.0.insert(key, cost);
        Ok(cost)
    }
}

/// Outcome of letting a result stay, for the calls that this changes.
enum Attempt {
    /// The changed calls, their cost, and the saving, which is negative only if all are to stay.
    Better { calls: Vec<Call>, cost: f64, saved: f64 },
    /// The calls cost more by this, or as much.
    Dearer(f64),
    /// The result has no space, or a call no tiles then.
    NoRoom,
}

impl Attempt {
    /// Decision on the candidate if it does not stay.
    fn refusal(&self) -> Outcome {
        match self {
            Self::Dearer(by) => Outcome::Dearer(*by),
            Self::Better { .. } | Self::NoRoom => Outcome::NoRoom,
        }
    }
}

fn attempt(
    calls: &[Call],
    candidate: &Candidate,
    costs: &mut Costs,
    all: bool,
) -> Result<Attempt, String> {
    let span = candidate.span();
    let Some((tensor, pool)) = candidate.of(calls) else { return Ok(Attempt::NoRoom) };
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
        call.plan.pools.iter_mut().filter(|pool| pool.name == name).for_each(|p| p.taken += bytes);
    }
    if all {
        let pools = changed.iter_mut().flat_map(|call| &mut call.plan.pools);
        pools.for_each(|pool| pool.taken = pool.taken.max(pool.bytes / 2));
    }
    // Tiles that were decided are those of calls that keep nothing.
    changed.iter_mut().for_each(|call| call.plan.tiles = None);
    if !is_kept || changed.iter().any(|call| call.plan.pools.iter().any(|pool| pool.room() < 1)) {
        return Ok(Attempt::NoRoom);
    }
    let (mut saved, mut cost) = (0.0, 0.0);
    for (old, new) in calls.get(span).unwrap_or_default().iter().zip(&changed) {
        let (Some(before), Some(after)) = (costs.of(old)?, costs.of(new)?) else {
            return Ok(Attempt::NoRoom);
        };
        saved += before - after;
        cost += after;
    }
    Ok(match saved > 0.0 || all {
        true => Attempt::Better { calls: changed, cost, saved },
        false => Attempt::Dearer(-saved),
    })
}

/// Bytes of pools.
pub struct Capacity(HashMap<String, i64>);

impl Capacity {
    /// The bytes that all calls have of each pool.
    pub fn of(calls: &[Call]) -> Self {
        let mut found: HashMap<String, i64> = HashMap::new();
        for pool in calls.iter().flat_map(|call| &call.plan.pools) {
            let known = found.entry(pool.name.clone()).or_insert(pool.bytes);
            *known = pool.bytes.min(*known);
        }
        Self(found)
    }

    /// True if buffers have places in a pool.
    fn holds(&self, pool: &str, buffers: &[Buffer]) -> bool {
        let room = self.0.get(pool).copied().unwrap_or(0);
        plan(buffers).is_ok_and(|found| found.peak <= unsigned(room))
    }

    /// True if the residents have places.
    pub fn hold(&self, stay: &[Resident]) -> bool {
        self.0.keys().all(|pool| {
            let here = stay.iter().filter(|resident| resident.pool == *pool);
            // Sizes are multiples of the alignment.
            let buffers: Vec<_> =
                here.map(|one| Buffer::once(unsigned(one.bytes), 1, one.span)).collect();
            self.holds(pool, &buffers)
        })
    }
}

/// A buffer that stays in a pool.
#[derive(Clone, Debug)]
pub struct Resident {
    /// The pool.
    pub pool: String,
    /// Its bytes there.
    pub bytes: i64,
    /// The first and the last call during which it is there.
    pub span: (usize, usize),
}

/// True if tiles and residents have places in their pools: sums of bytes alone do not say it.
pub fn has_places(calls: &[Call], stay: &[Resident], capacity: &Capacity) -> Result<bool, String> {
    let mut buffers: HashMap<&str, Vec<Buffer>> = HashMap::new();
    for (time, call) in calls.iter().enumerate() {
        let chooser = Chooser::new(&call.plan, call.reads, &[])?;
        let Some(choice) = chooser.decided() else { return Ok(false) };
        for (place, pool) in call.plan.pools.iter().enumerate() {
            let align = unsigned(pool.alignment);
            let buffer = |bytes: i64, span| Buffer::once(unsigned(bytes), align, span);
            let known = buffers.entry(&pool.name).or_insert_with(|| {
                let here = stay.iter().filter(|resident| resident.pool == pool.name);
                here.map(|resident| buffer(resident.bytes, resident.span)).collect()
            });
            let tiles = chooser.tiles(place, &choice).unwrap_or_default();
            known.extend(tiles.into_iter().map(|bytes| buffer(bytes, (time, time))));
        }
    }
    Ok(buffers.into_iter().all(|(pool, buffers)| capacity.holds(pool, &buffers)))
}

fn unsigned(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}
