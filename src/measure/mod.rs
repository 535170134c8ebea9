//! Parts of a network by themselves: measured for the choice between targets (`phaseline profile`),
//! and compared with the host (`phaseline debug`).
//!
//! Each match of each target, and each operation of the host, becomes a network of its own that is
//! compiled and run. Work that is the same ([`crate::partition::key`]) is measured once; on demand
//! with several tiles, for calls that are computed tile by tile. What is
//! measured is wall time on this machine: of a simulated device it is the simulator's.

mod clock;
mod debug;
mod extract;
mod peak;
mod run;
mod tiles;
mod workload;

pub use crate::partition::{Entry, Profile, ProfiledMachine, ProfiledTarget, Skipped, Transfer};
pub use clock::ProfileOptions;
pub use debug::{Checked, Findings, Tolerance};
