//! Constants of networks.

use super::{Builder, Val, attribute, blob, graph};
use crate::Result;
pub use phaseline_toolkit::ir::constant::*;

/// A `graph.constant` with a list of indices, sizes or axes.
pub fn index_list<'c>(b: &Builder<'c>, values: &[i64]) -> Result<Val<'c>> {
    let ty = b.tensor(&[values.len() as i64], b.int(64));
    let value = attribute::dense(ty, blob::bytes_of(values))?;
    Ok(graph::Constant::build(b, value)?.y())
}
