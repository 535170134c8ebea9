//! `set-c-target`: sets the properties of a target's C besides its functions.
//!
//! It writes the type of the target's device, the headers that the file includes and the C of single
//! operations on the module, where [the printer](crate::codegen::c::print()) finds them.

use crate::{
    codegen::c::emission::Emission,
    ir::{
        self, Op, edit,
        names::{C_DEVICE, C_EMIT, C_HEADERS},
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
        emit: String = "", "C of single operations, as math.exp f32 my_exp($0); arith.divf * my_div($0, $1)";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "set-c-target",
    summary: "Record the device type and the headers of a module that is printed as C",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "math"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let context = ir::context_of(module);
    let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
    if options.device != "void" {
        edit::set_attr(module, C_DEVICE, text(&options.device));
    }
    let set = |name: &str, list: Vec<&str>| {
        if !list.is_empty() {
            let list: Vec<_> = list.into_iter().map(text).collect();
            edit::set_attr(module, name, ArrayAttribute::new(context, &list).into());
        }
    };
    set(C_HEADERS, options.headers.split(':').filter(|name| !name.is_empty()).collect());
    let emit: Vec<_> =
        options.emit.split(';').map(str::trim).filter(|text| !text.is_empty()).collect();
    Emission::parse_all(context, &options.emit).map_err(PassError::new)?;
    set(C_EMIT, emit);
    Ok(())
}
