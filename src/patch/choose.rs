//! Choice of the part of a network to compute in patches, and of their number.

use super::{
    estimate::{Lives, in_use},
    network::Network,
    region::{Grid, Region},
};

/// Limits and goals of patches.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Greatest number of patches.
    pub patches: i64,
    /// Bytes that are few enough: then the patches with the least work are taken. 0 for as few as can be.
    pub enough: u64,
    /// Limit on additional arithmetic, in percent of that before.
    pub recompute: i64,
}

/// A region and how it is cut.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Region to compute in patches.
    pub region: Region,
    /// Pieces of its result.
    pub grid: Grid,
    /// Bytes that the network takes then, by estimate.
    pub bytes: u64,
    /// Arithmetic operations, of the whole network.
    work: f64,
}

/// Greatest number of operations to look at, those in the patches of regions counted each time.
const EFFORT: usize = 1_000_000;

/// A gain of less than this part of all bytes is within the error of the estimate.
const GAIN: u64 = 8;

/// Numbers of pieces along an axis.
const PIECES: [i64; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32];

/// The search for a choice.
struct Search<'n, 'c> {
    network: &'n Network<'c>,
    lives: Lives,
    goal: Goal,
    /// The most bytes in use at operations before each, and from each on.
    earlier: Vec<u64>,
    later: Vec<u64>,
    before: u64,
    /// Arithmetic operations without patches, and the most there may be.
    work: f64,
    most: f64,
    effort: usize,
    best: Option<Choice>,
}

/// Looks for patches that lower the most bytes that are in use at once.
pub fn choose(network: &Network<'_>, goal: Goal) -> Option<Choice> {
    let lives = Lives::of(network);
    let used = in_use(network, &lives);
    let before = used.iter().copied().max()?;
    if goal.enough >= before && goal.enough > 0 {
        return None;
    }
    let fullest = used.iter().position(|bytes| *bytes == before)?;
    let running = |bytes: &mut dyn Iterator<Item = &u64>| -> Vec<u64> {
        let most = bytes.scan(0, |most, bytes| {
            *most = (*most).max(*bytes);
            Some(*most)
        });
        std::iter::once(0).chain(most.collect::<Vec<_>>()).collect()
    };
    let earlier = running(&mut used.iter());
    let mut later = running(&mut used.iter().rev());
    later.reverse();
    let work: f64 = network.steps.iter().map(|step| step.work).sum();
    let most = work * (1.0 + goal.recompute as f64 / 100.0);
    let (effort, best) = (0, None);
    let mut search =
        Search { network, lives, goal, earlier, later, before, work, most, effort, best };
    for begin in (0..=fullest).rev() {
        for region in Region::from(network, &search.lives, begin) {
            if region.steps.end > fullest && search.effort < EFFORT {
                search.region(&region);
            }
        }
    }
    search.best
}

impl Search<'_, '_> {
    /// Looks at the ways to cut a region.
    fn region(&mut self, region: &Region) {
        let network = self.network;
        let outside = self.earlier[region.steps.start].max(self.later[region.steps.end]);
        let held = self.held(region);
        let least = outside.max(held);
        if least >= self.bound() {
            return;
        }
        let dims = &network.values[region.end].dims;
        let axes: Vec<usize> =
            (2..dims.len()).filter(|axis| region.allows(network, *axis)).take(2).collect();
        let Some((rows, columns)) = axes.split_first() else { return };
        // Rows alone first: of equals the first one is taken.
        for across in PIECES {
            for down in PIECES {
                let mut grid = vec![(*rows, down)];
                grid.extend(columns.iter().map(|axis| (*axis, across)));
                let fits = grid.iter().all(|(axis, count)| *count <= dims[*axis]);
                let patches: i64 = grid.iter().map(|(_, count)| count).product();
                let again = columns.is_empty() && across > 1;
                if fits && !again && (2..=self.goal.patches).contains(&patches) {
                    grid.retain(|(_, count)| *count > 1);
                    self.grid(region, grid, outside, held);
                }
            }
        }
    }

    /// Bytes in use throughout the region: its result, and earlier values that are still live.
    fn held(&self, region: &Region) -> u64 {
        let network = self.network;
        let through = |value: usize| {
            let it = &network.values[value];
            self.lives.stored[value]
                && it.maker.is_some_and(|maker| maker < region.steps.start)
                && self.lives.last[value] >= region.steps.start
        };
        let values = (0..network.values.len()).filter(|value| through(*value));
        values.map(|value| network.values[value].bytes).sum::<u64>()
            + network.values[region.end].bytes
    }

    /// Bytes that a better choice has to stay below.
    fn bound(&self) -> u64 {
        let best = self.best.as_ref().map(|best| best.bytes);
        match best {
            Some(bytes) if bytes > self.goal.enough => bytes,
            Some(_) => self.goal.enough + 1,
            None => self.before,
        }
    }

    fn grid(&mut self, region: &Region, grid: Grid, outside: u64, held: u64) {
        let mut bytes = outside;
        let own: f64 = self.network.steps[region.steps.clone()].iter().map(|step| step.work).sum();
        let mut work = self.work - own;
        let mut patches = region.patches(self.network, &grid);
        // One in the middle, which has windows over all of its edges, says most.
        let columns = grid.get(1).map_or(1, |(_, count)| usize::try_from(*count).unwrap_or(1));
        let middle = patches.len() / columns / 2 * columns + columns / 2;
        patches.swap(0, middle);
        for patch in patches {
            self.effort += region.steps.len();
            let Some(needs) = region.needs(self.network, &grid, &patch) else { return };
            let price = region.price(self.network, &self.lives, &grid, &needs);
            bytes = bytes.max(held + price.bytes);
            work += price.work;
            if bytes > self.bound() || work > self.most {
                return;
            }
        }
        let choice = Choice { region: region.clone(), grid, bytes, work };
        if self.is_gain(bytes)
            && self.best.as_ref().is_none_or(|best| self.is_better(&choice, best))
        {
            self.best = Some(choice);
        }
    }

    /// True if so many bytes are worth the patches.
    fn is_gain(&self, bytes: u64) -> bool {
        bytes < self.before
            && (bytes <= self.goal.enough || bytes <= self.before - self.before / GAIN)
    }

    fn is_better(&self, new: &Choice, old: &Choice) -> bool {
        let rank = |choice: &Choice| choice.bytes.max(self.goal.enough);
        let patches = |choice: &Choice| choice.grid.iter().map(|(_, n)| n).product::<i64>();
        rank(new)
            .cmp(&rank(old))
            .then(new.work.total_cmp(&old.work))
            .then(patches(new).cmp(&patches(old)))
            .is_lt()
    }
}
