//! `draw-plan`: draws the plan of memory, for the package or for whoever asks for it
//! ([`crate::planned::picture`]).

use crate::{
    ir::{self, Op, edit, names},
    pass::{OptionValues, Pass, PassError},
    planned::picture,
};
use melior::ir::attribute::StringAttribute;

/// The pass.
pub const PASS: Pass = Pass {
    name: "draw-plan",
    summary: "Draw the memory plan over time and address, as SVG in phl.plan_picture",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let text = picture::draw(module)?;
    let text = StringAttribute::new(ir::context_of(module), &text);
    edit::set_attr(module, names::PLAN_PICTURE, text.into());
    Ok(())
}
