//! Patch-based inference: the first stages of a convolutional network are computed for a part of
//! the image at a time. The large values between them are never whole in memory.
//!
//! The part of each value that a patch needs is followed backwards from its part of the last
//! stage's result. Windows need more than they give, so that neighbouring patches both compute some
//! elements (the halo).
//!
//! At the border of the image a patch has the operation's own padding, elsewhere none. So each
//! element is computed from the same numbers as without patches.

mod access;
mod choose;
mod emit;
mod estimate;
mod network;
mod region;

pub use choose::{Choice, Goal};

use crate::{Result, ir::Op};
use network::Network;

/// Rounds of looking for the fullest place and cutting the region around it.
const ROUNDS: usize = 4;

/// Cuts the regions of a function that takes less memory in patches, and says which.
pub fn split(function: Op<'_>, goal: Goal) -> Result<Vec<Choice>> {
    let mut made = vec![];
    for _ in 0..ROUNDS {
        let Some(network) = Network::of(function) else { break };
        let Some(choice) = choose::choose(&network, goal) else { break };
        emit::emit(&network, &choice)?;
        made.push(choice);
    }
    Ok(made)
}
