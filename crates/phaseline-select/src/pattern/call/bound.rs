//! What a call is for one match, with all that is computed at compile time.

use super::{CType, Permutation};
use crate::{graph::ValueId, tensor::DType, tile::plan::Plan};

/// A layout with all that is computed at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundLayout {
    /// The dimensions in another order.
    Permuted(Permutation),
    /// All elements in one dimension.
    Flat,
    /// In blocks: for each dimension that the call sees, which one of the graph it is,
    /// the size of its blocks (1 for none), and whether it is the place in a block.
    Blocked {
        /// The dimensions.
        parts: Vec<(usize, i64, bool)>,
        /// The shape that it is given; none for that of the parts.
        shape: Option<Vec<i64>>,
    },
}

/// An argument with all that is computed at compile time.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundArg {
    /// An input of the match; none for a null pointer.
    In(Option<ValueId>, Option<BoundLayout>),
    /// An output of the match, by its place in [`crate::pattern::Match::outputs`].
    Out(usize, Option<BoundLayout>),
    /// The same, where an input of the match, of which the function makes it, is in the memory before.
    Over(usize, ValueId, Option<BoundLayout>),
    /// An integer or boolean of a C type; none for the type of a field.
    Int(Option<CType>, i64),
    /// A float of a C type; none for the type of a field.
    Float(Option<CType>, f64),
    /// An enumerator or macro.
    Name(String),
    /// An array.
    Const(DType, Vec<f64>),
    /// A struct.
    Struct(String, Vec<(String, BoundArg)>),
    /// The scratch memory.
    Scratch,
}

/// A call for one match.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundCall {
    /// The function.
    pub symbol: String,
    /// Whether it returns a status.
    pub status: bool,
    /// Whether the first argument is the device.
    pub device: bool,
    /// The arguments after the device.
    pub args: Vec<BoundArg>,
    /// Bytes of working memory.
    pub scratch: i64,
    /// The declaration in C, as far as the arguments tell; none if it takes structs.
    pub prototype: Option<String>,
    /// How the work is cut into pieces that fit the device's memory.
    pub tile: Option<Plan>,
    /// Arrays that are given to the functions that store tiles, behind all other inputs.
    pub arrays: Vec<BoundArg>,
}
