//! Calls that are computed one after the other for each stripe of the last one's result.
//!
//! A stripe is a piece of one loop of the last call. What it reads of the result of the call before is what that
//! call has to compute for it, and so on: windows that overlap are computed again for each stripe, as rows
//! of a pool that a call has left are gone by the next. What lies between two calls stays in their pool
//! ([`super::keep`]), and for each stripe a call is a call on smaller tensors, which is cut into tiles as
//! any other is.

mod stripes;

pub use stripes::{Link, Part, Stripes};

use super::{
    choose::{Chooser, least, sizes, transfer_of},
    keep::{Call, Capacity, Costs, Resident, has_places},
    pool::Pool,
};
use stripes::{stripe, stripes};

/// The most calls that are computed stripe by stripe together.
const LONGEST: usize = 4;
/// Each next size of stripes that is looked at is smaller by this.
const COARSE: f64 = 0.7;

/// Calls that are to be computed stripe by stripe.
#[derive(Clone, Debug)]
pub struct Cascade {
    /// The calls, by their places in the chain.
    pub calls: std::ops::Range<usize>,
    /// The loop of the last one that is cut, by its place.
    pub along: usize,
    /// What they cost like that.
    pub cost: f64,
    /// What they cost one after the other.
    pub before: f64,
    /// The stripes.
    pub stripes: Vec<Stripes>,
}

/// Which calls of a chain are to be computed stripe by stripe: those parts of the chain by which it costs
/// least as a whole.
pub fn cascades(chain: &[Link], costs: &mut Costs) -> Result<Vec<Cascade>, String> {
    // For each number of calls, what they cost at least, and what comes last of them.
    let mut best: Vec<(f64, Option<Cascade>)> = vec![(0.0, None)];
    for end in 1..=chain.len() {
        let single = chain.get(end - 1).map(|link| costs.of(&link.call)).transpose()?;
        let Some(single) = single.flatten() else { return Ok(vec![]) };
        let mut found = (best.get(end - 1).map_or(0.0, |(cost, _)| *cost) + single, None);
        for start in end.saturating_sub(LONGEST)..end.saturating_sub(1) {
            let before = best.get(start).map_or(0.0, |(cost, _)| *cost);
            let limit = found.0 - before;
            let links = chain.get(start..end).unwrap_or_default();
            if let Some((cost, stripes)) = cheapest(links, limit, costs)? {
                let calls = start..end;
                let cascade =
                    |(along, stripes)| Cascade { calls, along, cost, before: 0.0, stripes };
                found = (before + cost, stripes.map(cascade));
            }
        }
        best.push(found);
    }
    let (mut found, mut end) = (vec![], chain.len());
    while end > 0 {
        match best.get_mut(end).and_then(|(_, cascade)| cascade.take()) {
            Some(cascade) => {
                end = cascade.calls.start;
                found.push(cascade);
            }
            None => end -= 1,
        }
    }
    found.reverse();
    for cascade in &mut found {
        for link in chain.get(cascade.calls.clone()).unwrap_or_default() {
            cascade.before += costs.of(&link.call)?.unwrap_or(0.0);
        }
    }
    Ok(found)
}

/// Whether there is a loop along which calls can be computed stripe by stripe.
pub fn can_be_cut(links: &[Link]) -> bool {
    let loops = links.last().map(|last| &last.call.plan.loops);
    let mut places = loops.into_iter().flatten().enumerate().filter(|(_, l)| !l.reduce);
    places.any(|(place, l)| stripe(links, place, 0, least(l).min(l.extent)).is_some())
}

/// A cost, and the stripes that it is of, with the loop that they go along.
type Cheapest = (f64, Option<(usize, Vec<Stripes>)>);

/// What calls cost with their cheapest stripes, and these, if that is less than `limit`. No stripes, but a cost,
/// says that results should stay as a whole.
fn cheapest(links: &[Link], mut limit: f64, costs: &mut Costs) -> Result<Option<Cheapest>, String> {
    let Some(last) = links.last() else { return Ok(None) };
    let mut best = None;
    let calls: Vec<Call> = links.iter().map(|link| link.call.clone()).collect();
    let capacity = Capacity::of(&calls);
    for (place, l) in last.call.plan.loops.iter().enumerate().filter(|(_, l)| !l.reduce) {
        let mut before = i64::MAX;
        let mut thinned = sizes(l);
        thinned.retain(|size| {
            let taken = *size as f64 <= before as f64 * COARSE || *size == least(l);
            before = if taken { *size } else { before };
            taken
        });
        for size in thinned {
            // Most sizes are dearer by the stripes in the middle alone, which but for a few are alike.
            let count = (l.extent + size - 1) / size;
            if count > 2 {
                let middle = stripe(links, place, count / 2 * size, size);
                let middle = middle.map(|parts| Stripes { count: count - 2, parts });
                let Some(middle) = middle else { continue };
                if cost(&mut [middle], limit, costs, &capacity)?.is_none() {
                    continue;
                }
            }
            let Some(mut stripes) = stripes(links, place, size) else { continue };
            let Some(cost) = cost(&mut stripes, limit, costs, &capacity)? else { continue };
            let fits = |fits, run: &Stripes| Ok::<_, String>(fits && have_places(run, &capacity)?);
            if stripes.iter().try_fold(true, fits)? {
                limit = cost;
                let is_whole = size >= l.extent;
                best = Some((cost, (!is_whole).then_some((place, stripes))));
            }
        }
    }
    Ok(best)
}

/// What stripes cost, if all of them have tiles and that is less than `limit`. What is loaded once for several is
/// decided.
fn cost(
    stripes: &mut [Stripes],
    limit: f64,
    costs: &mut Costs,
    capacity: &Capacity,
) -> Result<Option<f64>, String> {
    let mut sum = 0.0;
    for run in stripes {
        let Some(each) = cost_of(&run.parts, costs)? else { return Ok(None) };
        sum += match run.count {
            1 => each,
            _ => {
                let plain = hold(run, each, costs)?;
                overlapped(run, capacity)?.map_or(plain, |cost| cost.min(plain))
            }
        };
        if sum >= limit {
            return Ok(None);
        }
    }
    Ok(Some(sum))
}

fn cost_of(parts: &[Part], costs: &mut Costs) -> Result<Option<f64>, String> {
    let mut sum = 0.0;
    for part in parts {
        let Some(cost) = costs.of(&part.call)? else { return Ok(None) };
        sum += cost;
    }
    Ok(Some(sum))
}

/// Decides which tensors stay in their pool for all stripes of a run, small ones first; gives what the
/// run costs then. Without, each stripe costs `each`.
fn hold(run: &mut Stripes, mut each: f64, costs: &mut Costs) -> Result<f64, String> {
    let count = run.count as f64;
    let mut loads = 0.0;
    let mut same: Vec<(i64, usize, usize)> = vec![];
    for (place, part) in run.parts.iter().enumerate() {
        for tensor in 0..part.call.reads {
            let is_same = part.slices.get(tensor).is_some_and(Vec::is_empty);
            if let Some((tensor_of, pool)) = part.call.home(tensor).filter(|_| is_same) {
                same.push((tensor_of.bytes_in(pool), place, tensor));
            }
        }
    }
    same.sort_unstable();
    for (bytes, place, tensor) in same {
        let mut parts = run.parts.clone();
        let Some(part) = parts.get_mut(place) else { continue };
        let Some((_, pool)) = part.call.home(tensor) else { continue };
        let (name, load) = (pool.name.clone(), transfer_of(pool, bytes)?);
        part.held.push(tensor);
        if let Some(tensor) = part.call.plan.tensors.get_mut(tensor) {
            tensor.kept = true;
        }
        let others = parts.iter_mut().enumerate().filter(|(other, _)| *other != place);
        let pools = others.flat_map(|(_, part)| &mut part.call.plan.pools);
        pools.filter(|pool| pool.name == name).for_each(|pool| pool.taken += bytes);
        if parts.iter().any(|part| part.call.plan.pools.iter().any(|pool| pool.room() < 1)) {
            continue;
        }
        if let Some(now) = cost_of(&parts, costs)?
            && now * count + load < each * count
        {
            (run.parts, each) = (parts, now);
            loads += load;
        }
    }
    Ok(each * count + loads)
}

/// What a run costs if each stripe is loaded while the one before is computed: all calls are single tiles then,
/// and there is room for two of what they load.
fn overlapped(run: &Stripes, capacity: &Capacity) -> Result<Option<f64>, String> {
    let last = run.parts.len().saturating_sub(1);
    let mut stay = residents(&run.parts);
    let mut loaded: Vec<String> = vec![];
    let (mut compute, mut ahead, mut waited, mut loads) = (0.0, 0.0, 0.0, 0.0);
    for (place, part) in run.parts.iter().enumerate() {
        let Some(whole) = Chooser::new(&part.call.plan, part.call.reads, &[])?.whole() else {
            return Ok(None);
        };
        compute += whole.compute;
        ahead += whole.ahead;
        waited += whole.waited;
        for (pool, bytes, is_ahead) in whole.tiles {
            if is_ahead {
                loaded.push(pool.clone());
            }
            let (bytes, span) =
                if is_ahead { (bytes * 2, (0, last)) } else { (bytes, (place, place)) };
            stay.push(Resident { pool, bytes, span });
        }
        for tensor in &part.held {
            if let Some((pool, bytes)) = bytes_of(&part.call, *tensor) {
                loads += transfer_of(pool, bytes)?;
            }
        }
    }
    // A load runs ahead only if its channel is its own; the last one stores.
    let pools = run.parts.iter().flat_map(|part| &part.call.plan.pools);
    let mut alone = pools.map(|pool| {
        let loads = loaded.iter().filter(|name| **name == pool.name);
        (loads.count() as i64) < pool.dma.channels
    });
    if !alone.all(|alone| alone) {
        return Ok(None);
    }
    let cost = loads + ahead + run.count as f64 * (compute.max(ahead) + waited);
    Ok(capacity.hold(&stay).then_some(cost))
}

/// The pool of a tensor that stays, and its bytes there.
fn bytes_of(call: &Call, tensor: usize) -> Option<(&Pool, i64)> {
    let tensor = call.plan.tensors.get(tensor)?;
    let pool = call.plan.pools.get(call.plan.keeping(tensor)?)?;
    Some((pool, tensor.bytes_in(pool)))
}

/// What stays between the calls of a stripe, and for all stripes.
fn residents(parts: &[Part]) -> Vec<Resident> {
    let resident = |call: &Call, tensor: usize, span| {
        let (pool, bytes) = bytes_of(call, tensor)?;
        Some(Resident { pool: pool.name.clone(), bytes, span })
    };
    let last = parts.len().saturating_sub(1);
    let between = parts.iter().map(|part| &part.call).take(last).enumerate();
    let mut stay: Vec<Resident> = between
        .filter_map(|(place, call)| resident(call, call.reads, (place, place + 1)))
        .collect();
    for part in parts {
        let held = part.held.iter();
        stay.extend(held.filter_map(|tensor| resident(&part.call, *tensor, (0, last))));
    }
    stay
}

/// Whether what stays between the calls of a stripe has places beside their tiles.
fn have_places(stripes: &Stripes, capacity: &Capacity) -> Result<bool, String> {
    let calls: Vec<Call> = stripes.parts.iter().map(|part| part.call.clone()).collect();
    has_places(&calls, &residents(&stripes.parts), capacity)
}

#[cfg(test)]
mod tests;
