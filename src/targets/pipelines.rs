//! Pipelines of all targets of a compile.

use super::TargetInstance;
use crate::{
    Result,
    phase::{Phase, TargetPipelines},
};

/// The pipelines of all targets, the host last. Tiles of calls in the host's own code are the host's
/// loops, which it makes before its own passes.
///
/// # Errors
/// An option that a pipeline names is not set.
pub fn pipelines(targets: &[TargetInstance]) -> Result<Vec<TargetPipelines>> {
    let mut all: Vec<_> = targets.iter().map(TargetInstance::pipelines).collect::<Result<_>>()?;
    let in_host_tiles = targets.iter().flat_map(|target| &target.kind.patterns);
    let mut in_host_tiles = in_host_tiles.map(|pattern| &pattern.spec).filter(|spec| spec.inline);
    if let (Some(host), true) = (all.last_mut(), in_host_tiles.any(|spec| spec.tile.is_some())) {
        host.put_before(Phase::TirSchedule, "tile-calls");
    }
    Ok(all)
}
