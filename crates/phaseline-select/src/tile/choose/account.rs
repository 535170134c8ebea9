//! Accounts of a choice of tiles: sizes, memory, transfers and costs, for people and programs.

use super::{Choice, Chooser, Cut};
use crate::tile::plan::Tensor;
use serde::Serialize;
use std::fmt;

/// The tiles of a call, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Account {
    /// The loops: those that are cut outermost first, then the others.
    pub loops: Vec<LoopAccount>,
    /// The memories that tiles are in.
    pub pools: Vec<PoolAccount>,
    /// Transfers of each tensor.
    pub moves: Vec<MoveAccount>,
    /// Cost of computation, in the unit of the manifest.
    pub compute: f64,
    /// Cost of transfers, in the same unit.
    pub transfers: f64,
    /// Both, less what goes on at the same time.
    pub total: f64,
    /// The bottleneck: `computation` or `transfers`.
    pub bound: &'static str,
}

/// A memory and what tiles take of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoolAccount {
    /// Its name.
    pub name: String,
    /// Bytes that tiles take.
    pub used: i64,
    /// Bytes that there are.
    pub bytes: i64,
}

/// A loop and its pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopAccount {
    /// Its name.
    pub name: String,
    /// Positions of a piece.
    pub size: i64,
    /// Number of pieces.
    pub pieces: i64,
    /// True for a reduction: results of its pieces are added up.
    pub reduce: bool,
}

/// Transfers of a tensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveAccount {
    /// The tensor.
    pub tensor: String,
    /// Number of transfers.
    pub times: f64,
    /// Bytes of all of them.
    pub bytes: f64,
    /// The element type of its tile, if that is not the tensor's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// The cost of its transfers that is waited for because its pool has no space for a second
    /// tile; none if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<f64>,
}

impl Chooser<'_> {
    /// The account of a choice; none if it is not one of this plan's.
    pub fn account(&self, choice: &Choice) -> Option<Account> {
        let cuts = self.cuts_of(choice)?;
        let transfers: Vec<f64> =
            self.plan.tensors.iter().map(|tensor| self.transfer_cost(tensor, &cuts)).collect();
        let compute = self.compute_cost(&cuts);
        let cost = self.cost(&cuts, &choice.order, (compute, &transfers));
        let reduced = (0..cuts.len()).filter(|place| self.plan.loops[*place].reduce);
        let mut order: Vec<usize> = choice.order.to_vec();
        order.extend(reduced.filter(|place| cuts[*place].count > 1));
        let whole: Vec<usize> = (0..cuts.len()).filter(|place| !order.contains(place)).collect();
        let loops = order.into_iter().chain(whole).map(|place| LoopAccount {
            name: self.plan.loops[place].name.clone(),
            size: cuts[place].size,
            pieces: cuts[place].count,
            reduce: self.plan.loops[place].reduce,
        });
        let all = self.moves(&cuts, &choice.order);
        let second = |place: usize| {
            let here = |index: &usize| self.plan.tensors[*index].moved_pool() == Some(place);
            let twice = (0..all.len()).filter(|index| all[*index].ahead > 0.0).filter(here);
            twice.map(|index| self.second_bytes(index, &cuts)).fold(0, i64::saturating_add)
        };
        let pools = self.plan.pools.iter().enumerate().map(|(place, pool)| PoolAccount {
            name: pool.name.clone(),
            used: self.bytes(place, &|place| cuts[place]).saturating_add(second(place)),
            bytes: pool.room(),
        });
        let pools = pools.collect();
        let moves = self.plan.tensors.iter().zip(&all).zip(&transfers);
        // What is moved from one pool to another is not moved to the host's memory or from it.
        let moves = moves.filter(|((tensor, _), _)| tensor.moved_pool().is_some() && !tensor.kept);
        let moves = moves.map(|((tensor, moves), transfer)| {
            let bytes = (moves.times * mean_bytes(tensor, &cuts)).round();
            let waits = moves.times * transfer * moves.withheld;
            MoveAccount {
                tensor: tensor.name.clone(),
                times: moves.times,
                bytes,
                dtype: tensor.dtype.clone(),
                waits: (moves.withheld > 0.0).then_some(waits),
            }
        });
        Some(Account {
            loops: loops.collect(),
            pools,
            moves: moves.collect(),
            compute: cost.compute,
            transfers: cost.transfers,
            total: cost.total,
            bound: if cost.compute >= cost.transfers { "computation" } else { "transfers" },
        })
    }
}

/// Bytes of a tile of a tensor on average: the last piece of a loop may be smaller.
fn mean_bytes(tensor: &Tensor, cuts: &[&Cut]) -> f64 {
    let sizes = tensor.dims.iter().map(|dim| match (dim.loop_place(), dim.window_place()) {
        (Some(place), Some(window)) => cuts[place].inputs[window].1,
        (Some(place), None) => dim.size as f64 / cuts[place].count as f64,
        _ => dim.size as f64,
    });
    tensor.moved_element() as f64 * sizes.product::<f64>()
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> =
            self.loops.iter().map(|l| format!("{} {}", l.size, l.name)).collect();
        write!(f, "tiles of {}", sizes.join(" x "))?;
        for PoolAccount { name, used, bytes } in &self.pools {
            write!(f, ", {used} of {bytes} bytes of '{name}'")?;
        }
        f.write_str("; ")?;
        let cut = self.loops.iter().filter(|l| l.pieces > 1);
        let loops = cut.map(|l| {
            let sum = if l.reduce { ", which adds up" } else { "" };
            format!("{} in {}{sum}", l.name, l.pieces)
        });
        let loops: Vec<String> = loops.collect();
        match loops.is_empty() {
            true => write!(f, "one tile")?,
            false => write!(f, "loops from outside: {}", loops.join("; "))?,
        }
        let moves = self.moves.iter().map(|m| {
            let own = m.dtype.as_ref().map_or(String::new(), |own| format!(" from tiles of {own}"));
            let one = m.waits.map_or(String::new(), |cost| {
                format!(" without room for a second tile (waits cost {cost:.0})")
            });
            format!("{} {} in {}{own}{one}", m.tensor, m.bytes, m.times)
        });
        let bytes: f64 = self.moves.iter().map(|m| m.bytes).sum();
        let moves: Vec<String> = moves.collect();
        // Tiles in no pool are not moved.
        if !moves.is_empty() {
            write!(f, "\n{bytes} bytes moved: {} transfers", moves.join(", "))?;
        }
        f.write_str("\n")?;
        let (compute, transfers, total) = (self.compute, self.transfers, self.total);
        write!(
            f,
            "cost {total:.0}: computation {compute:.0}, transfers {transfers:.0}; bound by {}",
            self.bound
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::plan::Plan;

    /// Results of 8 x 3 int8 in tiles of 2 rows, which are int32 in rows of 16 bytes.
    fn account(overlap: bool) -> Account {
        let text = r#"{
            "pools": [{"name": "sums", "bytes": 1024, "alignment": 16, "row": 16, "dma": {
                "channels": 1, "dims": 2, "double_buffer": false, "overlap_stores": OVERLAP,
                "cost": "10 + bytes"}}],
            "loops": [{"name": "m", "extent": 8, "multiple": 1, "max": 0, "reduce": false,
                "windows": []}],
            "tensors": [{"name": "y", "element": 4, "outside": 1, "dtype": "i32", "dims": [
                {"size": 8, "cut": 0, "divisor": 1, "window": -1},
                {"size": 3, "cut": -1, "divisor": 1, "window": -1}]}],
            "args": [], "cost": "100"}"#;
        let plan: Plan =
            serde_json::from_str(&text.replace("OVERLAP", &overlap.to_string())).unwrap();
        plan.check().unwrap();
        let chooser = Chooser::new(&plan, 0, &[2]).unwrap();
        chooser.account(&chooser.choose().unwrap()).unwrap()
    }

    #[test]
    fn tiles_of_another_type_take_filled_rows_and_move_the_tensors_bytes() {
        let account = account(false);
        assert_eq!(account.pools[0].used, 2 * 16);
        assert_eq!(account.moves[0].bytes, 24.0);
        assert_eq!(account.total, 4.0 * (100.0 + 10.0 + 6.0));
        assert!(account.to_string().contains("y 24 in 4 from tiles of i32"), "{account}");
    }

    #[test]
    fn tiles_without_room_for_a_second_one_are_waited_for() {
        // x of 16 bytes is loaded in pieces of 4, w in pieces of 8: beside the tiles there is room for one more of w.
        let text = r#"{
            "pools": [{"name": "p", "bytes": BYTES, "alignment": 4, "dma": {
                "channels": 3, "dims": 2, "double_buffer": true, "cost": "bytes"}}],
            "loops": [{"name": "m", "extent": 4, "multiple": 1, "max": 0, "reduce": false,
                "windows": []}],
            "tensors": [
                {"name": "x", "element": 4, "dims": [{"size": 4, "cut": 0, "divisor": 1, "window": -1}]},
                {"name": "w", "element": 8, "dims": [{"size": 4, "cut": 0, "divisor": 1, "window": -1}]},
                {"name": "y", "element": 4, "dims": [{"size": 4, "cut": 0, "divisor": 1, "window": -1}]}],
            "args": [], "cost": "100"}"#;
        let account = |bytes: i64| {
            let plan: Plan =
                serde_json::from_str(&text.replace("BYTES", &bytes.to_string())).unwrap();
            plan.check().unwrap();
            let chooser = Chooser::new(&plan, 2, &[1]).unwrap();
            chooser.account(&chooser.choose().unwrap()).unwrap()
        };
        let waits = |account: &Account| {
            account.moves.iter().map(|m| m.waits.unwrap_or(0.0)).collect::<Vec<_>>()
        };
        let all = account(28);
        assert_eq!((all.pools[0].used, waits(&all)), (28, vec![0.0; 3]));
        let one = account(27);
        assert_eq!((one.pools[0].used, waits(&one)), (24, vec![12.0, 0.0, 0.0]));
        assert_eq!(one.total, all.total + 12.0);
        // Too little for that of w is enough for that of x.
        let small = account(23);
        assert_eq!((small.pools[0].used, waits(&small)), (20, vec![0.0, 24.0, 0.0]));
        let none = account(19);
        assert_eq!((none.pools[0].used, waits(&none)), (16, vec![12.0, 24.0, 0.0]));
        assert!(none.to_string().contains("w 32 in 4 without room for a second tile"), "{none}");
    }

    #[test]
    fn stores_that_overlap_take_two_tiles_and_hide_behind_computation() {
        let account = account(true);
        assert_eq!(account.pools[0].used, 2 * 2 * 16);
        // Only the store of the first tile does not.
        assert_eq!(account.total, 4.0 * 100.0 + 10.0 + 6.0);
    }
}
