//! `set-c-target`: says how the C of a target's module looks besides what its functions do.
//!
//! It writes the type of the target's device and the headers that the file includes on the module,
//! where [the printer](crate::codegen::c::print()) finds them.

use crate::{
    ir::{
        self, Op, edit,
        names::{C_DEVICE, C_HEADERS},
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, StringAttribute},
};

crate::pass_options! {
    /// Options of `set-c-target`.
    pub struct Options {
        device: String = "void", "C type of the target's device";
        headers: String = "", "Headers to include, separated by colons";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "set-c-target",
    summary: "Record the device type and the headers of a module that is printed as C",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let context = ir::context_of(module);
    let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
    if options.device != "void" {
        edit::set_attr(module, C_DEVICE, text(&options.device));
    }
    let headers: Vec<_> = options.headers.split(':').filter(|name| !name.is_empty()).collect();
    if !headers.is_empty() {
        let headers: Vec<_> = headers.into_iter().map(text).collect();
        edit::set_attr(module, C_HEADERS, ArrayAttribute::new(context, &headers).into());
    }
    Ok(())
}
