//! Whether a device's memory is large enough.

use crate::{
    ir::{
        Op, edit, func,
        memory::{Memory, of_argument},
        names::{self, IO},
        size,
    },
    pass::PassError,
};

/// Checks that constants and `values` bytes of values fit a device's memory.
pub fn check<'c>(main: Op<'c>, memory: &Memory, values: u64) -> Result<(), PassError<'c>> {
    let Some(most) = memory.bytes else { return Ok(()) };
    let signature = func::Signature::of(main)?;
    let is_constants = |list: &func::Attributes<'c>| {
        let role = list.iter().find(|(name, _)| name == IO).map(|(_, value)| *value);
        role.and_then(edit::string).as_deref() == Some(names::DEVICE_CONSTANTS)
            && of_argument(list) == memory.space
    };
    let constants = signature.arguments.iter().find(|(_, list)| is_constants(list));
    let constants = constants.and_then(|(ty, _)| size::bytes(*ty)).unwrap_or(0);
    if constants.saturating_add(values) <= most {
        return Ok(());
    }
    Err(PassError::at(
        &main,
        format!(
            "needs {constants} bytes for constants and {values} for values in the memory of target \
             '{}', which has {most}: let the target take less of the network (partition, \
             --placement), or give it more memory",
            memory.target
        ),
    ))
}
