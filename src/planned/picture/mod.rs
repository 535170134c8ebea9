//! A picture of a plan: for each memory its buffers, as rectangles over time and address.
//!
//! It shows what `verify-plan` reads back from the IR, buffers in what is called included.

mod svg;
#[cfg(test)]
mod tests;

pub use svg::escaped;

use super::{BufferUse, Memory, Order, Place, capacity, effects, places, uses_of};
use crate::{
    ir::{
        self, Op, board, calls::CallGraph, edit, func, memory::of_argument, memref, names, print,
    },
    pass::{PassError, PassResult},
};
use melior::ir::operation::OperationLike;
use std::collections::{BTreeMap, BTreeSet};

/// A buffer at a place for some time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    offset: u64,
    size: u64,
    /// Steps of the picture, both included; all for constants.
    steps: Option<(usize, usize)>,
    name: String,
}

/// A memory.
struct Panel {
    /// Its place among all.
    rank: usize,
    title: String,
    /// Bytes of the arena or the block of constants.
    bytes: u64,
    /// Text below the title.
    remark: String,
    blocks: Vec<Block>,
}

/// The picture of a module whose memory is planned, as SVG.
pub fn draw<'c>(module: Op<'c>) -> PassResult<'c, String> {
    let main = func::main(module).ok_or_else(|| PassError::new("there is no @main to draw"))?;
    let graph = CallGraph::of(module)?;
    let effects = effects(&graph)?;
    let ops = edit::walk(main);
    let found = places(main, &ops)?;
    let order = Order::of(main, &ops, &effects);
    let mut uses: BTreeMap<&Memory, Vec<BufferUse<'c>>> = BTreeMap::new();
    let mut arenas: BTreeMap<&Memory, Vec<&Place<'c>>> = BTreeMap::new();
    for place in found.iter().filter(|place| matches!(place.memory, Memory::Arena(_))) {
        arenas.entry(&place.memory).or_default().push(place);
    }
    for (memory, places) in arenas {
        uses.insert(memory, uses_of(&order, main, &places));
    }
    let moments: BTreeSet<usize> =
        uses.values().flatten().flat_map(|one| [one.span.0, one.span.1]).collect();
    let moments: Vec<usize> = moments.into_iter().collect();
    let mut panels = vec![];
    for (memory, uses) in &uses {
        panels.push(arena(module, main, memory, uses, &moments)?);
    }
    panels.extend(constants(module, main, &graph)?);
    // The host's arena first, then the pools as the board lists them, then devices' memories.
    panels.sort_by_key(|panel| panel.rank);
    let steps = steps(&order, &ops, &uses, &moments);
    Ok(svg::text(&names::model_name(module), &panels, &steps))
}

/// Operation at each of the moments: the one that began last, in what is called as far as buffers
/// begin there.
fn steps<'c>(
    order: &Order<'_, 'c>,
    ops: &[Op<'c>],
    uses: &BTreeMap<&Memory, Vec<BufferUse<'c>>>,
    moments: &[usize],
) -> Vec<String> {
    let own =
        ops.iter().filter(|op| !memref::is_alias(**op) && ir::op_name(**op) != "arith.constant");
    let own = own.map(|op| (order.span(*op).0, *op));
    let begins = uses.values().flatten().map(|one| (one.span.0, one.made));
    let mut starts: Vec<(usize, Op<'c>)> = own.chain(begins).collect();
    // Stable, so that of what begins at once a buffer says more than the operation around.
    starts.sort_by_key(|(start, _)| *start);
    let at = |moment: &usize| {
        let behind = starts.partition_point(|(start, _)| start <= moment);
        let op = behind.checked_sub(1).and_then(|index| starts.get(index));
        op.map(|(_, op)| print::place(op.location())).unwrap_or_default()
    };
    moments.iter().map(at).collect()
}

/// An arena of the main function.
fn arena<'c>(
    module: Op<'c>,
    main: Op<'c>,
    memory: &Memory,
    uses: &[BufferUse<'c>],
    moments: &[usize],
) -> PassResult<'c, Panel> {
    let Memory::Arena(name) = memory else { return Err(PassError::new("no arena")) };
    let step = |moment: usize| moments.partition_point(|known| *known < moment);
    let block = |one: &BufferUse<'c>| Block {
        offset: one.offset,
        size: one.size,
        steps: Some((step(one.span.0), step(one.span.1))),
        name: print::place(one.made.location()),
    };
    let mut blocks: Vec<_> = uses.iter().map(block).collect();
    blocks.sort();
    blocks.dedup();
    let pools = board::declared(module)?;
    let pool = pools.iter().find(|pool| pool.name == *name);
    let role = match (name.is_empty(), pool) {
        (true, _) => "arena",
        (_, Some(_)) => names::POOL_ARENA,
        (_, None) => names::DEVICE_ARENA,
    };
    let bytes = capacity::bytes_of(main, role, name)?;
    let title = match (name.is_empty(), pool) {
        (true, _) => format!("Arena: {bytes} bytes"),
        (_, Some(pool)) => format!("{name}: {bytes} of {} bytes", pool.bytes),
        (_, None) => format!("Memory {name} of a device: {bytes} bytes"),
    };
    Ok(Panel { rank: rank(&pools, name), title, bytes, remark: remark(main, name)?, blocks })
}

fn rank(pools: &[board::Pool], name: &str) -> usize {
    let place = pools.iter().position(|pool| pool.name == name);
    place.map_or(if name.is_empty() { 0 } else { usize::MAX }, |place| place + 1)
}

/// The bound of an arena, and where it is met.
fn remark<'c>(main: Op<'c>, name: &str) -> PassResult<'c, String> {
    let signature = func::Signature::of(main)?;
    let lists = signature.arguments.iter().map(|(_, list)| list);
    let mut lists = lists.filter(|list| !name.is_empty() && of_argument(list) == name);
    let of = |list: &func::Attributes<'c>, wanted: &str| {
        list.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
    };
    let said = lists.find_map(|list| Some((of(list, names::LOWER_BOUND)?, of(list, names::PEAK))));
    let (bound, peak) = match said {
        Some((bound, peak)) => (ir::attribute::int(bound), peak.and_then(edit::string)),
        None if name.is_empty() => {
            (ir::attr_i64(main, names::ARENA_LOWER_BOUND), ir::attr_str(main, names::ARENA_PEAK))
        }
        None => (None, None),
    };
    let Some(bound) = bound else { return Ok(String::new()) };
    let at = peak.map_or_else(String::new, |peak| format!(", at {peak}"));
    Ok(format!("at least {bound} bytes are in use at once{at}"))
}

/// The blocks of constants, wherever they are read.
fn constants<'c>(
    module: Op<'c>,
    main: Op<'c>,
    graph: &CallGraph<'c>,
) -> PassResult<'c, Vec<Panel>> {
    let mut found: BTreeMap<Memory, BTreeMap<u64, Block>> = BTreeMap::new();
    for function in graph.order.iter().filter_map(|name| graph.function(name)) {
        for place in places(function, &edit::walk(function))? {
            if !matches!(place.memory, Memory::Constants(_)) {
                continue;
            }
            let name = print::place(place.op.location());
            let block = Block { offset: place.offset, size: place.size, steps: None, name };
            // The same bytes may be read as several types.
            let blocks = found.entry(place.memory).or_default();
            blocks.entry(place.offset).or_insert(block);
        }
    }
    let pools = board::declared(module)?;
    let panels = found.into_iter().map(|(memory, blocks)| {
        let Memory::Constants(name) = &memory else { return Err(PassError::new("no constants")) };
        let pool = pools.iter().find(|pool| pool.name == *name);
        let role = match (name.is_empty(), pool) {
            (true, _) => "constants",
            (_, Some(_)) => names::POOL_CONSTANTS,
            (_, None) => names::DEVICE_CONSTANTS,
        };
        let bytes = capacity::bytes_of(main, role, name)?;
        let title = match (name.is_empty(), pool) {
            (true, _) => format!("Constants: {bytes} bytes"),
            (_, Some(pool)) => format!("{name}: {bytes} of {} bytes, constants", pool.bytes),
            (_, None) => format!("Memory {name} of a device: {bytes} bytes, constants"),
        };
        let (remark, blocks) = (String::new(), blocks.into_values().collect());
        Ok(Panel { rank: rank(&pools, name), title, bytes, remark, blocks })
    });
    panels.collect()
}
