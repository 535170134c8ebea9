#![doc = include_str!("../README.md")]

// Modules by layer, lowest first.
pub mod graph;

pub mod tile;

pub mod pattern;

pub mod partition;

use phaseline_base::{Error, Result, error, expr, identifier, io, op_info, plan, tensor};
