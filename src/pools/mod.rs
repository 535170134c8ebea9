//! The memory that functions ask for, and the pools of a board that it is put into.
//!
//! A board is a file of the user ([`file`]). The module [`assign`] chooses a pool for each buffer
//! and constant. Requests for memory are found by [`demand`], for that choice and for the plan
//! alike.

pub mod assign;
pub mod demand;
pub mod file;
mod fill;
mod heat;
pub mod left;
mod overlap;
mod ports;
mod timetable;

pub use demand::{FunctionMemory, Program, Request, Scope};
