//! Identity of values, operations and blocks: keys of maps and sets.

use super::{Blk, Op, Val};
use melior::ir::{Attribute, AttributeLike, ValueLike, block::BlockLike, operation::OperationLike};

/// The identity of a value, an operation, a block or an attribute: the same for all handles of one thing, as long as it is there.
/// There is no order of them, since it would not be the same in the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(usize);

/// Something with an identity.
#[doc(hidden)]
pub trait Identity {
    /// The identity.
    fn id(&self) -> Id;
}

impl Identity for Val<'_> {
    fn id(&self) -> Id {
        Id(self.to_raw().ptr as usize)
    }
}

impl Identity for Op<'_> {
    fn id(&self) -> Id {
        Id(self.to_raw().ptr as usize)
    }
}

impl Identity for Attribute<'_> {
    fn id(&self) -> Id {
        Id(self.to_raw().ptr as usize)
    }
}

impl Identity for Blk<'_> {
    fn id(&self) -> Id {
        Id(self.to_raw().ptr as usize)
    }
}

impl<T: Identity> Identity for &T {
    fn id(&self) -> Id {
        (*self).id()
    }
}

/// The identity of a value, an operation or a block.
pub fn id(of: impl Identity) -> Id {
    of.id()
}
