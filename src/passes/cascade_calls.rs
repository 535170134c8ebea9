//! `cascade-calls`: computes calls that follow each other stripe by stripe, so that what lies between
//! them stays in a device's own memory.
//!
//! ```text
//! %y = tir.call_extern @npu_conv ins(%x, %w) outs(%empty) {phl.tile = {...}}
//! %z = tir.call_extern @npu_pool ins(%y) outs(%other) {phl.tile = {...}}
//!   -->  %z = scf.for ... {
//!          the part of %x that the stripe reads; @npu_conv of it into memory in the pool;
//!          @npu_pool of that; the stripe of %z put into its place
//!        }
//! ```
//! Rows that a stripe and the next one read stay in a buffer for both where tensors have a ring
//! (`crate::tile::rings`). Whether that costs less is for `crate::tile::cascade` to say; pools ask for it with `keep-results`. Each
//! call but the last has one result, which the next one alone reads.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::Group,
        edit, guard,
        names::{self, TILE},
        users,
    },
    pass::{OptionValues, Pass, PassError},
    tile::{
        attribute::to_attribute,
        cascade::{Cascade, Link, Part, Stripes, any, can_be_cut, cascades, has_ring},
        keep::Costs,
        rings,
        slice::{Offset, part, repeat, replace},
        stay::{Fate, Stay},
        tiled::{Tiled, by_block, loaded, lost, room},
        told::{call_name, tell},
    },
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "cascade-calls",
    summary: "Compute calls that follow each other stripe by stripe in a device's own memory",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "bufferization", "scf", "tensor", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut costs = Costs::default();
    let mut decisions = vec![];
    for block in by_block(function)? {
        for chain in chains(&block) {
            let links: Vec<Link> = chain
                .iter()
                .filter_map(|(place, reads)| {
                    Some(Link { call: block.get(*place)?.plan.clone(), reads: *reads })
                })
                .collect();
            let calls: Vec<&Tiled<'c>> =
                chain.iter().filter_map(|(place, _)| block.get(*place)).collect();
            let Some(first) = calls.first() else { continue };
            // A check has more stripes than the cheapest.
            let found = match guard::around(function, names::TILE_CHOICE) {
                Some(number) if links.iter().any(|link| has_ring(&link.call)) => {
                    any(&links, number.unsigned_abs(), &mut costs)
                }
                _ => cascades(&links, &mut costs),
            };
            let found = found.map_err(|error| PassError::at(&first.op, error))?;
            let told = decide(&calls, &links, &found);
            decisions.extend(told.map_err(|error| PassError::at(&first.op, error))?);
            for cascade in found {
                let range = cascade.calls.clone();
                let (Some(calls), Some(links)) = (calls.get(range.clone()), links.get(range))
                else {
                    continue;
                };
                emit(calls, links, &cascade)?;
            }
        }
    }
    tell(function, decisions)?;
    Ok(())
}

/// Decisions about the calls of a chain: its cascades, and neighbours that share none.
fn decide(
    calls: &[&Tiled<'_>],
    links: &[Link],
    cascades: &[Cascade],
) -> Result<Vec<Stay>, String> {
    let names: Vec<String> = calls.iter().map(|tiled| call_name(tiled.op)).collect();
    let named = |range: std::ops::Range<usize>| names.get(range).unwrap_or_default().to_vec();
    let mut told = vec![];
    for cascade in cascades {
        let range = cascade.calls.clone();
        let fate = cascade.fate(links.get(range.clone()).unwrap_or_default())?;
        told.push(Stay { calls: named(range), fate });
    }
    for (place, pair) in links.windows(2).enumerate() {
        let together = place..place + 2;
        if cascades.iter().any(|c| c.calls.start <= place && c.calls.end >= together.end) {
            continue;
        }
        let reason = match can_be_cut(pair) {
            true => "none that fit make the calls cheaper",
            false => "no loop cuts the results of both into parts that stay",
        };
        let reason = reason.to_owned();
        told.push(Stay { calls: named(together), fate: Fate::NoStripes { reason } });
    }
    Ok(told)
}

/// Calls of a block of which each reads the result of the one before: their places, and which of their
/// tensors that is.
fn chains(block: &[Tiled<'_>]) -> Vec<Vec<(usize, Option<usize>)>> {
    let mut found: Vec<Vec<(usize, Option<usize>)>> = vec![];
    for (place, reader) in block.iter().enumerate() {
        let ins = reader.call.groups[Group::Ins as usize].iter().enumerate();
        let mut links = ins.filter_map(|(tensor, value)| {
            let writer = edit::defining_op(*value)?;
            let writer = block.iter().position(|tiled| edit::same(tiled.op, writer))?;
            follows(block.get(writer)?, reader, tensor).then_some((writer, tensor))
        });
        let link = links.next();
        let chain = link.and_then(|(writer, _)| {
            found.iter_mut().find(|chain| chain.last().is_some_and(|(last, _)| *last == writer))
        });
        match (chain, link) {
            (Some(chain), Some((_, tensor))) => chain.push((place, Some(tensor))),
            _ => found.push(vec![(place, None)]),
        }
    }
    let keeps_rows = |chain: &[(usize, Option<usize>)]| {
        let only = chain.first().and_then(|(place, _)| block.get(*place));
        only.is_some_and(|tiled| has_ring(&tiled.plan))
    };
    found.retain(|chain| chain.len() > 1 || keeps_rows(chain));
    found
}

/// True if a tensor that a call reads is another's only result, has no other reader, and may stay
/// in the pool of both.
fn follows(writer: &Tiled<'_>, reader: &Tiled<'_>, tensor: usize) -> bool {
    let results = ir::results(writer.op);
    let [result] = results[..] else { return false };
    let written = writer.plan.reads;
    let (Some((from, home)), Some((to, other))) = (writer.home(written), reader.home(tensor)) else {
        return false;
    };
    let sizes = from.dims.iter().map(|dim| dim.size);
    let output = writer.value(written).and_then(edit::defining_op);
    users(result).len() == 1
        && output.is_some_and(|op| ir::op_name(op) == "tensor.empty")
        && home.name == other.name
        && from.kept_element() == to.element
        && sizes.eq(to.dims.iter().map(|dim| dim.size))
        && !writer.plan.plan.tensors.iter().any(|tensor| tensor.kept)
}

/// Writes the stripes in place of the calls.
fn emit<'c>(
    calls: &[&Tiled<'c>],
    links: &[Link],
    cascade: &Cascade,
) -> Result<(), PassError<'c>> {
    // Their operands may come from stripes by now.
    let calls = calls.iter().map(|tiled| Tiled::of(tiled.op));
    let calls: Vec<Tiled<'c>> = calls.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let last = calls.last().ok_or_else(lost)?;
    let b = Builder::before(last.op)?;
    let mut targets = vec![];
    for output in &last.call.groups[Group::Outs as usize] {
        let is_empty =
            edit::defining_op(*output).is_some_and(|op| ir::op_name(op) == "tensor.empty");
        targets.push(if is_empty { b.empty(output.r#type())? } else { *output });
    }
    let outputs = targets.len();
    targets.extend(rings::buffers(&b, &calls, cascade)?);
    let mut once: Held<'c> = HashMap::new();
    for Stripes { count, parts } in &cascade.stripes {
        let mut inputs: Vec<Vec<Val<'c>>> = vec![];
        for (place, (tiled, stripe)) in calls.iter().zip(parts).enumerate() {
            inputs.push(held(&b, (place, tiled), stripe, &mut once)?);
        }
        // Tensors that the next run reads once more are loaded again, unless there are rings, of
        // which all have places.
        if !parts.iter().any(|part| !part.rings.is_empty()) {
            once.clear();
        }
        targets = repeat(&b, *count, targets, |b, iv, targets| {
            let mut kept = targets;
            let given = kept.drain(..outputs).collect::<Vec<_>>();
            let mut buffers = kept.iter_mut();
            let mut results = vec![];
            for (((tiled, link), stripe), inputs) in calls.iter().zip(links).zip(parts).zip(&inputs) {
                let into = edit::same(tiled.op, last.op).then_some(&given[..]);
                let mut read = vec![];
                for ring in &stripe.rings {
                    let buffer = buffers.next().ok_or_else(lost)?;
                    let source = *inputs.get(ring.tensor).ok_or_else(lost)?;
                    let (offsets, sizes) = place(b, iv, stripe, ring.tensor)?;
                    let tile = rings::next(b, (stripe, ring), (source, &offsets, &sizes), buffer)?;
                    read.push((ring.tensor, tile));
                }
                results = call(b, iv, (tiled, link, stripe), (inputs, &read), (results, into))?;
            }
            results.extend(kept);
            Ok(results)
        })?;
    }
    targets.truncate(outputs);
    for (old, new) in ir::results(last.op).into_iter().zip(targets) {
        edit::replace_uses(old, new);
    }
    calls.iter().rev().for_each(|tiled| edit::erase(tiled.op));
    Ok(())
}

/// Tensors that are loaded once for all stripes, by calls.
type Held<'c> = HashMap<(usize, usize), Val<'c>>;

/// Operands of a call, with tensors that stay for all stripes loaded, unless they are there.
fn held<'c>(
    b: &Builder<'c>,
    (place, tiled): (usize, &Tiled<'c>),
    stripe: &Part,
    once: &mut Held<'c>,
) -> crate::Result<Vec<Val<'c>>> {
    let mut inputs = tiled.call.groups[Group::Ins as usize].clone();
    for tensor in &stripe.held {
        let plan = stripe.call.plan.tensors.get(*tensor);
        let pool = plan.and_then(|plan| stripe.call.plan.pools.get(plan.pool_place()?));
        let input = inputs.get_mut(*tensor).ok_or_else(lost)?;
        *input = match once.get(&(place, *tensor)) {
            Some(there) => *there,
            None => loaded(b, *input, &pool.ok_or_else(lost)?.name)?,
        };
        once.insert((place, *tensor), *input);
    }
    Ok(inputs)
}

/// A call for one stripe. It reads `results` of the call before, and writes into parts of what it is
/// given, or else into a pool.
fn call<'c>(
    b: &Builder<'c>,
    iv: Option<Val<'c>>,
    (tiled, link, stripe): (&Tiled<'c>, &Link, &Part),
    (inputs, rings): (&[Val<'c>], &[(usize, Val<'c>)]),
    (results, into): (Vec<Val<'c>>, Option<&[Val<'c>]>),
) -> crate::Result<Vec<Val<'c>>> {
    let b = &b.with_location(tiled.op.location());
    let reads = tiled.plan.reads;
    let mut call = tiled.call.clone();
    call.set(TILE, to_attribute(b, &stripe.call.plan)?);
    call.groups[Group::Ins as usize] = inputs.to_vec();
    for (tensor, value) in call.groups[Group::Ins as usize].iter_mut().enumerate() {
        *value = match link.reads.filter(|_| !results.is_empty()) {
            Some(linked) if linked == tensor => *results.first().ok_or_else(lost)?,
            _ if rings.iter().any(|(ring, _)| *ring == tensor) => {
                let tile = rings.iter().find(|(ring, _)| *ring == tensor);
                tile.map(|(_, tile)| *tile).ok_or_else(lost)?
            }
            _ => {
                let (offsets, sizes) = place(b, iv, stripe, tensor)?;
                part(b, *value, &offsets, &sizes)?
            }
        };
    }
    let outs = &mut call.groups[Group::Outs as usize];
    for (index, value) in outs.iter_mut().enumerate() {
        let (offsets, sizes) = place(b, iv, stripe, reads + index)?;
        *value = match into.and_then(|targets| targets.get(index)) {
            Some(target) => part(b, *target, &offsets, &sizes)?,
            None => {
                let tensor = stripe.call.plan.tensors.get(reads + index);
                let plan = &stripe.call.plan;
                let pool = tensor.and_then(|tensor| plan.pools.get(plan.keeping(tensor)?));
                let ty = b.tensor(&sizes, ir::element_type(value.r#type()));
                room(b, ty, &pool.ok_or_else(lost)?.name)?
            }
        };
    }
    let types: Vec<_> = outs.iter().map(|value| value.r#type()).collect();
    let made = ir::results(call.build(b, &types)?);
    let Some(targets) = into else { return Ok(made) };
    let parts = made.into_iter().zip(targets.iter()).enumerate();
    parts
        .map(|(index, (new, target))| {
            let (offsets, sizes) = place(b, iv, stripe, reads + index)?;
            replace(b, new, *target, &offsets, &sizes)
        })
        .collect()
}

/// Offsets and sizes of the part of a tensor that a stripe has.
fn place<'c>(
    b: &Builder<'c>,
    iv: Option<Val<'c>>,
    stripe: &Part,
    tensor: usize,
) -> crate::Result<(Vec<Offset<'c>>, Vec<i64>)> {
    let plan = stripe.call.plan.tensors.get(tensor).ok_or_else(lost)?;
    let slices = stripe.slices.get(tensor).ok_or_else(lost)?;
    let offsets = (0..plan.dims.len()).map(|dim| match slices.iter().find(|s| s.dim == dim) {
        Some(slice) => Offset::of(b, iv, slice.start, slice.step),
        None => Ok(Offset::Known(0)),
    });
    Ok((offsets.collect::<crate::Result<_>>()?, plan.dims.iter().map(|dim| dim.size).collect()))
}
