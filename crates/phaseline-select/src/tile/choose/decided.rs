//! Tiles that were decided elsewhere: by a measurement.

use super::{Choice, Chooser};
use crate::tile::Tiles;

impl Chooser<'_> {
    /// The tiles that the plan has been given, or else the cheapest; none if they do not fit.
    pub fn decided(&self) -> Option<Choice> {
        match &self.plan.tiles {
            Some(tiles) => self.admit(tiles),
            None => self.choose(),
        }
    }

    /// Tiles as a choice, if they may be chosen. They may not with other loops, with sizes or an
    /// order that no choice has, when too large for a pool, or against a requirement.
    pub fn admit(&self, tiles: &Tiles) -> Option<Choice> {
        let order = tiles.order.iter().map(|name| self.plan.loop_named(name));
        let choice = Choice { sizes: tiles.sizes.clone(), order: order.collect::<Option<_>>()? };
        self.allows(&choice).then_some(choice)
    }

    /// True if a choice is one of those that are compared.
    pub(super) fn allows(&self, choice: &Choice) -> bool {
        self.cuts_of(choice).is_some_and(|cuts| {
            self.fits(&cuts) && super::orders(self.plan, &self.free(&cuts)).contains(&choice.order)
        })
    }
}
