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
        attribute::{from_attribute, to_attribute},
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
        for (cost, choice) in chooser.candidates(self.bench.how.tiles) {
            match self.candidate(work, &Tiles::new(&tiled.plan, &choice)) {
                Ok((candidate, time)) => {
                    candidates.push(TileTime { cost, ..candidate });
                    times.push(time);
                }
                // Without the tiles that a compile takes by itself there is nothing to compare with.
                Err(error) if candidates.is_empty() => return Err(error),
                Err(error) => profile.skipped.push(skipped(work, tiled, &choice, &error)),
            }
            self.bench.session.clear_diagnostics();
        }
        let chosen = self.confirmed(work, &mut candidates);
        let chosen = chosen.and_then(|chosen| Some((chosen, *times.get(chosen)?)));
        let (chosen, time) = chosen.ok_or_else(|| Error::internal("a match without tiles"))?;
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

    /// The fastest candidate. One that is to overrule the declared cost is measured again beside the one of
    /// least cost, since what else the machine does changes while candidates are compiled.
    fn confirmed(&self, work: &Workload, candidates: &mut [TileTime]) -> Option<usize> {
        let chosen = TiledCall::fastest(candidates).filter(|chosen| *chosen > 0);
        for candidate in [Some(0), chosen].into_iter().flatten().filter(|_| chosen.is_some()) {
            let candidate = candidates.get_mut(candidate)?;
            if let Ok((again, _)) = self.candidate(work, &candidate.tiles) {
                candidate.nanoseconds = candidate.nanoseconds.min(again.nanoseconds);
                candidate.spread = candidate.spread.max(again.spread);
            }
        }
        TiledCall::fastest(candidates)
    }

    /// The time of work with some tiles; their cost is for the caller to say.
    fn candidate(&self, work: &Workload, tiles: &Tiles) -> Result<(TileTime, Time)> {
        let time = self.measure(work, 1, Some(tiles));
        let time = time.and_then(|time| time.check().map(|()| time));
        tracing::debug!(target: "phaseline::measure", work = work.text, ?tiles, ?time);
        let time = time?;
        let (tiles, nanoseconds, spread) = (tiles.clone(), time.usual, time.spread());
        Ok((TileTime { tiles, cost: 0.0, nanoseconds, spread }, time))
    }
}

/// Entry for tiles that could not be measured.
fn skipped(work: &Workload, tiled: &Tiled, choice: &Choice, error: &Error) -> Skipped {
    let tiles = Tiles::new(&tiled.plan, choice).text(&tiled.plan.loop_names());
    Skipped {
        target: work.target,
        pattern: work.pattern.clone(),
        work: format!("{}, tiles of {tiles}", work.text),
        reason: error.to_string(),
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
        call.tile = Some(to_attribute(&b, &plan)?);
        call.write(&b, op);
    }
    Ok(())
}
