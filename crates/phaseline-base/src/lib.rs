#![doc = include_str!("../README.md")]

// Modules by layer, lowest first.
pub mod error;
pub mod identifier;
pub mod op_info;
pub mod parallel;
pub mod plan;

pub mod process;
pub mod size;
pub mod tensor;

pub mod expr;
pub mod io;

pub use error::{Error, Result};
