//! The memories of devices that values of the network are in, as the module declares them.

use super::{Op, edit, memref, names};
use crate::{Error, Result};
use melior::ir::{
    Attribute, ValueLike,
    attribute::{ArrayAttribute, IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};

/// A memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Id of the target.
    pub target: String,
    /// Name of its memory space.
    pub space: String,
    /// Bytes; none if only the device knows.
    pub bytes: Option<u64>,
    /// Alignment of its buffers.
    pub alignment: u64,
}

impl Memory {
    /// Declares the memory on a module. Its space gets a name that is free there.
    pub fn declare(mut self, module: Op<'_>) -> Result<Self> {
        let mut all = declared(module)?;
        if let Some(known) = all.iter().find(|known| known.target == self.target) {
            return Err(Error::invalid(format!(
                "target '{}' has the memory '{}' already",
                known.target, known.space
            )));
        }
        while all.iter().any(|known| known.space == self.space) {
            self.space.push('_');
        }
        all.push(self.clone());
        let context = super::context_of(module);
        let text = |value: &str| -> Attribute<'_> { StringAttribute::new(context, value).into() };
        let number = |value: u64| -> Attribute<'_> {
            IntegerAttribute::new(IntegerType::new(context, 64).into(), value as i64).into()
        };
        let entries = all.iter().map(|memory| {
            let entries = [
                ("target".to_owned(), text(&memory.target)),
                ("space".to_owned(), text(&memory.space)),
                ("bytes".to_owned(), number(memory.bytes.unwrap_or(0))),
                ("alignment".to_owned(), number(memory.alignment)),
            ];
            edit::dictionary_attr(context, &entries)
        });
        let entries: Vec<_> = entries.collect();
        edit::set_attr(module, names::MEMORIES, ArrayAttribute::new(context, &entries).into());
        Ok(self)
    }
}

/// The memories that a module declares, in order.
pub fn declared(module: Op<'_>) -> Result<Vec<Memory>> {
    let Ok(list) = module.attribute(names::MEMORIES) else { return Ok(vec![]) };
    let memory = |entry: Attribute<'_>| {
        let entries = edit::dictionary(entry);
        let of = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let number = |key: &str| u64::try_from(super::attribute::int(of(key)?)?).ok();
        let alignment = number("alignment").filter(|bytes| bytes.is_power_of_two())?;
        let bytes = number("bytes")?;
        Some(Memory {
            target: edit::string(of("target")?)?,
            space: edit::string(of("space")?).filter(|space| !space.is_empty())?,
            bytes: (bytes > 0).then_some(bytes),
            alignment,
        })
    };
    let found = edit::array(list).into_iter().map(|entry| {
        memory(entry).ok_or_else(|| {
            Error::invalid(format!(
                "{} has the entry {entry}, which is no dictionary of target, space, bytes and \
                 alignment, a power of two",
                names::MEMORIES
            ))
        })
    });
    found.collect()
}

/// The memory that an argument of a function is in, by its attributes; empty for the host's.
pub fn of_argument(attributes: &super::func::Attributes<'_>) -> String {
    let found = attributes.iter().find(|(name, _)| name == names::MEMORY);
    found.and_then(|(_, value)| edit::string(*value)).unwrap_or_default()
}

/// Drops the memory spaces of values: from here on a buffer is an address.
pub(crate) fn erase_spaces(module: Op<'_>) -> Result<()> {
    let spaces: Vec<String> = declared(module)?.into_iter().map(|memory| memory.space).collect();
    if spaces.is_empty() {
        return Ok(());
    }
    let context = super::context_of(module);
    let ours = |ty| memref::space(ty).is_some_and(|space| spaces.contains(&space));
    for function in super::func::functions(module) {
        let mut signature = super::func::Signature::of(function)?;
        for (ty, _) in signature.arguments.iter_mut().filter(|(ty, _)| ours(*ty)) {
            *ty = memref::with_space(context, *ty, None)?;
        }
        signature.set(context, function);
        let block = edit::entry_block(function);
        let arguments = block.map(edit::arguments).unwrap_or_default();
        let results = edit::walk(function).into_iter().flat_map(super::results);
        for value in arguments.into_iter().chain(results).filter(|value| ours(value.r#type())) {
            edit::set_type(value, memref::with_space(context, value.r#type(), None)?);
        }
    }
    Ok(())
}
