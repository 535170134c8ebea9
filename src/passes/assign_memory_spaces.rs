//! `assign-memory-spaces`: puts buffers that a device uses into its own memory, with copies where
//! the host uses them too, and waits where the device has a queue ([`crate::transfer`]).

use crate::{
    ir::{Op, memory::Memory, names},
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets,
    transfer::{self, Device, Queues, Tickets},
};
use melior::ir::operation::OperationLike;

crate::pass_options! {
    /// Options of `assign-memory-spaces`.
    pub struct Options {
        target: String = "", "Id of the target whose device has the memory";
        space: String = "", "Name of the memory space";
        bytes: i64 = "0", "Size of the memory; 0 if only the device knows";
        alignment: i64 = "64", "Alignment of buffers in bytes, a power of two";
        copy_in: String = "", "C function that copies from the host's memory";
        copy_out: String = "", "C function that copies to the host's memory";
        copy_within: String = "", "C function that copies on the device, if it can";
        wait: String = "", "C function that waits for all started work, for asynchronous calls";
        timeout: i64 = "0", "Timeout of the wait function in milliseconds; 0 if it takes no limit";
        submit: String = "", "C function that takes a ticket for all started work";
        wait_for: String = "", "C function that waits for a ticket";
        queues: i64 = "1", "Number of queues";
        select: String = "", "C function that selects one of several queues";
        after: String = "", "C function that has a queue wait for a ticket";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "assign-memory-spaces",
    summary: "Put buffers that a device uses into its memory, with the copies in between",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["func", "memref", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    for (name, value) in [
        ("target", &options.target),
        ("space", &options.space),
        ("copy-in", &options.copy_in),
        ("copy-out", &options.copy_out),
    ] {
        if value.is_empty() {
            return Err(PassError::new(format!("assign-memory-spaces needs the option {name}")));
        }
    }
    targets::check_id(module, &options.target)?;
    let alignment = u64::try_from(options.alignment).unwrap_or(0);
    if !alignment.is_power_of_two() {
        return Err(PassError::new(format!(
            "assign-memory-spaces: alignment={} is no power of two",
            options.alignment
        )));
    }
    if options.timeout < 0 || (options.timeout > 0 && options.wait.is_empty()) {
        return Err(PassError::new(format!(
            "assign-memory-spaces: timeout={} is to be a positive number of milliseconds, for wait",
            options.timeout
        )));
    }
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let memory = Memory {
        target: options.target.clone(),
        space: options.space.clone(),
        bytes: u64::try_from(options.bytes).ok().filter(|bytes| *bytes > 0),
        alignment,
    };
    let device = Device {
        memory,
        copy_in: options.copy_in.clone(),
        copy_out: options.copy_out.clone(),
        copy_within: given(&options.copy_within),
        wait: given(&options.wait),
        timeout: (options.timeout > 0).then_some(options.timeout),
        tickets: tickets(&options)?,
        apart: module.has_attribute(names::APART),
    };
    transfer::assign(module, device)
}

/// Tickets and queues from the options.
fn tickets<'c>(options: &Options) -> Result<Option<Tickets>, PassError<'c>> {
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let fault = |text: &str| Err(PassError::new(format!("assign-memory-spaces: {text}")));
    let count = usize::try_from(options.queues).unwrap_or(0);
    let queues = match (count, given(&options.select), given(&options.after)) {
        (0, ..) => return fault("queues is to be a positive number"),
        (1, ..) => None,
        (_, Some(select), Some(after)) => Some(Queues { count, select, after }),
        _ => return fault("several queues need select and after"),
    };
    let wait_for = given(&options.wait_for);
    match given(&options.submit) {
        _ if options.wait.is_empty() && (wait_for.is_some() || queues.is_some()) => {
            fault("tickets and queues need wait")
        }
        None if wait_for.is_some() || queues.is_some() => {
            fault("wait-for and several queues need submit")
        }
        submit => Ok(submit.map(|submit| Tickets { submit, wait_for, queues })),
    }
}
