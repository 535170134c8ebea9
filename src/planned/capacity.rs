//! Capacity check of a device's memory, and of a pool of the board.

use crate::{
    ir::{
        Op,
        board::Pool,
        edit, func,
        memory::{Memory, of_argument},
        names::{self, IO},
        size,
    },
    pass::PassError,
};

/// Checks that constants and `values` bytes of values fit a device's memory.
pub fn check<'c>(main: Op<'c>, memory: &Memory, values: u64) -> Result<(), PassError<'c>> {
    let Some(most) = memory.bytes else { return Ok(()) };
    let constants = bytes_of(main, names::DEVICE_CONSTANTS, &memory.space)?;
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

/// Checks that constants and `values` bytes of values fit a pool of the board.
pub fn check_pool<'c>(
    main: Op<'c>,
    pool: &Pool,
    values: u64,
    peak: Option<&str>,
) -> Result<(), PassError<'c>> {
    let constants = bytes_of(main, names::POOL_CONSTANTS, &pool.name)?;
    if constants.saturating_add(values) <= pool.bytes {
        return Ok(());
    }
    Err(PassError::at(&main, does_not_fit(pool, constants, values, peak)))
}

/// Error message for a pool that is too small.
pub fn does_not_fit(pool: &Pool, constants: u64, values: u64, peak: Option<&str>) -> String {
    let Pool { name, bytes, .. } = pool;
    let at = peak.map_or_else(String::new, |peak| format!(" at once, at {peak},"));
    let wanted = constants.saturating_add(values);
    format!(
        "does not fit pool '{name}', which has {bytes} bytes: {values} bytes of values{at} and \
         {constants} of constants are {wanted}. Give the pool {} more, let another pool hold some of it \
         (holds, users), or make the model smaller",
        wanted.saturating_sub(*bytes)
    )
}

/// The bytes of the argument of the main function that has a role in a memory.
pub fn bytes_of<'c>(main: Op<'c>, role: &str, memory: &str) -> Result<u64, PassError<'c>> {
    let signature = func::Signature::of(main)?;
    let is_it = |list: &func::Attributes<'c>| {
        let said = list.iter().find(|(name, _)| name == IO).map(|(_, value)| *value);
        said.and_then(edit::string).as_deref() == Some(role) && of_argument(list) == memory
    };
    let found = signature.arguments.iter().find(|(_, list)| is_it(list));
    Ok(found.and_then(|(ty, _)| size::bytes(*ty)).unwrap_or(0))
}
