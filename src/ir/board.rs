//! The pools of memory that the user's board has, as the module declares them.
//!
//! All of them are in the host's address space, so a buffer there is an address like any other, and
//! its type does not name the pool. Until memory is planned, an attribute of the operation that
//! makes the buffer does.

use super::{Op, edit, names};
use crate::{Error, Result};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};

/// A kind of content of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Values that the network computes, and scratch memory.
    Activations,
    /// Weights and other constants.
    Constants,
    /// Arguments of the network.
    Inputs,
    /// Results of the network.
    Outputs,
}

impl Content {
    /// All of them.
    pub const ALL: [Content; 4] =
        [Content::Activations, Content::Constants, Content::Inputs, Content::Outputs];

    /// The name in files and IR.
    pub fn name(self) -> &'static str {
        match self {
            Content::Activations => "activations",
            Content::Constants => "constants",
            Content::Inputs => "inputs",
            Content::Outputs => "outputs",
        }
    }

    /// The content of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|content| content.name() == name)
    }
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Name of the pool, a C identifier.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment of the pool's start and of its buffers.
    pub alignment: u64,
    /// Ids of the targets that reach it, `host` for the host; empty for all.
    pub users: Vec<String>,
    /// Kinds of content that it may hold.
    pub holds: Vec<Content>,
}

impl Pool {
    /// True if it may hold such content.
    pub fn may_hold(&self, content: Content) -> bool {
        self.holds.contains(&content)
    }

    /// True if a target reaches it.
    pub fn is_reached_by(&self, target: &str) -> bool {
        self.users.is_empty() || self.users.iter().any(|user| user == target)
    }

    fn to_attribute<'c>(&self, context: &'c melior::Context) -> Attribute<'c> {
        let text = |value: &str| -> Attribute<'c> { StringAttribute::new(context, value).into() };
        let number = |value: u64| -> Attribute<'c> {
            IntegerAttribute::new(IntegerType::new(context, 64).into(), value as i64).into()
        };
        let users: Vec<_> = self.users.iter().map(|user| text(user)).collect();
        let holds: Vec<_> = self.holds.iter().map(|content| text(content.name())).collect();
        let entries = [
            ("name".to_owned(), text(&self.name)),
            ("bytes".to_owned(), number(self.bytes)),
            ("alignment".to_owned(), number(self.alignment)),
            ("users".to_owned(), ArrayAttribute::new(context, &users).into()),
            ("holds".to_owned(), ArrayAttribute::new(context, &holds).into()),
        ];
        edit::dictionary_attr(context, &entries)
    }

    fn of_attribute(entry: Attribute<'_>) -> Option<Self> {
        let entries = edit::dictionary(entry);
        let of = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let number = |key: &str| u64::try_from(super::attribute::int(of(key)?)?).ok();
        let texts = |key: &str| -> Option<Vec<String>> {
            edit::array(of(key)?).into_iter().map(edit::string).collect()
        };
        let holds = texts("holds")?;
        Some(Self {
            name: edit::string(of("name")?).filter(|name| !name.is_empty())?,
            bytes: number("bytes")?,
            alignment: number("alignment").filter(|bytes| bytes.is_power_of_two())?,
            users: texts("users")?,
            holds: holds.iter().map(|name| Content::from_name(name)).collect::<Option<_>>()?,
        })
    }
}

/// Declares the pools on a module, the fastest first.
pub fn declare(module: Op<'_>, pools: &[Pool]) {
    let context = super::context_of(module);
    let entries: Vec<_> = pools.iter().map(|pool| pool.to_attribute(context)).collect();
    edit::set_attr(module, names::BOARD, ArrayAttribute::new(context, &entries).into());
}

/// The pools that a module declares, in order; none without a board.
pub fn declared(module: Op<'_>) -> Result<Vec<Pool>> {
    let Ok(list) = module.attribute(names::BOARD) else { return Ok(vec![]) };
    let pool = |entry: Attribute<'_>| {
        Pool::of_attribute(entry).ok_or_else(|| {
            Error::invalid(format!(
                "{} has the entry {entry}, which is no dictionary of name, bytes, alignment (a power \
                 of two), users and holds",
                names::BOARD
            ))
        })
    };
    edit::array(list).into_iter().map(pool).collect()
}

/// The pool of an operation's buffer, scratch memory or constant.
pub fn of(op: Op<'_>) -> Option<String> {
    super::attr_str(op, names::POOL)
}

/// The input or output of the network that a buffer is, in place of what a caller would give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// [`Content::Inputs`] or [`Content::Outputs`].
    pub content: Content,
    /// Index of the argument of the main function.
    pub argument: usize,
}

impl Port {
    /// The attribute for the operation that makes the buffer.
    pub fn to_attribute<'c>(self, context: &'c melior::Context) -> Attribute<'c> {
        let argument =
            IntegerAttribute::new(IntegerType::new(context, 64).into(), self.argument as i64);
        let entries = [
            ("argument".to_owned(), argument.into()),
            ("is".to_owned(), StringAttribute::new(context, self.content.name()).into()),
        ];
        edit::dictionary_attr(context, &entries)
    }

    /// The port that an operation's attribute names; none if its buffer is no input or output.
    pub fn of(op: Op<'_>) -> Option<Self> {
        let entries = edit::dictionary(op.attribute(names::PORT).ok()?);
        let of = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let argument = usize::try_from(super::attribute::int(of("argument")?)?).ok()?;
        Some(Self { content: Content::from_name(&edit::string(of("is")?)?)?, argument })
    }

    /// The times of use of its buffer in a function with so many points: an input is there from the
    /// start, and an output until the end.
    pub fn span(self, (start, end): (usize, usize), last: usize) -> (usize, usize) {
        match self.content {
            Content::Inputs => (0, end),
            _ => (start, last),
        }
    }
}

/// Offset of each pool's constants in the block of all constants, and the size of that block. The
/// sizes are those of the pools, in order.
pub fn constants_offsets(pools: &[Pool], sizes: &[u64]) -> (Vec<u64>, u64) {
    let (mut offsets, mut end) = (vec![], 0_u64);
    for (pool, size) in pools.iter().zip(sizes) {
        let align = pool.alignment.max(super::size::ALIGNMENT as u64);
        let start = end.next_multiple_of(align);
        offsets.push(start);
        if *size > 0 {
            end = start + size;
        }
    }
    (offsets, end)
}
