//! Estimate of a network's memory: live ranges of its stored values.
//!
//! Not every value is stored. What only an elementwise operation reads is computed together with it, and
//! numbers are dequantized where they are read.

use super::network::Network;
use crate::{ir, ir::graph};

/// The stored values of a network and when they are in use.
pub struct Lives {
    /// True for a value with memory of its own.
    pub stored: Vec<bool>,
    /// For each operation the stored values, arguments too, that it reads directly or through what is not stored.
    pub reads: Vec<Vec<usize>>,
    /// The last operation that reads a value.
    pub last: Vec<usize>,
    /// The operation at which a value begins to be in use.
    pub first: Vec<usize>,
}

impl Lives {
    /// Looks at all of a network.
    pub fn of(network: &Network<'_>) -> Self {
        let count = network.values.len();
        let mut lives = Self {
            stored: (0..count).map(|value| is_stored(network, value)).collect(),
            reads: vec![],
            last: vec![0; count],
            first: vec![0; count],
        };
        for (at, step) in network.steps.iter().enumerate() {
            let mut reads = vec![];
            for (value, _) in &step.operands {
                match network.values[*value].maker.filter(|_| !lives.stored[*value]) {
                    Some(maker) => reads.extend(lives.reads[maker].iter().copied()),
                    None if !network.values[*value].constant => reads.push(*value),
                    None => {}
                }
            }
            reads.sort_unstable();
            reads.dedup();
            for result in &step.results {
                (lives.first[*result], lives.last[*result]) = (at, at);
            }
            for value in &reads {
                lives.last[*value] = at;
            }
            lives.reads.push(reads);
        }
        lives.join(network);
        lives
    }

    /// Live ranges of in-place concats: the result is in use from its first part on, and the parts
    /// are written into it one by one.
    fn join(&mut self, network: &Network<'_>) {
        for step in &network.steps {
            if ir::op_name(step.op) != graph::Concat::NAME {
                continue;
            }
            let parts: Vec<usize> = step.operands.iter().map(|(value, _)| *value).collect();
            let made = |value: &usize| network.values[*value].maker.is_some();
            if !parts.iter().all(made) {
                continue;
            }
            for result in &step.results {
                let first = parts.iter().map(|part| self.first[*part]).min();
                self.first[*result] = first.unwrap_or(self.first[*result]);
            }
            for part in parts.iter().filter(|part| network.values[**part].users.len() == 1) {
                self.last[*part] = self.first[*part];
            }
        }
    }

    /// True if an operation may write its result over an operand that is dead after it.
    pub fn is_in_place(
        &self,
        network: &Network<'_>,
        at: usize,
        bytes: &dyn Fn(usize) -> u64,
    ) -> bool {
        let step = &network.steps[at];
        let [result] = step.results[..] else { return false };
        let direct = |value: usize| step.operands.iter().any(|(operand, _)| *operand == value);
        step.pointwise
            && self.reads[at].iter().any(|value| {
                direct(*value) && self.last[*value] == at && bytes(*value) == bytes(result)
            })
    }
}

fn is_stored(network: &Network<'_>, value: usize) -> bool {
    let it = &network.values[value];
    let Some(maker) = it.maker else { return true };
    if it.returned {
        return true;
    }
    let maker = &network.steps[maker];
    if ir::op_name(maker.op) == graph::DequantizeLinear::NAME || is_view(maker.op) {
        return false;
    }
    let [user] = it.users[..] else { return true };
    let user = &network.steps[user];
    let same = |result: &usize| network.values[*result].dims == it.dims;
    let moves = [graph::Concat::NAME, graph::Slice::NAME].contains(&ir::op_name(maker.op));
    // Integers are what stays between two layers.
    let opens = ir::op_name(user.op) == graph::DequantizeLinear::NAME;
    moves || opens || !(user.pointwise && user.results.iter().all(same))
}

fn is_view(op: ir::Op<'_>) -> bool {
    ir::view::info(op).is_some_and(|info| info.view)
}

/// The bytes in use at each operation.
pub fn in_use(network: &Network<'_>, lives: &Lives) -> Vec<u64> {
    let bytes = |value: usize| network.values[value].bytes;
    let mut used = vec![0_u64; network.steps.len()];
    for value in 0..network.values.len() {
        if lives.stored[value] && network.values[value].maker.is_some() {
            for at in &mut used[lives.first[value]..=lives.last[value]] {
                *at += bytes(value);
            }
        }
    }
    for (at, step) in network.steps.iter().enumerate() {
        if step.results.iter().any(|r| lives.stored[*r]) && lives.is_in_place(network, at, &bytes) {
            used[at] -= step.results.iter().map(|result| bytes(*result)).sum::<u64>();
        }
    }
    used
}
