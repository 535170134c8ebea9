//! Measured tiles: what a profile knows of calls that are computed tile by tile.

use super::key::digest;
use crate::{
    graph::{GraphView, ValueId},
    pattern::{BoundArg, BoundCall, Match},
    tile::{Tiles, choose::Chooser, plan::Plan},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Write};

/// The measured tiles of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TiledCall {
    /// Place of the target in the profile's list.
    pub target: usize,
    /// Key of the call ([`tile_key`]); equal calls have the same one.
    pub key: String,
    /// The function and its tensors, for people.
    pub call: String,
    /// Names of the loops.
    pub loops: Vec<String>,
    /// Place of the chosen one among the candidates.
    pub chosen: usize,
    /// The tiles that were measured, by declared cost.
    pub candidates: Vec<TileTime>,
}

/// A measurement of tiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileTime {
    /// The tiles.
    pub tiles: Tiles,
    /// Their cost by the manifest's expressions.
    pub cost: f64,
    /// The median of one run of the match, call and transfers included.
    pub nanoseconds: f64,
    /// Interquartile range of the samples, in nanoseconds.
    pub spread: f64,
}

/// Measured tiles of a call, for reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TileReport {
    /// The tiles that were measured as the fastest.
    pub fastest: String,
    /// Time of a run with the fastest tiles, in nanoseconds.
    pub nanoseconds: f64,
    /// The tiles of least declared cost.
    pub cheapest: String,
    /// Time of a run with the cheapest tiles, in nanoseconds.
    pub by_cost: f64,
    /// Number of candidates that were measured.
    pub candidates: usize,
    /// True if the fastest tiles are taken; false if they do not fit the call.
    pub used: bool,
}

/// The measured tiles of a target, by key.
pub type TiledCalls = BTreeMap<String, TiledCall>;

impl TiledCall {
    /// The fastest candidate. Of those that differ from it by less than the times vary, the one of
    /// least declared cost counts as the fastest.
    pub fn fastest(candidates: &[TileTime]) -> Option<usize> {
        let least = candidates.iter().min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds))?;
        let is_as_fast = |other: &TileTime| {
            other.nanoseconds - least.nanoseconds <= least.spread.max(other.spread)
        };
        candidates.iter().position(is_as_fast)
    }

    /// The first fault found in a call that was read from a profile; none if it is sound.
    pub(super) fn fault(&self, targets: usize) -> Option<String> {
        let fault = |reason: String| Some(format!("the tiles of '{}' {reason}", self.call));
        if self.target >= targets {
            return fault("are of no target of its list".to_owned());
        }
        if self.chosen >= self.candidates.len() {
            return fault(format!("are number {} of {}", self.chosen, self.candidates.len()));
        }
        for TileTime { tiles, cost, nanoseconds, spread } in &self.candidates {
            if tiles.sizes.len() != self.loops.len() || tiles.sizes.iter().any(|size| *size < 1) {
                let (sizes, loops) = (tiles.sizes.len(), self.loops.len());
                return fault(format!("have {sizes} sizes for {loops} loops, or one below 1"));
            }
            if let Some(name) = tiles.order.iter().find(|name| !self.loops.contains(name)) {
                return fault(format!("have the loop '{name}' in their order, which is none"));
            }
            let is_time = |time: &f64| time.is_finite() && *time >= 0.0;
            if !cost.is_finite() || !is_time(nanoseconds) || !is_time(spread) {
                return fault(format!("cost {cost} and take {nanoseconds} +- {spread} ns"));
            }
        }
        None
    }

    /// Writes the chosen tiles into a plan, if they fit; says what it did.
    pub fn decide(&self, plan: &mut Plan, reads: usize) -> Result<Option<TileReport>, String> {
        let (Some(chosen), Some(first)) =
            (self.candidates.get(self.chosen), self.candidates.first())
        else {
            return Ok(None);
        };
        let used = self.loops == plan.loop_names()
            && Chooser::new(plan, reads, &[])?.admit(&chosen.tiles).is_some();
        if used {
            plan.tiles = Some(chosen.tiles.clone());
        }
        Ok(Some(TileReport {
            fastest: chosen.tiles.text(&self.loops),
            nanoseconds: chosen.nanoseconds,
            cheapest: first.tiles.text(&self.loops),
            by_cost: first.nanoseconds,
            candidates: self.candidates.len(),
            used,
        }))
    }
}

/// A key that two calls share if their tiles take the same time, and their text for people: function,
/// arguments, types, loops and pools count. Factors and elements of constants do not, nor what only
/// guides the choice of tiles, such as costs. None for a call without tiles.
pub fn tile_key(graph: &GraphView, found: &Match, call: &BoundCall) -> Option<(String, String)> {
    let mut plan = call.tile.clone()?;
    plan.cost = None;
    plan.require.clear();
    plan.order.clear();
    plan.stationary = None;
    plan.tiles = None;
    plan.pools.iter_mut().for_each(|pool| pool.dma.cost.clear());
    let mut text = call.symbol.clone();
    for arg in call.args.iter().chain(&call.arrays) {
        text.push(' ');
        describe(&mut text, (graph, found), arg);
    }
    // A plan is plain data, which has a form.
    let plan = serde_json::to_string(&plan).ok()?;
    let types = |values: &mut dyn Iterator<Item = &ValueId>| {
        values.map(|value| graph.value(*value).ty.to_string()).collect::<Vec<_>>().join(", ")
    };
    let inputs = call.args.iter().filter_map(|arg| match arg {
        BoundArg::In(Some(value), _) => Some(value),
        _ => None,
    });
    let (inputs, outputs) = (types(&mut inputs.into_iter()), types(&mut found.outputs.iter()));
    let name = format!("{} {inputs} -> {outputs}", call.symbol);
    Some((digest(&format!("{text}\n{plan}")), name))
}

/// An argument as far as it decides on what the call does. Writing to a string does not fail.
fn describe(text: &mut String, (graph, found): (&GraphView, &Match), arg: &BoundArg) {
    let ty = |value: &ValueId| graph.value(*value).ty.to_string();
    let _ = match arg {
        BoundArg::In(None, _) => write!(text, "null"),
        BoundArg::In(Some(value), layout) => {
            let kind = if graph.is_constant(*value) { "const" } else { "in" };
            write!(text, "{kind}:{}:{layout:?}", ty(value))
        }
        BoundArg::Out(place, layout) | BoundArg::Over(place, _, layout) => {
            let ty = found.outputs.get(*place).map(ty).unwrap_or_default();
            let over = if matches!(arg, BoundArg::Over(..)) { ":over" } else { "" };
            write!(text, "out:{ty}:{layout:?}{over}")
        }
        BoundArg::Int(ctype, value) => write!(text, "{value}:{ctype:?}"),
        BoundArg::Float(ctype, _) => write!(text, "float:{ctype:?}"),
        BoundArg::Name(name) => write!(text, "{name}"),
        BoundArg::Const(dtype, values) => write!(text, "array:{dtype}:{}", values.len()),
        BoundArg::Struct(name, fields) => {
            text.push_str(name);
            text.push('{');
            for (field, value) in fields {
                let _ = write!(text, "{field}=");
                describe(text, (graph, found), value);
                text.push(',');
            }
            write!(text, "}}")
        }
        BoundArg::Scratch => write!(text, "scratch"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(nanoseconds: f64, spread: f64) -> TileTime {
        let tiles = Tiles { sizes: vec![4], order: vec!["m".to_owned()] };
        TileTime { tiles, cost: 1.0, nanoseconds, spread }
    }

    #[test]
    fn what_times_vary_by_does_not_overrule_the_declared_cost() {
        let fastest = |times: &[(f64, f64)]| {
            let times: Vec<_> = times.iter().map(|(ns, spread)| time(*ns, *spread)).collect();
            TiledCall::fastest(&times)
        };
        assert_eq!(fastest(&[]), None);
        assert_eq!(fastest(&[(100.0, 5.0), (97.0, 5.0), (96.0, 1.0)]), Some(0));
        assert_eq!(fastest(&[(100.0, 5.0), (97.0, 5.0), (94.0, 1.0)]), Some(1));
        assert_eq!(fastest(&[(100.0, 5.0), (50.0, 5.0), (48.0, 1.0)]), Some(1));
        assert_eq!(fastest(&[(100.0, 0.0), (100.0, 0.0)]), Some(0));
    }

    #[test]
    fn damage_is_found() {
        let call = TiledCall {
            target: 0,
            key: "k".to_owned(),
            call: "f".to_owned(),
            loops: vec!["m".to_owned()],
            chosen: 0,
            candidates: vec![time(1.0, 0.5)],
        };
        assert_eq!(call.fault(1), None);
        let fault = |change: &dyn Fn(&mut TiledCall)| {
            let mut other = call.clone();
            change(&mut other);
            other.fault(1).unwrap_or_default()
        };
        assert_eq!(fault(&|c| c.target = 1), "the tiles of 'f' are of no target of its list");
        assert_eq!(fault(&|c| c.chosen = 3), "the tiles of 'f' are number 3 of 1");
        let sizes = "the tiles of 'f' have 2 sizes for 1 loops, or one below 1";
        assert_eq!(fault(&|c| c.candidates[0].tiles.sizes.push(1)), sizes);
        assert!(fault(&|c| c.candidates[0].tiles.sizes = vec![0]).contains("below 1"));
        assert!(fault(&|c| c.candidates[0].tiles.order[0].push('m')).contains("the loop 'mm'"));
        assert!(fault(&|c| c.candidates[0].spread = -1.0).contains("take 1 +- -1 ns"));
    }
}
