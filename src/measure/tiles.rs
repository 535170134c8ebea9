//! The tiles of a call, measured one after the other.

use super::{
    clock::Time,
    run::Stand,
    workload::{Tiled, Workload},
};
use crate::{
    Error, Result,
    ir::{self, Builder, composite_call::CompositeCall, edit},
    partition::{Profile, Skipped, TileTime, TiledCall},
    tile::{
        Tiles,
        attribute::from_attribute,
        choose::{Choice, Chooser},
        plan::Plan,
    },
};
use melior::ir::Module;

impl Stand<'_, '_> {
    /// The time of work whose call may have several tiles, with the fastest of them, which the profile
    /// then has.
    pub fn measure_tiles(
        &self,
        work: &Workload,
        tiled: &Tiled,
        profile: &mut Profile,
    ) -> Result<Time> {
        if let Some(tiles) = known_tiles(profile, work) {
            return self.measure(work, 1, Some(tiles));
        }
        let chooser = Chooser::new(&tiled.plan, tiled.reads, &[]).map_err(Error::internal)?;
        let (mut candidates, mut times) = (vec![], vec![]);
        let mut failed = None;
        for (cost, choice) in chooser.candidates(self.bench.how.tiles) {
            match self.candidate(work, &tiled.plan, &choice) {
                Ok((tiles, time)) => {
                    let (nanoseconds, spread) = (time.usual, time.spread());
                    candidates.push(TileTime { tiles, cost, nanoseconds, spread });
                    times.push(time);
                }
                Err((tiles, error)) => {
                    let tiles = tiles.text(&tiled.plan.loop_names());
                    profile.skipped.push(Skipped {
                        target: work.target,
                        pattern: work.pattern.clone(),
                        work: format!("{}, tiles of {tiles}", work.text),
                        reason: error.to_string(),
                    });
                    failed.get_or_insert(error);
                }
            }
            self.bench.session.clear_diagnostics();
        }
        let chosen = TiledCall::fastest(&candidates);
        let time = chosen.and_then(|chosen| Some((chosen, *times.get(chosen)?)));
        let Some((chosen, time)) = time else {
            return Err(failed.unwrap_or_else(|| Error::internal("a match without tiles")));
        };
        profile.tiles.push(TiledCall {
            target: work.target,
            key: tiled.key.clone(),
            call: tiled.text.clone(),
            loops: tiled.plan.loop_names(),
            chosen,
            candidates,
        });
        Ok(time)
    }

    /// The time of work with some tiles.
    fn candidate(
        &self,
        work: &Workload,
        plan: &Plan,
        choice: &Choice,
    ) -> std::result::Result<(Tiles, Time), (Tiles, Error)> {
        let tiles = Tiles::new(plan, choice);
        let time = self.measure(work, 1, Some(&tiles));
        let time = time.and_then(|time| time.check().map(|()| time));
        tracing::debug!(target: "phaseline::measure", work = work.text, ?tiles, ?time);
        match time {
            Ok(time) => Ok((tiles, time)),
            Err(error) => Err((tiles, error)),
        }
    }
}

/// The tiles that were measured as the fastest of work's call.
pub fn known_tiles<'p>(profile: &'p Profile, work: &Workload) -> Option<&'p Tiles> {
    let key = &work.tiled.as_ref()?.key;
    let is = |call: &&TiledCall| call.target == work.target && call.key == *key;
    let known = profile.tiles.iter().find(is)?;
    known.candidates.get(known.chosen).map(|time| &time.tiles)
}

/// Writes tiles into the plans of all calls of a divided network.
pub fn give_tiles(module: &Module<'_>, tiles: &Tiles) -> Result<()> {
    for op in edit::walk(ir::root(module)) {
        let Some(mut call) = CompositeCall::of(op).map_err(Error::internal)? else { continue };
        let Some(attribute) = call.tile else { continue };
        let mut plan: Plan = from_attribute(attribute).map_err(Error::internal)?;
        plan.tiles = Some(tiles.clone());
        let b = Builder::before(op)?;
        call.tile = Some(plan.attribute(&b)?);
        call.write(&b, op);
    }
    Ok(())
}
