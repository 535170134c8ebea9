//! Inputs and outputs in pools: buffers of the main function in place of what a caller would give.

use crate::{
    ir::{
        self, Builder, Op,
        board::{Content, Pool, Port},
        edit, func,
        names::{self, IO},
    },
    pass::PassError,
};
use melior::ir::{ValueLike, attribute::DenseI32ArrayAttribute};

/// Makes a buffer of each input and output that a pool is to hold. The argument stays, and has no use.
pub fn make<'c>(module: Op<'c>, pools: &[Pool]) -> Result<(), PassError<'c>> {
    let Some(main) = func::main(module) else { return Ok(()) };
    let context = ir::context_of(main);
    let Some(first) = edit::entry_block(main).and_then(|body| ir::ops(body).first().copied())
    else {
        return Ok(());
    };
    for (index, (_, attributes)) in func::Signature::of(main)?.arguments.iter().enumerate() {
        let role = attributes.iter().find(|(name, _)| name == IO);
        let content = match role.and_then(|(_, value)| edit::string(*value)).as_deref() {
            Some("input") => Content::Inputs,
            Some("output") => Content::Outputs,
            _ => continue,
        };
        if attributes.iter().any(|(name, _)| name == names::BOUND) {
            continue; // In the memory of a device, where a caller has it.
        }
        let argument = func::argument(main, index).filter(|value| !ir::users(*value).is_empty());
        let Some(argument) = argument.filter(|_| pools.iter().any(|pool| pool.may_hold(content)))
        else {
            continue;
        };
        let builder = Builder::before(first)?.with_location(ir::location_of(argument));
        let port = Port { content, argument: index }.to_attribute(context);
        let segments = DenseI32ArrayAttribute::new(context, &[0, 0]).into();
        let attributes = vec![("operandSegmentSizes", segments), (names::PORT, port)];
        let buffer = builder.op1_with("memref.alloc", &[], argument.r#type(), attributes)?;
        edit::replace_uses(argument, buffer);
    }
    Ok(())
}
