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

/// Where a block of constants is.
#[derive(Clone, Copy)]
pub enum Block<'n> {
    /// In the host's memory, the block of all constants.
    Host,
    /// In a pool of the board, a part of the host's memory.
    Pool(&'n str),
    /// In a memory space of a device.
    Device(&'n str),
}

/// The constants that a function has at hand.
pub struct Values<'c> {
    function: Op<'c>,
    /// The block of all constants, an argument.
    pub block: Val<'c>,
    made: IndexMap<Key, Val<'c>>,
}

impl<'c> Values<'c> {
    /// Gives the function a block of so many bytes.
    pub fn of(
        context: &'c Context,
        function: Op<'c>,
        (block, size): (Block<'_>, u64),
    ) -> Failure<'c, Self> {
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
        let (space, name, role) = match block {
            Block::Host => (None, None, "constants"),
            Block::Pool(name) => (None, Some(name), names::POOL_CONSTANTS),
            Block::Device(space) => (Some(space), Some(space), names::DEVICE_CONSTANTS),
        };
        let ty = memref::with_space(context, memref::bytes(context, size)?, space)?;
        let mut attributes = vec![(IO.to_owned(), text(role))];
        attributes.extend(name.map(|name| (names::MEMORY.to_owned(), text(name))));
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
