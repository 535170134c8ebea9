//! Tiles that are decided: as the IR carries them, and as profiles have them.

use super::{choose::Choice, plan::Plan};
use serde::{Deserialize, Serialize};

/// The sizes of tiles and the order of loops, by the names of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Positions of a piece of each loop, in the order of the plan's loops.
    pub sizes: Vec<i64>,
    /// The loops that are cut and do not reduce, outermost first.
    pub order: Vec<String>,
}

impl Tiles {
    /// A choice by names.
    pub fn new(plan: &Plan, choice: &Choice) -> Self {
        let name = |place: &usize| plan.loops.get(*place).map(|l| l.name.clone());
        Self { sizes: choice.sizes.clone(), order: choice.order.iter().filter_map(name).collect() }
    }

    /// As text: `16 m x 8 n, loops from outside: n, m`.
    pub fn text(&self, loops: &[String]) -> String {
        let sizes = self.sizes.iter().zip(loops).map(|(size, name)| format!("{size} {name}"));
        let sizes: Vec<String> = sizes.collect();
        match self.order.len() {
            0 | 1 => sizes.join(" x "),
            _ => format!("{}, loops from outside: {}", sizes.join(" x "), self.order.join(", ")),
        }
    }
}
