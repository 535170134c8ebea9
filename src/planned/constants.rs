//! The constants that a function reads from a block that it is given.

use crate::{
    ir::{
        self, Builder, Op, Val,
        board::Pool,
        call_extern::{CallExtern, Group},
        calls, edit, func,
        memory::{self, Memory, of_argument},
        memref,
        names::{self, IO},
        size::{ALIGNMENT, bytes},
    },
    pass::{PassError, PassResult},
    planned::capacity::bytes_of,
};
use indexmap::IndexMap;
use melior::{
    Context,
    ir::{
        Attribute, Type, ValueLike,
        attribute::{IntegerAttribute, StringAttribute},
        operation::OperationLike,
        r#type::IntegerType,
    },
};
use std::collections::BTreeMap;

/// A constant as a function sees it: its place in the table, and its type, by its text.
type Key = (usize, String);

/// Memory of a block of constants.
#[derive(Clone, Copy)]
pub enum Block<'n> {
    /// In the host's memory, the block of all constants.
    Host,
    /// In a pool of the board, a part of the host's memory.
    Pool(&'n str),
    /// In a memory space of a device.
    Device(&'n str),
}

/// Initial content of a device's memory, loaded when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Its memory space.
    pub space: String,
    /// The block of constants that it comes from: a pool of the board, or empty for all of the host's.
    pub source: String,
    /// First byte in that block.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
}

impl Load {
    /// Makes the main function load it before all else, from the block of its source, which starts
    /// at `start` among all constants.
    pub fn write<'c>(
        &self,
        (module, main): (Op<'c>, Op<'c>),
        (block, start): (Val<'c>, u64),
        target: &str,
    ) -> PassResult<'c> {
        let context = ir::context_of(module);
        let mut signature = func::Signature::of(main)?;
        let mut arguments = signature.arguments.iter_mut().map(|(_, attributes)| attributes);
        if let Some(attributes) = arguments.find(|list| of_argument(list) == self.space) {
            let word = IntegerType::new(context, 64).into();
            let start = IntegerAttribute::new(word, (start + self.offset) as i64);
            func::set_in(attributes, names::OFFSET, start.into());
        }
        signature.set(context, main);
        let first = edit::entry_block(main).and_then(|body| ir::ops(body).first().copied());
        let first = first.ok_or_else(|| PassError::new("an empty function"))?;
        let builder = Builder::before(first)?.with_location(main.location());
        let offset = builder.index(self.offset as i64)?;
        let ty = memref::bytes(context, self.bytes)?;
        let image = builder.op1("memref.view", &[block, offset], ty)?;
        let model = names::model_name(module);
        let mut call = CallExtern::new(&names::load_symbol(&model, &self.space));
        call.push(context, Group::Ins, image);
        for flag in ["with_device", "returns_status", names::SESSION] {
            call.set(flag, Attribute::unit(context));
        }
        call.set(names::DEVICE, builder.str_attr(target));
        call.build(&builder, &[])?;
        Ok(())
    }
}

/// Checks that what devices' memories are loaded with is as large as what they have.
pub fn check_loads<'c>(module: Op<'c>) -> PassResult<'c> {
    let Some(main) = func::main(module).filter(|main| edit::entry_block(*main).is_some()) else {
        return Ok(());
    };
    let model = names::model_name(module);
    let memories = memory::declared(module)?;
    for op in edit::walk(main).into_iter().filter(|op| op.has_attribute(names::SESSION)) {
        let callee = calls::callee(op);
        let loads =
            |memory: &&Memory| callee.as_ref() == Some(&names::load_symbol(&model, &memory.space));
        let (Some(memory), Some(call)) = (memories.iter().find(loads), CallExtern::of(op)) else {
            continue;
        };
        let wanted = bytes_of(main, names::DEVICE_CONSTANTS, &memory.space)?;
        let given = call.groups[Group::Ins as usize].first();
        let given = given.and_then(|image| bytes(image.r#type())).unwrap_or(0);
        if given != wanted {
            return Err(PassError::at(
                &op,
                format!(
                    "loads {given} bytes of constants into the memory of target '{}', which has {wanted} \
                     of them",
                    memory.target
                ),
            ));
        }
    }
    Ok(())
}

/// The bytes of constants in each pool of a board, and what devices' memories are loaded with: that lies behind
/// the own constants of the pool that `images` says. `sizes` are those of pools and devices' memories.
pub fn loads_from_pools(
    pools: &[Pool],
    sizes: &BTreeMap<String, u64>,
    images: &BTreeMap<String, String>,
) -> Result<(Vec<u64>, Vec<Load>), String> {
    let place_of = |name: &str| pools.iter().position(|pool| pool.name == name);
    let of_pool = |pool: &Pool| sizes.get(&pool.name).copied().unwrap_or(0);
    let mut found: Vec<u64> = pools.iter().map(of_pool).collect();
    let mut loads = vec![];
    for (space, bytes) in sizes.iter().filter(|(space, _)| place_of(space).is_none()) {
        let source = images.get(space);
        let taken = source.and_then(|source| found.get_mut(place_of(source)?));
        let (Some(source), Some(taken)) = (source, taken) else {
            return Err(
                "constants are in no pool, but the module has a board: run assign-pools".to_owned()
            );
        };
        let offset = taken.next_multiple_of(ALIGNMENT as u64);
        *taken = offset + bytes;
        loads.push(Load { space: space.clone(), source: source.clone(), offset, bytes: *bytes });
    }
    Ok((found, loads))
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
    ) -> PassResult<'c, Self> {
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

    /// The buffer of type `ty` that `read` reads, at a place of the table and an offset in the
    /// block.
    pub fn get(
        &mut self,
        read: Op<'c>,
        (place, offset): (usize, u64),
        ty: Type<'c>,
    ) -> PassResult<'c, Val<'c>> {
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
