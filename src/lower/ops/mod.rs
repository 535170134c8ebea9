//! Lowerings by family, and the table of them.

pub mod pool;
mod resize_exact;
pub mod resize_taps;
pub mod window;

use super::{LowerFn, Lowering};
use crate::{
    Error, Result,
    ir::{Val, graph::Adaptor, view::OpView},
};

/// The table of a family: the views of ops, and what lowers each of them, which gets the lowering
/// and the op's adaptor.
macro_rules! lowerings {
    ($($op:ident => $lower:expr),* $(,)?) => {
        /// This family.
        pub const TABLE: super::Table = &[$((
            crate::ir::graph::$op::NAME,
            |l, values| super::typed::<crate::ir::graph::$op<'_>>(l, values, $lower),
        )),*];
    };
}
use lowerings;

/// Calls the lowering of one kind of op.
fn typed<'c, V: OpView<'c>>(
    l: &Lowering<'c>,
    values: &[Val<'c>],
    lower: impl FnOnce(&Lowering<'c>, Adaptor<'_, 'c, V>) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let op = Adaptor::of(l.op, values)
        .ok_or_else(|| Error::internal(format!("a {} that is not as ODS has it", V::INFO.name)))?;
    lower(l, op)
}

/// Names and lowerings of a family.
pub type Table = &'static [(&'static str, LowerFn)];

/// Declares the modules, and the table of their tables.
macro_rules! families {
    ($($family:ident),* $(,)?) => {
        $(pub mod $family;)*
        /// All families.
        pub static TABLES: &[Table] = &[$($family::TABLE),*];
    };
}

families![
    col2im,
    constant,
    data,
    elementwise,
    grid_sample,
    index,
    matmul,
    nn,
    norm,
    pad,
    qlinear,
    quant,
    reduce,
    resize,
    roi_align,
    scatter,
    shape,
    top_k
];
