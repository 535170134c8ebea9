//! Lowerings by family, and the table of them.

pub mod data;
pub mod elementwise;
pub mod grid_sample;
pub mod index;
pub mod matmul;
pub mod nn;
pub mod norm;
pub mod pool;
pub mod qlinear;
pub mod quant;
pub mod reduce;
pub mod resize;
pub mod resize_taps;
pub mod scatter;
pub mod shape;
pub mod top_k;

use super::LowerFn;

/// Mnemonics (without `graph.`) and lowerings of a family.
pub type Table = &'static [(&'static str, LowerFn)];

/// All families.
pub static TABLES: &[Table] = &[
    data::TABLE,
    elementwise::TABLE,
    grid_sample::TABLE,
    index::TABLE,
    matmul::TABLE,
    nn::TABLE,
    norm::TABLE,
    qlinear::TABLE,
    quant::TABLE,
    reduce::TABLE,
    resize::TABLE,
    scatter::TABLE,
    shape::TABLE,
    top_k::TABLE,
    &[("constant", super::convert::lower_constant)],
];
