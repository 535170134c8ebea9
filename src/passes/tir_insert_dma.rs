//! `tir-insert-dma`: copies between the host's memory and a device's become DMA transfers.
//!
//! A load is waited for where its buffer is used first, so that several loads are under way
//! together. Pools and channels are those that `tile-calls` declared for the function, or else those of
//! the options. A store is waited for at once; `tir-double-buffer` moves what can overlap more.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{self, CallExtern, Group, arg_attr},
        edit, memref, names, tir,
        view::OpView,
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
    tile::attribute::pools_of,
};
use melior::ir::{ValueLike, attribute::ArrayAttribute, operation::OperationLike};

crate::pass_options! {
    /// Options of `tir-insert-dma`.
    pub struct Options {
        pool: String = "scratchpad", "Name of the device's memory";
        bytes: i64 = "65536", "Size of the device's memory in bytes";
        alignment: i64 = "64", "Alignment of buffers in bytes";
        channels: i64 = "4", "Number of DMA channels; the last one stores";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "tir-insert-dma",
    summary: "Turn copies from and to a device's memory into DMA transfers",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["tir"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if options.channels < 1 {
        return Err(PassError::new("tir-insert-dma: needs at least one channel"));
    }
    let context = ir::context_of(function);
    let mut found = false;
    let mut pools = pools(function, &options)?;
    for copy in edit::walk(function) {
        if copy.has_attribute(names::STORE) {
            convert(copy, &mut pools, names::STORE)?;
            continue;
        }
        if copy.has_attribute(names::LOAD) {
            convert(copy, &mut pools, names::LOAD)?;
            continue;
        }
        if ir::op_name(copy) != "memref.copy" {
            continue;
        }
        let [source, target] = ir::operands(copy)[..] else { continue };
        let inside = |value: Val<'c>| {
            let space = memref::space(value.r#type())?;
            pools.iter().position(|(name, _)| *name == space)
        };
        match (inside(source), inside(target)) {
            (None, None) => continue,
            (Some(pool), Some(_)) => {
                let message = format!("copies inside of {}, which DMA cannot", pools[pool].0);
                return Err(PassError::at(&copy, message));
            }
            (None, Some(pool)) => load(copy, source, target, &mut pools[pool].1)?,
            (Some(pool), None) => store(copy, source, target, pools[pool].1.last())?,
        }
        found = true;
    }
    if found && !function.has_attribute(names::POOLS) {
        let Options { pool, bytes, alignment, .. } = &options;
        let text = format!("#tir.pool<\"{pool}\", {bytes}, {alignment}>");
        let pool = Builder::before(function)?.parse_attr(&text)?;
        edit::set_attr(function, names::POOLS, ArrayAttribute::new(context, &[pool]).into());
    }
    Ok(())
}

/// The pools of a function by name: those that it declares, or the one of the options.
fn pools<'c>(
    function: Op<'c>,
    options: &Options,
) -> Result<Vec<(String, Channels<'c>)>, PassError<'c>> {
    let declared = pools_of(function).map_err(|error| PassError::at(&function, error))?;
    if declared.is_empty() {
        return Ok(vec![(options.pool.clone(), Channels::new(options.channels))]);
    }
    let named = declared.into_iter();
    Ok(named.map(|pool| (pool.name, Channels::new(pool.dma.channels))).collect())
}

/// Channels with transfers in flight, in the block that is visited.
struct Channels<'c> {
    /// For each channel that loads, the wait for its last load.
    until: Vec<Option<Op<'c>>>,
    block: Option<ir::Id>,
}

impl<'c> Channels<'c> {
    fn new(count: i64) -> Self {
        Self { until: vec![None; (count - 1).max(0) as usize], block: None }
    }

    /// The channel that stores.
    fn last(&self) -> i64 {
        self.until.len() as i64
    }

    /// A channel that no load uses any more at `copy`.
    fn free(&mut self, copy: Op<'c>) -> Option<usize> {
        let block = copy.block().map(ir::id);
        if block != self.block {
            self.block = block;
            self.until.fill(None);
        }
        let over = |wait: &Op<'c>| edit::is_before(*wait, copy);
        self.until.iter().position(|until| until.as_ref().is_none_or(over))
    }
}

fn load<'c>(
    copy: Op<'c>,
    source: Val<'c>,
    target: Val<'c>,
    channels: &mut Channels<'c>,
) -> PassResult<'c> {
    let channel = ChannelOfLoad::new(copy, target, channels);
    let token = start(copy, source, target, channel.number as i64)?;
    channel.wait(copy, token, channels)?;
    edit::erase(copy);
    Ok(())
}

/// The channel of a load, and the place of its wait.
struct ChannelOfLoad<'c> {
    number: usize,
    free: bool,
    end: Op<'c>,
}

impl<'c> ChannelOfLoad<'c> {
    fn new(load: Op<'c>, target: Val<'c>, channels: &mut Channels<'c>) -> Self {
        let mut end = load;
        while let Some(next) = end.next_in_block() {
            end = next;
            if uses(end, target) {
                break;
            }
        }
        // Without a free channel the load takes that of the stores, and is waited for at once.
        let free = channels.free(load);
        Self { number: free.unwrap_or(channels.until.len()), free: free.is_some(), end }
    }

    fn wait(
        &self,
        load: Op<'c>,
        token: Val<'c>,
        channels: &mut Channels<'c>,
    ) -> Result<(), PassError<'c>> {
        let at = if self.free { self.end } else { load };
        let wait = wait(&Builder::before(at)?.with_location(load.location()), token)?;
        if let Some(until) = channels.until.get_mut(self.number).filter(|_| self.free) {
            *until = Some(wait);
        }
        Ok(())
    }
}

fn store<'c>(copy: Op<'c>, source: Val<'c>, target: Val<'c>, channel: i64) -> PassResult<'c> {
    let token = start(copy, source, target, channel)?;
    wait(&Builder::before(copy)?, token)?;
    edit::erase(copy);
    Ok(())
}

/// A call that loads or stores a tile with other elements becomes a transfer.
fn convert<'c>(
    op: Op<'c>,
    pools: &mut [(String, Channels<'c>)],
    attribute: &str,
) -> PassResult<'c> {
    let loads = attribute == names::LOAD;
    let malformed = || {
        let does = if loads { "loads" } else { "stores" };
        PassError::at(&op, format!("has a {attribute}, but is no call that {does} a tile"))
    };
    let call = CallExtern::of(op).ok_or_else(malformed)?;
    let [_, ins, outs] = &call.groups;
    let ([source, arrays @ ..], [target]) = (&ins[..], &outs[..]) else { return Err(malformed()) };
    let tile = if loads { *target } else { *source };
    let space = memref::space(tile.r#type());
    let pool = pools.iter_mut().find(|(name, _)| Some(name) == space.as_ref());
    let (_, channels) = pool.ok_or_else(malformed)?;
    check(op, [*source, *target])?;
    let b = Builder::before(op)?;
    let given = edit::dictionary(op.attribute(attribute)?).into_iter().map(|(name, value)| {
        // The first of `ins` is the tile, or the part that is loaded.
        let value = match call_extern::arg_of(value) {
            Some((Group::Ins, index @ 1.., _)) => arg_attr(b.context, Group::Ins, index - 1),
            Some(_) => return Err(malformed()),
            None => value,
        };
        Ok((name, value))
    });
    let given = edit::dictionary_attr(b.context, &given.collect::<Result<Vec<_>, _>>()?);
    let of_load = loads.then(|| ChannelOfLoad::new(op, *target, channels));
    let channel = of_load.as_ref().map_or(channels.last(), |channel| channel.number as i64);
    let attributes = tir::DmaStartAttrs { static_channel: Some(channel), given: Some(given) };
    let token = b.parse_type("!tir.token")?;
    let start = tir::DmaStart::build(&b, *source, *target, None, arrays, attributes, &[token])?;
    match of_load {
        Some(channel) => channel.wait(op, start.token(), channels)?,
        None => {
            wait(&b, start.token())?;
        }
    }
    edit::erase(op);
    Ok(())
}

/// True if `op` uses the buffer or a part of it. Any op with regions counts, as it may use
/// channels.
fn uses<'c>(op: Op<'c>, buffer: Val<'c>) -> bool {
    let buffer = memref::base(buffer);
    op.region_count() > 0 || ir::operands(op).into_iter().any(|value| memref::base(value) == buffer)
}

fn start<'c>(
    copy: Op<'c>,
    source: Val<'c>,
    target: Val<'c>,
    channel: i64,
) -> Result<Val<'c>, PassError<'c>> {
    check(copy, [source, target])?;
    let b = Builder::before(copy)?;
    let attributes = tir::DmaStartAttrs { static_channel: Some(channel), given: None };
    let token = b.parse_type("!tir.token")?;
    Ok(tir::DmaStart::build(&b, source, target, None, &[], attributes, &[token])?.token())
}

/// Checks that a transfer can step through both ends.
fn check<'c>(copy: Op<'c>, ends: [Val<'c>; 2]) -> PassResult<'c> {
    for value in ends {
        let ty = value.r#type();
        let rank = ir::dims(ty).len();
        if rank > 4 || memref::static_strides(ty).is_none() || ir::static_dims(ty).is_none() {
            return Err(PassError::at(
                &copy,
                format!(
                    "copies {ty}, but a DMA transfer has at most 4 dimensions of known sizes \
                     and strides: cut it into smaller parts"
                ),
            ));
        }
    }
    Ok(())
}

fn wait<'c>(b: &Builder<'c>, token: Val<'c>) -> crate::Result<Op<'c>> {
    Ok(tir::DmaWait::build(b, token, &[])?.op())
}
