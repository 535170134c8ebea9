//! The C that opens a device with what its target's manifest and the model add to it: the target's
//! options, and memory.

use super::{blob, context, kernel, session, words};
use crate::{
    Error, Result,
    artifact::{Bound, Device, c_identifier},
    expr::OptionValue,
    ir::{
        Op, func,
        names::{C_KERNELS, symbol_name},
    },
    targets::{OptionKind, TargetInstance},
};
use melior::ir::operation::OperationLike;

/// C sources with the functions that programs or the model call.
#[derive(Default)]
pub struct Opening {
    /// Names and texts.
    pub sources: Vec<(String, String)>,
    /// The functions.
    pub functions: Vec<String>,
    /// Symbols of blobs and their bytes.
    pub blobs: Vec<(String, Vec<u8>)>,
}

/// Code that opens the device of a target in `model`, beyond its vendor's code. `part` is the
/// target's module.
pub fn opening(
    target: &TargetInstance,
    model: &str,
    device: &Device,
    part: Op<'_>,
) -> Result<Opening> {
    let mut opening = Opening::default();
    if let Some(name) = wrapped(target, model) {
        let has_kernels = func::functions(part).into_iter().any(kernel::is_kernel)
            || part.has_attribute(C_KERNELS);
        let kernels = target.kind.codegen.kernels.as_ref().filter(|_| has_kernels);
        let program = kernels.map(|kernels| Program {
            load: &kernels.load,
            array: kernel::array_name(model, &target.id),
            close: target.kind.codegen.close.as_deref(),
        });
        let text = source(target, &name, program.as_ref())?;
        opening.sources.push((format!("{name}.c"), text));
        opening.functions.push(name);
    }
    let regions = blob::regions(part, target, model)?;
    let code = blob::Code::of(target, &regions);
    let in_session = device.memory.is_some() || target.kind.codegen.blob.is_some();
    if let Some((text, names)) = context::source(target, model, in_session) {
        opening.sources.push((format!("{model}_{}_context.c", c_identifier(&target.id)), text));
        opening.functions.extend(names);
    }
    if let (Some(memory), Some(decl)) = (&device.memory, &target.kind.memory) {
        let names = session::names(model, &memory.space);
        let wait = session::Wait::of(target)?;
        let open = vendor(target, model).unwrap_or_default();
        let parts = session::Parts::of(code.as_ref(), device.bound.as_ref(), &names);
        let given = (open.as_str(), &target.codegen()?);
        let text = session::source(given, decl, wait.as_ref(), (memory, parts), &names);
        opening.sources.push((format!("{model}_{}.c", memory.space), text));
        opening.functions.extend([names.open, names.close, names.load, names.settle]);
    } else if let Some(code) = &code {
        let close = target.kind.codegen.close.as_deref();
        let names = blob::SessionNames::new(model, &target.id);
        let open = vendor(target, model).unwrap_or_default();
        let text = blob::source((&open, close), code, &names);
        let name = format!("{model}_{}_session.c", c_identifier(&target.id));
        opening.sources.push((name, text));
        opening.functions.extend([names.open, names.close]);
    }
    opening.functions.extend(device.open_at.clone());
    let bound = device.bound.iter().flat_map(Bound::functions);
    opening.functions.extend(bound.map(|(_, name)| name.clone()));
    opening.blobs = regions.into_iter().map(|region| (region.symbol, region.bytes)).collect();
    Ok(opening)
}

/// The function that opens the device without its memory.
pub fn vendor(target: &TargetInstance, model: &str) -> Option<String> {
    wrapped(target, model).or_else(|| target.kind.codegen.open.clone())
}

/// The function that passes the options, and gives the device its kernels.
fn wrapped(target: &TargetInstance, model: &str) -> Option<String> {
    let codegen = &target.kind.codegen;
    let more = !codegen.open_arguments.is_empty() || codegen.kernels.is_some();
    let given = codegen.open.is_some() && more;
    given.then(|| symbol_name(model, &format!("{}_open_device", c_identifier(&target.id))))
}

/// The kernels that a device is given when it is open.
struct Program<'a> {
    load: &'a str,
    /// The array of its texts.
    array: String,
    close: Option<&'a str>,
}

impl Program<'_> {
    /// Prototypes.
    fn declared(&self) -> String {
        let Self { load, array, close } = self;
        let close = close.map(|close| format!("int {close}(void *device);\n"));
        format!(
            "int {load}(void *device, const char *const *sources, size_t count);\n{}\
             extern const char *const {array}[];\nextern const size_t {array}_count;\n",
            close.unwrap_or_default()
        )
    }

    /// C that loads the kernels once the device is open.
    fn loaded(&self) -> String {
        let Self { load, array, close } = self;
        let closed = close.map(|close| format!("\n    (void){close}(*device);"));
        let closed = closed.unwrap_or_default();
        format!(
            "  if (status == 0) {{\n    status = {load}(*device, {array}, {array}_count);\n    \
             if (status == 0)\n      return 0;{closed}\n    *device = NULL;\n  }}\n"
        )
    }
}

fn source(target: &TargetInstance, name: &str, program: Option<&Program<'_>>) -> Result<String> {
    let open = target.kind.codegen.open.as_deref().unwrap_or_default();
    let (types, values) = arguments(target)?;
    let declared = program.map(Program::declared).unwrap_or_default();
    let loaded = program.map(Program::loaded).unwrap_or_default();
    Ok(format!(
        "\
/* Generated by Phaseline: a device with the options of its target. */
#include <stddef.h>
#include <stdint.h>

int {open}({types});
{declared}int {name}(void **device);

int {name}(void **device) {{
  int status = {open}({values});
{loaded}  return status;
}}
"
    ))
}

/// The types and values of what the device is opened with.
fn arguments(target: &TargetInstance) -> Result<(String, String)> {
    let codegen = &target.kind.codegen;
    let (mut types, mut values) = (vec!["void **device".to_owned()], vec!["device".to_owned()]);
    for word in &codegen.open_arguments {
        let option = word.strip_prefix("option.").map(|name| (name, target.option(name)));
        let (ty, value) = match option {
            None => ("const char *", format!("\"{}\"", words::string(&target.id))),
            Some((_, Some(OptionValue::Text(text)))) => {
                ("const char *", format!("\"{}\"", words::string(text)))
            }
            Some((_, Some(OptionValue::Int(number)))) => ("int64_t ", integer(*number)),
            Some((_, Some(OptionValue::Float(number)))) if number.is_finite() => {
                ("double ", format!("{number:?}"))
            }
            Some((name, Some(OptionValue::Float(number)))) => {
                return Err(Error::invalid(format!(
                    "target '{}': its device is opened with the option '{name}', which is {number}: \
                     give a finite number",
                    target.id
                )));
            }
            Some((_, Some(OptionValue::Bool(flag)))) => ("int ", i32::from(*flag).to_string()),
            Some((name, None)) => match target.kind.option_kind(name) {
                Some(OptionKind::String | OptionKind::Enum { .. }) => {
                    ("const char *", "NULL".to_owned())
                }
                _ => {
                    return Err(Error::invalid(format!(
                        "target '{}': its device is opened with the option '{name}', which has no \
                         value: give it one in the target spec, -{name}=VALUE",
                        target.id
                    )));
                }
            },
        };
        types.push(format!("{ty}argument_{}", values.len()));
        values.push(value);
    }
    Ok((types.join(", "), values.join(", ")))
}

fn integer(number: i64) -> String {
    match number {
        i64::MIN => "INT64_MIN".to_owned(),
        number => format!("INT64_C({number})"),
    }
}
