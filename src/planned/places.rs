//! The buffers that a function has at planned places.

use crate::{
    ir::{
        self, Op, Val, edit, func,
        memory::of_argument,
        memref,
        names::{self, IO},
        size::{self, ALIGNMENT},
        tir,
    },
    pass::PassError,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::fmt;

/// Memory that a place is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// The function's working memory, an argument of it; with the name of the memory space where
    /// that is a device's, or of the pool of the board.
    Arena(String),
    /// The block of all constants, an argument of the main function; or of those in the memory space
    /// of a device.
    Constants(String),
    /// A pool of a device.
    Pool(String),
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Arena(space) if space.is_empty() => f.write_str("the arena"),
            Memory::Arena(space) => write!(f, "the arena in memory '{space}'"),
            Memory::Constants(space) if space.is_empty() => f.write_str("the block of constants"),
            Memory::Constants(space) => write!(f, "the constants in memory '{space}'"),
            Memory::Pool(name) => write!(f, "pool '{name}'"),
        }
    }
}

/// A buffer at a planned place.
#[derive(Clone, Debug)]
pub struct Place<'c> {
    /// The memory that it is in.
    pub memory: Memory,
    /// The operation that makes it.
    pub op: Op<'c>,
    /// The buffer.
    pub value: Val<'c>,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
}

/// All buffers of `function` at planned places, checked to be inside of their memory and aligned.
/// `ops` are the operations in it.
pub fn places<'c>(function: Op<'c>, ops: &[Op<'c>]) -> Result<Vec<Place<'c>>, PassError<'c>> {
    let mut found = vec![];
    let signature = func::Signature::of(function)?;
    for (index, (ty, attributes)) in signature.arguments.iter().enumerate() {
        let role = attributes.iter().find(|(name, _)| name == IO).map(|(_, value)| *value);
        let memory = match role.and_then(edit::string).as_deref() {
            Some("arena") => Memory::Arena(String::new()),
            Some("constants") => Memory::Constants(String::new()),
            Some(names::DEVICE_ARENA | names::POOL_ARENA) => Memory::Arena(of_argument(attributes)),
            Some(names::DEVICE_CONSTANTS | names::POOL_CONSTANTS) => {
                Memory::Constants(of_argument(attributes))
            }
            _ => continue,
        };
        let bytes = size::bytes(*ty).ok_or_else(|| {
            PassError::at(
                &function,
                format!(
                    "argument {index} is {memory}, but is {ty}, of no \
                 known size"
                ),
            )
        })?;
        let whole = func::argument(function, index);
        views(function, memory, whole.into_iter().collect(), bytes, &mut found)?;
    }
    for op in ops.iter().filter(|op| ir::op_name(**op) == tir::Buffer::NAME) {
        found.push(buffer(*op)?);
    }
    Ok(found)
}

/// The views of a block of memory. Any other use would be of bytes that are not planned.
fn views<'c>(
    function: Op<'c>,
    memory: Memory,
    mut work: Vec<Val<'c>>,
    bytes: u64,
    found: &mut Vec<Place<'c>>,
) -> Result<(), PassError<'c>> {
    while let Some(whole) = work.pop() {
        let mut users = ir::users(whole);
        // MLIR lists the last use first.
        users.reverse();
        for user in users {
            match ir::op_name(user) {
                "memref.view" => found.push(view(function, &memory, user, bytes)?),
                _ if memref::is_whole(user) => work.extend(ir::results(user)),
                // Who is given all constants has places of its own in them, and only reads.
                tir::CallExtern::NAME if matches!(memory, Memory::Constants(_)) => {}
                _ => {
                    return Err(PassError::at(
                        &user,
                        format!(
                            "in '{}' uses {memory} as a whole; only a memref.view gives a piece \
                             of it a place",
                            func::symbol(function)
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn view<'c>(
    function: Op<'c>,
    memory: &Memory,
    op: Op<'c>,
    bytes: u64,
) -> Result<Place<'c>, PassError<'c>> {
    let name = func::symbol(function);
    let value = ir::result0(op)?;
    let size = size::bytes(value.r#type()).ok_or_else(|| {
        PassError::at(
            &op,
            format!("in '{name}' makes {} in {memory}, whose size is not known", value.r#type()),
        )
    })?;
    let shift = ir::operands(op).get(1).copied().and_then(edit::defining_op);
    let shift = shift.and_then(|owner| ir::attr_i64(owner, "value"));
    let offset = shift.ok_or_else(|| {
        PassError::at(
            &op,
            format!(
                "in '{name}' makes {} at a place in {memory} that is no \
             constant",
                value.r#type()
            ),
        )
    })?;
    let outside = || {
        PassError::at(
            &op,
            format!(
                "in '{name}' puts {} of {size} bytes at byte {offset} of {memory}, which has {bytes}",
                value.r#type()
            ),
        )
    };
    let offset = u64::try_from(offset).map_err(|_| outside())?;
    if offset.checked_add(size).is_none_or(|end| end > bytes) {
        return Err(outside());
    }
    if !offset.is_multiple_of(ALIGNMENT as u64) {
        return Err(PassError::at(
            &op,
            format!(
                "in '{name}' puts {} at byte {offset} of {memory}; places are multiples of {ALIGNMENT}",
                value.r#type()
            ),
        ));
    }
    Ok(Place { memory: memory.clone(), op, value, offset, size })
}

/// A buffer in a device's pool. Its own verifier has checked it against the pool's declaration.
fn buffer<'c>(op: Op<'c>) -> Result<Place<'c>, PassError<'c>> {
    let value = ir::result0(op)?;
    let place = || {
        let pool = memref::space(value.r#type())?;
        let offset = u64::try_from(ir::attr_i64(op, "offset")?).ok()?;
        Some((pool, offset, extent(value)?))
    };
    let (pool, offset, size) = place().ok_or_else(|| {
        PassError::at(&op, format!("makes {} at a place that is not known", value.r#type()))
    })?;
    pool_of(op, &pool)?;
    Ok(Place { memory: Memory::Pool(pool), op, value, offset, size })
}

/// The bytes from the first element of a buffer to its last.
fn extent(value: Val<'_>) -> Option<u64> {
    let ty = value.r#type();
    let element = size::element_bytes(ir::element_type(ty))?;
    let mut last = 0_u64;
    for (dim, stride) in ir::static_dims(ty)?.into_iter().zip(memref::static_strides(ty)?) {
        let steps = match u64::try_from(dim).ok()? {
            0 => return Some(0),
            dim => dim - 1,
        };
        last = last.checked_add(steps.checked_mul(u64::try_from(stride).ok()?)?)?;
    }
    last.checked_add(1)?.checked_mul(element)
}

/// Size and alignment of a pool, as the nearest `tir.pools` around `op` declares it.
pub(crate) fn pool_of<'c>(op: Op<'c>, name: &str) -> Result<(u64, u64), PassError<'c>> {
    let around = std::iter::successors(op.parent_operation(), |op| op.parent_operation());
    for owner in around {
        let pools = owner.attribute(names::POOLS).map(edit::array).unwrap_or_default();
        for pool in pools {
            if let Some((_, bytes, alignment)) = memref::pool(pool).filter(|pool| pool.0 == name) {
                return Ok((bytes, alignment));
            }
        }
    }
    Err(PassError::at(&op, format!("is in pool '{name}', which no tir.pools declares")))
}
