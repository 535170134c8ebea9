//! The input of partitioning for one function: its graph, the targets and their patterns.

use super::{DivideOptions, View, view};
use crate::{
    Error, Result,
    graph::{self, OpTable},
    ir::{self, Op, guard, names},
    partition::{Device, Judged, Measured, Request, TileReport, TiledCalls, tile_key},
    pattern::{BoundCall, Match, Pattern},
    targets::TargetInstance,
};

/// A function and the targets that it may be divided between.
pub struct PartitionInput<'c, 't> {
    /// The operations' declarations.
    pub table: OpTable,
    /// The function's operations, with what is demanded of them.
    pub view: View<'c>,
    /// The devices in order, each with its patterns.
    pub devices: Vec<(&'t TargetInstance, Vec<Pattern>)>,
    /// Target of the remaining operations.
    pub host: &'t TargetInstance,
    measured: Option<Measured>,
    transfers: Vec<Option<(f64, f64)>>,
    /// For each device, the calls whose tiles were measured.
    tiles: Vec<TiledCalls>,
    search: bool,
    apart: bool,
    /// For checks, the number of the layout of calls with tensors as given.
    layout: Option<u64>,
}

impl<'c, 't> PartitionInput<'c, 't> {
    /// Reads the function, and the patterns of the targets.
    pub fn new(
        function: Op<'c>,
        targets: &'t [TargetInstance],
        options: &DivideOptions,
    ) -> Result<Self> {
        let mut table = OpTable::of(ir::graph::OPS)?;
        for operator in targets.iter().flat_map(|target| &target.kind.operators) {
            table.insert(operator.decl.clone());
        }
        let last = targets.split_last().filter(|(last, _)| last.is_host());
        let (host, devices) = last.ok_or_else(|| {
            Error::invalid("the target spec does not end with a host; add one, such as llvm")
        })?;
        let devices: Vec<(&TargetInstance, Vec<Pattern>)> = devices
            .iter()
            .map(|device| Ok((device, device.load_patterns(&table)?)))
            .collect::<Result<_>>()?;
        let mut view = view(function, &table)?;
        place_all(function, &mut view, &host.id);
        if let Some(placement) = options.placement {
            placement.apply(&mut view.graph)?;
        }
        let profiled: Vec<_> = devices.iter().map(|(device, _)| device.profiled()).collect();
        let measured = options.profile.map(|profile| profile.measured(&profiled, &host.profiled()));
        let measured = measured.transpose()?;
        let transfers = profiled.iter().map(|device| options.profile?.transfer(device)).collect();
        let tiles = profiled.iter().map(|device| match options.profile {
            Some(profile) => profile.tiles(device),
            None => Ok(TiledCalls::new()),
        });
        let tiles = tiles.collect::<Result<_>>()?;
        let DivideOptions { search, apart, .. } = *options;
        let layout = guard::around(function, names::TILE_CHOICE);
        let layout = layout.and_then(|number| u64::try_from(number).ok());
        Ok(Self { table, view, devices, host, measured, transfers, tiles, search, apart, layout })
    }

    /// Gives the call of a match on a device the tiles that were measured as the fastest, if there are
    /// any and they fit; says what it found.
    pub fn decide_tiles(
        &self,
        device: usize,
        found: &Match,
        call: &mut BoundCall,
    ) -> Result<Option<TileReport>> {
        let Some(known) = self.tiles.get(device).filter(|known| !known.is_empty()) else {
            return Ok(None);
        };
        let measured = tile_key(&self.view.graph, found, call).and_then(|(key, _)| known.get(&key));
        let (Some(measured), Some(plan)) = (measured, &mut call.tile) else { return Ok(None) };
        let reads = plan.reads(found.outputs.len());
        measured.decide(plan, reads).map_err(Error::internal)
    }

    /// True to look for the partition that costs least.
    pub fn is_search(&self) -> bool {
        self.search
    }

    /// The devices as partitioning sees them.
    pub fn devices(&self) -> Result<Vec<Device<'_>>> {
        let devices = self.devices.iter().zip(&self.transfers);
        devices
            .map(|((device, patterns), transfer)| {
                let mut device = device.device(patterns)?;
                device.capabilities.merge &= !self.apart;
                if let Some((per_call, per_byte)) = transfer {
                    device.rates.per_call = *per_call;
                    device.rates.per_byte = *per_byte;
                }
                Ok(device)
            })
            .collect()
    }

    /// The input itself.
    pub fn request<'a>(
        &'a self,
        devices: &'a [Device<'a>],
        judged: &'a [Judged],
    ) -> Result<Request<'a>> {
        Ok(Request {
            graph: &self.view.graph,
            table: &self.table,
            devices,
            host: &self.host.id,
            host_rates: self.host.rates()?,
            measured: self.measured.as_ref(),
            search: self.search,
            judged,
            layout: self.layout,
        })
    }
}

/// A device in the attribute of the function is demanded for all operations that demand none. The
/// host's name says nothing: a function that was divided carries it.
fn place_all(function: Op<'_>, view: &mut View<'_>, host: &str) {
    let target = ir::attr_str(function, names::TARGET);
    let Some(target) = target.filter(|target| target != host) else { return };
    let free = |op: &graph::Op| op.placement.is_none() && !op.side_effects;
    let ids: Vec<_> = view.graph.ops().filter(|(_, op)| free(op)).map(|(id, _)| id).collect();
    for id in ids {
        view.graph.set_placement(id, Some(target.clone()), None);
    }
}
