//! Stripes with rings other than the cheapest, for checks.

use super::{
    Cascade, Stripes, compare, cost, have_places, reserve,
    stripes::{Link, has_ring, stripes},
};
use crate::tile::{
    choose::sizes,
    keep::{Capacity, Costs},
};

/// Stripes of any size, by a number, for those parts of a chain that can keep rows: half of their pools is left to tiles
/// of any size.
pub fn any(chain: &[Link], number: u64, costs: &mut Costs) -> Result<Vec<Cascade>, String> {
    let mut found = vec![];
    let mut start = 0;
    while start < chain.len() {
        let mut next = start + 1;
        for length in [2, 1] {
            let range = start..start + length;
            let Some(links) = chain.get(range.clone()) else { continue };
            let mut links = links.to_vec();
            if !links.iter().any(|link| has_ring(&link.call)) {
                continue;
            }
            for pool in links.iter_mut().flat_map(|link| &mut link.call.plan.pools) {
                pool.taken = pool.taken.max(pool.bytes / 2);
            }
            if let Some(cascade) = one(&links, range.clone(), number, costs)? {
                next = range.end;
                found.push(cascade);
                break;
            }
        }
        start = next;
    }
    compare(chain, &mut found, costs)?;
    Ok(found)
}

fn one(
    links: &[Link],
    calls: std::ops::Range<usize>,
    number: u64,
    costs: &mut Costs,
) -> Result<Option<Cascade>, String> {
    let Some(last) = links.last() else { return Ok(None) };
    let plans: Vec<_> = links.iter().map(|link| link.call.clone()).collect();
    let capacity = Capacity::of(&plans);
    let mut fitting = vec![];
    for (along, l) in last.call.plan.loops.iter().enumerate().filter(|(_, l)| !l.reduce) {
        for size in sizes(l).into_iter().filter(|size| *size < l.extent) {
            let Some(mut stripes) = stripes(links, (along, size), true) else { continue };
            if !stripes.iter().flat_map(|run| &run.parts).any(|part| !part.rings.is_empty()) {
                continue;
            }
            reserve(&mut stripes);
            let Some(cost) = cost(&mut stripes, f64::INFINITY, costs, &capacity)? else { continue };
            let fits = |fits, run: &Stripes| Ok::<_, String>(fits && have_places(run, &capacity)?);
            if stripes.iter().try_fold(true, fits)? {
                let calls = calls.clone();
                fitting.push(Cascade { calls, along, cost, before: 0.0, stripes });
            }
        }
    }
    let count = (fitting.len() as u64).max(1);
    Ok(fitting.into_iter().nth((number % count) as usize))
}
