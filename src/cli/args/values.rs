//! Parsers for values of arguments.

use crate::{
    Phase,
    artifact::{Layout, WeightsPlace},
    phase::named,
};

/// A number that is not negative.
pub(super) fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| *amount >= 0.0);
    amount.ok_or_else(|| "expected a number that is not negative".to_owned())
}

/// An input and its value, or `@` and the file that has it.
pub(super) fn parse_value(text: &str) -> Result<(String, String), String> {
    // Names of files have any characters, and so have names of inputs.
    let place = text.find("=@").or_else(|| text.rfind('=')).filter(|place| *place > 0);
    let (name, value) = place
        .map(|place| (&text[..place], &text[place + 1..]))
        .filter(|(_, value)| !value.trim().is_empty() && *value != "@")
        .ok_or("write it as NAME=V or NAME=@FILE: k=5, axes=[0,1], mask=@mask.npy")?;
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// A phase and passes.
pub(super) fn parse_pass(text: &str) -> Result<(Phase, String), String> {
    let (phase, passes) = text
        .split_once('=')
        .ok_or("write it as PHASE=PASSES, such as pre-partition=cse,canonicalize")?;
    let phase = named(phase.trim()).map_err(|error| error.to_string())?;
    Ok((phase, passes.trim().to_owned()))
}

/// Parses the place of weights.
pub(super) fn parse_weights(text: &str) -> Result<WeightsPlace, String> {
    match text {
        "inside" => Ok(WeightsPlace::Inside),
        "beside" => Ok(WeightsPlace::Beside),
        "auto" => Ok(WeightsPlace::Auto),
        _ => Err("expected inside, beside or auto".to_owned()),
    }
}

/// A build that a package is laid out for.
pub(super) fn parse_layout(text: &str) -> Result<Layout, String> {
    let found = Layout::ALL.iter().find(|(name, _)| *name == text);
    let names = || Layout::ALL.map(|(name, _)| name).join(", ");
    found.map(|(_, layout)| *layout).ok_or_else(|| format!("expected one of {}", names()))
}

/// An input or output, and a target.
pub(super) fn parse_bind(text: &str) -> Result<(String, String), String> {
    let (port, id) = text
        .rsplit_once('=')
        .ok_or("write it as PORT=TARGET, the name of an input or output and the id of a target")?;
    Ok((port.to_owned(), id.trim().to_owned()))
}

/// An input, and the output that is its new value.
pub(super) fn parse_state(text: &str) -> Result<(String, String), String> {
    let (input, output) = text.split_once('=').ok_or(
        "write it as INPUT=OUTPUT, the names of an input and of the output that is its new value",
    )?;
    Ok((input.trim().to_owned(), output.trim().to_owned()))
}
