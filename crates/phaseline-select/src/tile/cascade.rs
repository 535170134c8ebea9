//! Calls that are computed one after the other for each stripe of the last one's result.
//!
//! A stripe is a piece of one loop of the last call. The part that it reads of the result of the
//! call before is all that this call has to compute for it, and so on up the chain. Overlaps of
//! windows are computed again for each stripe, as rows that a call leaves in a pool are gone by the
//! next. Results between two calls stay in their pool ([`super::keep`]). For each stripe a call is
//! a call on smaller tensors, which is cut into tiles as any other is.

mod any;
mod stripes;

pub use any::any;
pub use stripes::{Link, Part, Ring, Stripes, has_ring};

use super::{
    choose::{Chooser, least, shift_of, sizes, transfer_of},
    keep::{Call, Capacity, Costs, Resident, has_places},
    pool::Pool,
};
use stripes::{add_rings, stripe, stripes};

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
    /// Their cost, stripe by stripe.
    pub cost: f64,
    /// Their cost as whole calls, one after the other.
    pub before: f64,
    /// The stripes.
    pub stripes: Vec<Stripes>,
}

/// Chooses the calls of a chain that are computed stripe by stripe: the parts of the chain that
/// give it the least total cost.
pub fn cascades(chain: &[Link], costs: &mut Costs) -> Result<Vec<Cascade>, String> {
    // For each number of calls, what they cost at least, and what comes last of them.
    let mut best: Vec<(f64, Option<Cascade>)> = vec![(0.0, None)];
    for end in 1..=chain.len() {
        let single = chain.get(end - 1).map(|link| costs.of(&link.call)).transpose()?;
        let Some(single) = single.flatten() else { return Ok(vec![]) };
        let mut found = (best.get(end - 1).map_or(0.0, |(cost, _)| *cost) + single, None);
        // A call by itself is computed in stripes for the rows that it keeps.
        let alone = chain.get(end - 1).is_some_and(|link| has_ring(&link.call));
        let latest = if alone { end } else { end.saturating_sub(1) };
        for start in end.saturating_sub(LONGEST)..latest {
            let before = best.get(start).map_or(0.0, |(cost, _)| *cost);
            let limit = found.0 - before;
            let links = chain.get(start..end).unwrap_or_default();
            let limit = if links.len() == 1 { limit.min(single) } else { limit };
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
    compare(chain, &mut found, costs)?;
    Ok(found)
}

/// Fills in the cost of the cascades' calls as whole calls, one after the other.
fn compare(chain: &[Link], found: &mut [Cascade], costs: &mut Costs) -> Result<(), String> {
    for cascade in found {
        for link in chain.get(cascade.calls.clone()).unwrap_or_default() {
            cascade.before += costs.of(&link.call)?.unwrap_or(0.0);
        }
    }
    Ok(())
}

/// True if there is a loop along which calls can be computed stripe by stripe.
pub fn can_be_cut(links: &[Link]) -> bool {
    let loops = links.last().map(|last| &last.call.plan.loops);
    let mut places = loops.into_iter().flatten().enumerate().filter(|(_, l)| !l.reduce);
    places.any(|(place, l)| stripe(links, place, 0, least(l).min(l.extent)).is_some())
}

/// A cost, and the stripes that it is of, with the loop that they go along.
type Cheapest = (f64, Option<(usize, Vec<Stripes>)>);

/// Cost of calls with their cheapest stripes, and these stripes, if it is less than `limit`. A cost
/// without stripes says that results should stay as a whole.
fn cheapest(links: &[Link], mut limit: f64, costs: &mut Costs) -> Result<Option<Cheapest>, String> {
    let Some(last) = links.last() else { return Ok(None) };
    let mut best = None;
    let calls: Vec<Call> = links.iter().map(|link| link.call.clone()).collect();
    let capacity = Capacity::of(&calls);
    let ways: &[bool] = match calls.iter().any(has_ring) {
        true if links.len() == 1 => &[true],
        true => &[false, true],
        false => &[false],
    };
    let all = ways.iter().flat_map(|rings| {
        let loops = last.call.plan.loops.iter().enumerate().filter(|(_, l)| !l.reduce);
        loops.map(move |(place, l)| (*rings, place, l))
    });
    for (rings, place, l) in all {
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
                let at = |number: i64| stripe(links, place, number * size, size);
                let Some(mut parts) = at(count / 2) else { continue };
                if rings {
                    let Some(old) = at(count / 2 - 1) else { continue };
                    if add_rings(&mut parts, Some(&old)).is_none() {
                        continue;
                    }
                }
                let middle = Stripes { count: count - 2, parts };
                if cost(&mut [middle], limit, costs, &capacity)?.is_none() {
                    continue;
                }
            }
            let Some(mut stripes) = stripes(links, (place, size), rings) else { continue };
            reserve(&mut stripes);
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

/// Cost of stripes, if all of them have tiles and it is less than `limit`. Also decides which
/// tensors are loaded once for several stripes.
fn cost(
    stripes: &mut [Stripes],
    limit: f64,
    costs: &mut Costs,
    capacity: &Capacity,
) -> Result<Option<f64>, String> {
    if stripes.iter().flat_map(|run| &run.parts).any(|part| !part.rings.is_empty()) {
        return Ok(hold_for_all(stripes, costs)?.filter(|cost| *cost < limit));
    }
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

/// Gives rings the rows that they need in all stripes, and takes their bytes from what other calls have.
fn reserve(stripes: &mut [Stripes]) {
    let most = |place: usize, tensor: usize, all: &[Stripes]| {
        let parts = all.iter().filter_map(|run| run.parts.get(place));
        let rings = parts.flat_map(|part| &part.rings).filter(|ring| ring.tensor == tensor);
        rings.map(|ring| ring.rows).max().unwrap_or(0)
    };
    let all = stripes.to_vec();
    for run in stripes {
        let mut taken: Vec<(usize, String, i64, i64)> = vec![];
        for (place, part) in run.parts.iter_mut().enumerate() {
            for ring in 0..part.rings.len() {
                let Some(now) = part.rings.get(ring).copied() else { continue };
                let rows = most(place, now.tensor, &all);
                let kept = part.call.home_of_kept(now.tensor);
                if let Some((tensor, pool)) = kept {
                    let bytes = pool.aligned(part.row_bytes(&now).saturating_mul(rows));
                    taken.push((place, pool.name.clone(), bytes, bytes - tensor.bytes_in(pool)));
                }
                if let Some(ring) = part.rings.get_mut(ring) {
                    ring.rows = rows;
                }
            }
        }
        for (owner, name, bytes, more) in taken {
            for (place, part) in run.parts.iter_mut().enumerate() {
                let pools = part.call.plan.pools.iter_mut().filter(|pool| pool.name == name);
                let bytes = if place == owner { more } else { bytes };
                pools.for_each(|pool| pool.taken = pool.taken.saturating_add(bytes));
            }
        }
    }
}

/// The cost of loading the new rows of a part's rings, and of moving the others.
fn cost_of_rings(part: &Part) -> Result<f64, String> {
    let mut sum = 0.0;
    for ring in &part.rings {
        let Some((pool, _)) = bytes_of(&part.call, ring.tensor) else { continue };
        let dims = part.call.plan.tensors.get(ring.tensor).map(|tensor| &tensor.dims);
        let rows = dims.and_then(|dims| dims.get(ring.dim)).map_or(0, |dim| dim.size);
        let bytes = part.row_bytes(ring);
        if rows > ring.kept {
            sum += transfer_of(pool, bytes.saturating_mul(rows - ring.kept))?;
        }
        if ring.kept > 0 && ring.from > 0 {
            sum += shift_of(pool, bytes.saturating_mul(ring.kept))?;
        }
    }
    Ok(sum)
}

fn cost_of(parts: &[Part], costs: &mut Costs) -> Result<Option<f64>, String> {
    let mut sum = 0.0;
    for part in parts {
        if part.call.plan.pools.iter().any(|pool| pool.room() < 1) {
            return Ok(None);
        }
        let Some(cost) = costs.of(&part.call)? else { return Ok(None) };
        sum += cost + cost_of_rings(part)?;
    }
    Ok(Some(sum))
}

/// Decides which tensors stay in their pool for all stripes of all runs, small ones first; gives what they cost then.
fn hold_for_all(stripes: &mut [Stripes], costs: &mut Costs) -> Result<Option<f64>, String> {
    let mut total = |stripes: &[Stripes]| {
        let mut sum = 0.0;
        for run in stripes {
            let Some(each) = cost_of(&run.parts, costs)? else { return Ok::<_, String>(None) };
            sum += each * run.count as f64;
        }
        Ok(Some(sum))
    };
    let Some(mut sum) = total(stripes)? else { return Ok(None) };
    let mut same: Vec<(i64, usize, usize)> = vec![];
    let first = stripes.first().map(|run| run.parts.as_slice()).unwrap_or_default();
    for (place, part) in first.iter().enumerate() {
        for tensor in 0..part.call.reads {
            let is_same = part.slices.get(tensor).is_some_and(Vec::is_empty);
            if let Some((found, pool)) = part.call.home(tensor).filter(|_| is_same) {
                same.push((found.bytes_in(pool), place, tensor));
            }
        }
    }
    same.sort_unstable();
    let mut loads = 0.0;
    for (bytes, place, tensor) in same {
        let mut tried = stripes.to_vec();
        let mut load = 0.0;
        for run in &mut tried {
            let Some(part) = run.parts.get_mut(place) else { continue };
            let Some((_, pool)) = part.call.home(tensor) else { continue };
            let name = pool.name.clone();
            load = transfer_of(pool, bytes)?;
            part.held.push(tensor);
            if let Some(tensor) = part.call.plan.tensors.get_mut(tensor) {
                tensor.kept = true;
            }
            let others = run.parts.iter_mut().enumerate().filter(|(other, _)| *other != place);
            let pools = others.flat_map(|(_, part)| &mut part.call.plan.pools);
            pools.filter(|pool| pool.name == name).for_each(|pool| pool.taken += bytes);
        }
        if let Some(now) = total(&tried)?.filter(|now| now + load < sum) {
            stripes.clone_from_slice(&tried);
            sum = now;
            loads += load;
        }
    }
    Ok(Some(sum + loads))
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

/// Cost of a run in which each stripe is loaded while the one before is computed. All calls are
/// single tiles then, and there is space for two of each tile that they load.
fn overlapped(run: &Stripes, capacity: &Capacity) -> Result<Option<f64>, String> {
    // Rows are loaded where those before them are.
    if run.parts.iter().any(|part| !part.rings.is_empty()) {
        return Ok(None);
    }
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

/// Tensors that stay between the calls of a stripe, or for all stripes.
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
        stay.extend(part.rings.iter().filter_map(|ring| {
            let (pool, _) = bytes_of(&part.call, ring.tensor)?;
            let bytes = pool.aligned(part.row_bytes(ring).saturating_mul(ring.rows));
            Some(Resident { pool: pool.name.clone(), bytes, span: (0, last) })
        }));
    }
    stay
}

/// True if the residents of a stripe have places beside the tiles of its calls.
fn have_places(stripes: &Stripes, capacity: &Capacity) -> Result<bool, String> {
    let calls: Vec<Call> = stripes.parts.iter().map(|part| part.call.clone()).collect();
    has_places(&calls, &residents(&stripes.parts), capacity)
}

#[cfg(test)]
mod tests;
