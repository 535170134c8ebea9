//! The tiles of least cost, of which a measurement may find another one faster.

use super::{Choice, Chooser, cut::COARSE};

/// Orders of loops that are candidates for the same sizes: else permutations would be all there are.
const ORDERS: usize = 2;

/// The cheapest of the tiles that were compared, by cost; equal ones as they were found.
pub(super) struct Kept {
    /// Number of tiles that are kept.
    room: usize,
    /// Number of orders that are kept of the same sizes.
    orders: usize,
    /// The choice that the kept ones have to differ from.
    first: Option<Choice>,
    found: Vec<(f64, Choice)>,
}

impl Kept {
    /// Keeps one.
    pub fn cheapest() -> Self {
        Self { room: 1, orders: 1, first: None, found: vec![] }
    }

    /// Keeps so many that differ from one by more than a step of the coarse choice.
    fn others(room: usize, first: Choice) -> Self {
        Self { room, orders: ORDERS, first: Some(first), found: vec![] }
    }

    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.found.clear();
    }

    /// True if there is no space for more.
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.room
    }

    /// The cheapest.
    pub fn first(&self) -> Option<&(f64, Choice)> {
        self.found.first()
    }

    /// True if tiles of such a cost are not kept.
    pub fn is_beyond(&self, cost: f64) -> bool {
        self.is_full() && self.found.last().is_none_or(|(most, _)| cost >= *most)
    }

    /// Compares the orders of some sizes.
    pub fn take(&mut self, mut all: Vec<(f64, Choice)>) {
        all.retain(|(_, choice)| self.first.as_ref().is_none_or(|first| !is_near(first, choice)));
        all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        all.truncate(self.orders);
        for (cost, choice) in all {
            if self.is_beyond(cost) {
                return;
            }
            let place = self.found.partition_point(|(other, _)| *other <= cost);
            self.found.insert(place, (cost, choice));
            self.found.truncate(self.room);
        }
    }
}

/// True if two choices are of one order, and of sizes that differ little.
fn is_near(a: &Choice, b: &Choice) -> bool {
    let near = |(a, b): (&i64, &i64)| *a.min(b) as f64 > COARSE * *a.max(b) as f64;
    a.order == b.order && a.sizes.iter().zip(&b.sizes).all(near)
}

impl Chooser<'_> {
    /// At most so many tiles that fit, with their costs, the cheapest first. The first is the
    /// choice of [`Chooser::choose`]; the others differ from it in the order of loops or clearly in
    /// a size.
    pub fn candidates(&self, count: usize) -> Vec<(f64, Choice)> {
        let Some((cost, first)) = self.cheapest().filter(|_| count > 0) else { return vec![] };
        let mut others = Kept::others(count - 1, first.clone());
        self.search_coarse(&mut others);
        let mut all = vec![(cost, first)];
        all.append(&mut others.found);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::plan::Plan;

    /// 16 x 16 f32 in two loops that move a row or a column each, in a pool of some bytes.
    fn plan(bytes: i64, require: &str) -> Plan {
        let text = r#"{
            "pools": [{"name": "p", "bytes": BYTES, "alignment": 16, "dma": {
                "channels": 1, "dims": 2, "double_buffer": false, "cost": "10 + bytes"}}],
            "loops": [
                {"name": "m", "extent": 16, "multiple": 1, "max": 0, "reduce": false, "windows": []},
                {"name": "n", "extent": 16, "multiple": 1, "max": 0, "reduce": false, "windows": []}],
            "tensors": [
                {"name": "x", "element": 4, "dims": [{"size": 16, "cut": 0, "divisor": 1, "window": -1}]},
                {"name": "w", "element": 4, "dims": [{"size": 16, "cut": 1, "divisor": 1, "window": -1}]},
                {"name": "y", "element": 4, "dims": [
                    {"size": 16, "cut": 0, "divisor": 1, "window": -1},
                    {"size": 16, "cut": 1, "divisor": 1, "window": -1}]}],
            "args": [], "cost": "tile.m * tile.n", "require": [REQUIRE]}"#;
        let text = text.replace("BYTES", &bytes.to_string()).replace("REQUIRE", require);
        let plan: Plan = serde_json::from_str(&text).expect("a plan");
        plan.check().expect("is right");
        plan
    }

    #[test]
    fn candidates_are_distinct_and_cost_more_and_more() {
        let plan = plan(512, "");
        let chooser = Chooser::new(&plan, 2, &[]).expect("a plan");
        let found = chooser.candidates(6);
        assert_eq!(found.len(), 6);
        assert_eq!(Some(&found[0].1), chooser.choose().as_ref());
        assert!(found.is_sorted_by(|(a, _), (b, _)| a <= b), "{found:?}");
        for (place, (_, choice)) in found.iter().enumerate() {
            assert!(chooser.allows(choice), "{choice:?}");
            assert!(place == 0 || !is_near(&found[0].1, choice), "{choice:?}");
            assert!(!found[..place].iter().any(|(_, other)| other == choice), "{choice:?}");
            let same = found.iter().filter(|(_, other)| other.sizes == choice.sizes);
            assert!(same.count() <= 1 + ORDERS, "{found:?}");
        }
        assert_eq!(chooser.candidates(1), found[..1]);
        assert_eq!(chooser.candidates(6), found, "the same again");
        assert_eq!(chooser.candidates(0), []);
    }

    #[test]
    fn few_that_fit_are_all_candidates() {
        // A tile takes 16 for x, 16 for w and 16 for y: 4 of each at most, so that y is 1 x 4 and the like.
        let plan = plan(48, "");
        let found = Chooser::new(&plan, 2, &[]).expect("a plan").candidates(100);
        let sizes: std::collections::BTreeSet<_> =
            found.iter().map(|(_, choice)| choice.sizes.clone()).collect();
        assert!(sizes.contains(&vec![1, 4]) && sizes.contains(&vec![2, 2]), "{sizes:?}");
        assert!(sizes.iter().all(|sizes| sizes[0] * sizes[1] <= 4), "{sizes:?}");
    }

    #[test]
    fn a_choice_is_allowed_if_its_sizes_and_order_are() {
        let with = |bytes: i64, require: &str, sizes: [i64; 2], order: &[usize]| {
            let plan = plan(bytes, require);
            let choice = Choice { sizes: sizes.to_vec(), order: order.to_vec() };
            Chooser::new(&plan, 2, &[]).expect("a plan").allows(&choice)
        };
        assert!(with(512, "", [8, 8], &[0, 1]) && with(512, "", [8, 8], &[1, 0]));
        assert!(with(2048, "", [16, 16], &[]));
        assert!(!with(256, "", [8, 8], &[0, 1]), "too large");
        assert!(!with(512, "\"tile.m < 8\"", [8, 8], &[0, 1]), "against a requirement");
        assert!(!with(512, "", [8, 8], &[0]), "an order without a loop that is cut");
        assert!(!with(512, "", [16, 4], &[0, 1]), "an order with one that is not");
        assert!(!with(512, "", [7, 8], &[0, 1]), "no size of nearly equal pieces");
    }
}
