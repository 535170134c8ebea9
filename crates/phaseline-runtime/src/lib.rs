#![doc = include_str!("../README.md")]

// Modules by layer, lowest first.
pub mod artifact;

pub mod package;

pub mod run;

pub use phaseline_base::{
    Error, Result, error, io,
    tensor::{self, DType, Tensor},
};
pub use run::{DeviceBuffer, Event, Executable, Input, Output, load};

use phaseline_base::{identifier, parallel};
