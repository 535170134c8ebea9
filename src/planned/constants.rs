//! The constants that a function reads from a block that it is given.

use crate::{
    ir::{
        self, Builder, Op, Val, edit, func, memref,
        names::{self, IO},
    },
    pass::PassError,
};
use indexmap::IndexMap;
use melior::{
    Context,
    ir::{Attribute, Type, attribute::StringAttribute, operation::OperationLike},
};

type Failure<'c, T = ()> = Result<T, PassError<'c>>;

/// A constant as a function sees it: its place in the table, and its type, by its text.
type Key = (usize, String);

/// The constants that a function has at hand.
pub struct Values<'c> {
    function: Op<'c>,
    /// The block of all constants, an argument.
    pub block: Val<'c>,
    made: IndexMap<Key, Val<'c>>,
}

impl<'c> Values<'c> {
    /// Gives the function the block of so many bytes in a memory space, the host's if it has no name.
    pub fn of(
        context: &'c Context,
        function: Op<'c>,
        (space, size): (&str, u64),
    ) -> Failure<'c, Self> {
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
        let (space, role) = match space {
            "" => (None, "constants"),
            space => (Some(space), names::DEVICE_CONSTANTS),
        };
        let ty = memref::with_space(context, memref::bytes(context, size)?, space)?;
        let mut attributes = vec![(IO.to_owned(), text(role))];
        attributes.extend(space.map(|space| (names::MEMORY.to_owned(), text(space))));
        let block = func::add_argument(context, function, ty, attributes)?;
        Ok(Self { function, block, made: IndexMap::new() })
    }

    /// What `read` reads, at a place of the table and an offset in the block, as a buffer of type
    /// `ty`.
    pub fn get(
        &mut self,
        read: Op<'c>,
        (place, offset): (usize, u64),
        ty: Type<'c>,
    ) -> Failure<'c, Val<'c>> {
        let key = (place, ty.to_string());
        if let Some(value) = self.made.get(&key) {
            return Ok(*value);
        }
        let body = edit::entry_block(self.function);
        let first = body.and_then(|body| ir::ops(body).first().copied());
        let first = first.ok_or_else(|| PassError::new("an empty function"))?;
        let builder = Builder::before(first)?.with_location(read.location());
        let offset = builder.index(offset as i64)?;
        let value = builder.op1("memref.view", &[self.block, offset], ty)?;
        self.made.insert(key, value);
        Ok(value)
    }
}
