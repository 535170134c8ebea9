//! Checks that parts belong together. A context has addresses of what is in it, and an operation
//! those of its operands. Parts of another session, or values of another module, would be read
//! after they are gone.
//!
//! Whoever holds a handle keeps its session alive. Comparing contexts where parts meet is enough
//! for that reason: no part of one gets into another.

use super::{Blk, Builder, Op, OpSpec, Val};
use crate::{Error, Result};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, BlockLike, Location, Type, TypeLike, ValueLike},
};
use mlir_sys as sys;

/// The context that something lives in, by its address.
pub trait InContext {
    /// The address; none if it cannot be told.
    fn home(&self) -> Option<usize>;
}

/// Asks MLIR for the context of something that is live, as everything with a lifetime is.
macro_rules! in_context {
    ($($kind:ty, $get:path;)*) => {
        $(impl InContext for $kind {
            fn home(&self) -> Option<usize> {
                // SAFETY: the handle is live.
                Some(unsafe { $get(self.to_raw()) }.ptr as usize)
            }
        })*
    };
}

in_context! {
    Val<'_>, sys::mlirValueGetContext;
    Type<'_>, sys::mlirTypeGetContext;
    Attribute<'_>, sys::mlirAttributeGetContext;
    Location<'_>, sys::mlirLocationGetContext;
}

impl InContext for Op<'_> {
    fn home(&self) -> Option<usize> {
        use melior::ir::operation::OperationLike;
        // SAFETY: the operation is live.
        Some(unsafe { sys::mlirOperationGetContext(self.to_raw()) }.ptr as usize)
    }
}

impl InContext for Context {
    fn home(&self) -> Option<usize> {
        Some(self.to_raw().ptr as usize)
    }
}

impl InContext for Blk<'_> {
    /// A block that is in no operation, and has no arguments, could be anywhere.
    fn home(&self) -> Option<usize> {
        // SAFETY: the block is live.
        let parent = unsafe { sys::mlirBlockGetParentOperation(self.to_raw()) };
        if !parent.ptr.is_null() {
            // SAFETY: it holds the block.
            return unsafe { Op::from_raw(parent) }.home();
        }
        self.argument(0).ok().and_then(|argument| Val::from(argument).home())
    }
}

/// Fails if `part` is of another context than `whole`.
pub fn check_home(
    whole: &impl InContext,
    part: &impl InContext,
    what: impl FnOnce() -> String,
) -> Result<()> {
    match (whole.home(), part.home()) {
        (Some(whole), Some(part)) if whole != part => Err(Error::invalid(format!(
            "{} is of another session; what is built together is of one session",
            what()
        ))),
        _ => Ok(()),
    }
}

/// Fails if a builder cannot create an operation of these parts.
pub(crate) fn check<'c>(b: &Builder<'c>, name: &str, spec: &OpSpec<'c, '_>) -> Result<()> {
    super::context::check_change()?;
    check_place(b.block())?;
    check_name(b.context, name)?;
    let part = |what: &'static str| move || format!("{what} of '{name}'");
    check_home(b.context, &b.location, part("the location"))?;
    check_home(b.context, &b.block(), part("the block"))?;
    for operand in spec.operands {
        check_home(b.context, operand, part("an operand"))?;
        check_value(b.block(), *operand, name)?;
    }
    for result in spec.results {
        check_home(b.context, result, part("a result type"))?;
    }
    for (key, value) in &spec.attributes {
        check_home(b.context, value, || format!("the attribute '{key}' of '{name}'"))?;
    }
    for region in &spec.regions {
        super::checked::blocks(region).try_for_each(|block| {
            check_home(b.context, &block, part("a region"))?;
            let ops = super::ops(block);
            ops.iter().try_for_each(|op| check_home(b.context, op, part("a region")))
        })?;
    }
    Ok(())
}

/// Fails if a pass runs beside a block on another operation.
pub(crate) fn check_place(block: Blk<'_>) -> Result<()> {
    // SAFETY: the block is live.
    let around = unsafe { sys::mlirBlockGetParentOperation(block.to_raw()) };
    if around.ptr.is_null() {
        return Ok(());
    }
    // SAFETY: it holds the block.
    super::context::check_own(unsafe { Op::from_raw(around) })
}

/// Fails if there is no operation of that name.
fn check_name(context: &Context, name: &str) -> Result<()> {
    let may_be_unknown = || context.allow_unregistered_dialects() && name.contains('.');
    if context.is_registered_operation(name) || may_be_unknown() {
        return Ok(());
    }
    let dialect = name.split('.').next().unwrap_or_default();
    Err(Error::invalid(format!(
        "there is no operation '{name}'; the session has to know its dialect, '{dialect}', before it \
         can be created"
    )))
}

/// Fails if a value cannot be used in a block: it is of another module, or of what was taken out of
/// one. In a region that is in no operation yet anything may be used.
pub(crate) fn check_value(block: Blk<'_>, value: Val<'_>, name: &str) -> Result<()> {
    let block = block.to_raw();
    let own = block_of(value);
    if own.is_ok_and(|own| own.ptr == block.ptr) {
        return Ok(());
    }
    let Top::Op(here) = top(Ok(block)) else { return Ok(()) };
    match top(own) {
        Top::Op(there) if there == here => Ok(()),
        _ => Err(Error::invalid(format!("an operand of '{name}' is a value of another module"))),
    }
}

/// Outermost part around a value.
enum Top {
    Op(usize),
    Region,
}

/// The block of a value; of an operation that is in none, its address.
fn block_of(value: Val<'_>) -> std::result::Result<sys::MlirBlock, usize> {
    let raw = value.to_raw();
    // SAFETY: the kind is checked first, and what is live is asked.
    unsafe {
        if sys::mlirValueIsABlockArgument(raw) {
            return Ok(sys::mlirBlockArgumentGetOwner(raw));
        }
        let op = sys::mlirOpResultGetOwner(raw);
        let block = sys::mlirOperationGetBlock(op);
        if block.ptr.is_null() { Err(op.ptr as usize) } else { Ok(block) }
    }
}

fn top(place: std::result::Result<sys::MlirBlock, usize>) -> Top {
    let mut block = match place {
        Ok(block) => block,
        Err(op) => return Top::Op(op),
    };
    loop {
        // SAFETY: what is around a live block is live.
        let (op, around) = unsafe {
            let op = sys::mlirBlockGetParentOperation(block);
            if op.ptr.is_null() {
                return Top::Region;
            }
            (op, sys::mlirOperationGetBlock(op))
        };
        if around.ptr.is_null() {
            return Top::Op(op.ptr as usize);
        }
        block = around;
    }
}
