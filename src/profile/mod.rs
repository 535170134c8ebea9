//! Measured costs for the choice between targets: `phaseline profile`.
//!
//! Each match of each target, and each operation of the host, becomes a network of its own that is
//! compiled and run. Work that is the same ([`crate::partition::key`]) is measured once. What is
//! measured is wall time on this machine: of a simulated device it is the simulator's.

mod cut;
mod file;
mod measure;
mod work;

pub use file::{Entry, Profile, ProfiledMachine, ProfiledTarget, Skipped, Transfer};
pub use measure::ProfileOptions;
