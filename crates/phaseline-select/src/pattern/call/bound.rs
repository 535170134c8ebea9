//! A call as bound to one match, with all that is computed at compile time.

use super::{CType, Permutation};
use crate::{graph::ValueId, tensor::DType, tile::plan::Plan};

/// The layout that the operands and results `as given` of a call have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLayout {
    /// Permuted or blocked, of the shape of its parts.
    pub layout: BoundLayout,
    /// Blocked tensors whose neighbours have them in another shape, several parts in one dimension.
    pub shapes: Vec<(ValueId, Vec<i64>)>,
    /// True if the call may read anything in places of blocks that no element has.
    pub padding: bool,
}

impl GivenLayout {
    /// The layout of one value.
    pub fn of(&self, value: ValueId) -> BoundLayout {
        let own = self.shapes.iter().find(|(other, _)| *other == value);
        match (&self.layout, own) {
            (BoundLayout::Blocked { parts, .. }, Some((_, shape))) => {
                BoundLayout::Blocked { parts: parts.clone(), shape: Some(shape.clone()) }
            }
            (layout, _) => layout.clone(),
        }
    }
}

/// A layout with all that is computed at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundLayout {
    /// The dimensions in another order.
    Permuted(Permutation),
    /// All elements in one dimension.
    Flat,
    /// In blocks. For each dimension that the call sees, `parts` has its dimension in the graph,
    /// the size of its blocks (1 for none), and true for the place in a block.
    Blocked {
        /// The dimensions.
        parts: Vec<(usize, i64, bool)>,
        /// The shape that it is given; none for that of the parts.
        shape: Option<Vec<i64>>,
    },
    /// Another one, whose whole buffer has one dimension for the call.
    Given {
        /// Permuted or blocked.
        layout: Box<BoundLayout>,
        /// True if the call may read anything in places of blocks that no element has.
        padding: bool,
    },
}

impl BoundLayout {
    /// The extents of the buffer of a tensor in this layout, with blocks that are not full.
    pub fn extents(&self, shape: &[i64]) -> Vec<i64> {
        let size = |dim: &usize| shape.get(*dim).copied().unwrap_or(1);
        match self {
            Self::Flat => vec![shape.iter().product()],
            Self::Permuted(order) => order.permutation.iter().map(size).collect(),
            Self::Blocked { parts, .. } => parts
                .iter()
                .map(|(dim, block, inner)| match inner {
                    true => *block,
                    false => (size(dim) + block - 1) / block.max(&1),
                })
                .collect(),
            Self::Given { layout, .. } => layout.extents(shape),
        }
    }

    /// True if each place of the buffer has an element.
    pub fn is_full(&self, shape: &[i64]) -> bool {
        self.extents(shape).iter().product::<i64>() == shape.iter().product::<i64>()
    }

    /// The number of dimensions of a tensor in it; none if any has it.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Permuted(order) => Some(order.permutation.len()),
            Self::Blocked { parts, .. } => parts.iter().map(|part| part.0 + 1).max(),
            Self::Given { layout, .. } => layout.rank(),
            Self::Flat => None,
        }
    }

    /// The places of a tensor's elements: the same for layouts by other names, and none for the order of the model.
    /// In `shape` blocks have the dimensions that their buffer has, in place of those of the parts.
    pub fn places(&self, shape: &[i64]) -> Option<Self> {
        match self {
            Self::Flat => None,
            Self::Permuted(order) if order.is_identity() => None,
            Self::Permuted(order) => {
                Some(Self::Permuted(Permutation::of(order.permutation.clone())))
            }
            Self::Blocked { parts, shape: own } => {
                let own = own.clone().unwrap_or_else(|| self.extents(shape));
                Some(Self::Blocked { parts: parts.clone(), shape: Some(own) })
            }
            Self::Given { layout, .. } => layout.places(shape),
        }
    }

    /// The same for tensors of any shape.
    pub fn order(&self) -> Option<Self> {
        match self {
            Self::Blocked { parts, .. } => {
                Some(Self::Blocked { parts: parts.clone(), shape: None })
            }
            other => other.places(&[]),
        }
    }
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
    /// True if it returns a status.
    pub status: bool,
    /// True if the first argument is the device.
    pub device: bool,
    /// The arguments after the device.
    pub args: Vec<BoundArg>,
    /// Bytes of working memory.
    pub scratch: i64,
    /// The declaration in C, as far as the arguments tell; none if it takes structs.
    pub prototype: Option<String>,
    /// Tiling of the work into pieces that fit the device's memory.
    pub tile: Option<Plan>,
    /// Arrays that are given to the functions that store tiles, behind all other inputs.
    pub arrays: Vec<BoundArg>,
}
