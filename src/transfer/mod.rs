//! Values in the memory of a device: where each buffer is when, and the copies between.
//!
//! A device with memory of its own computes on nothing else. Its calls take buffers there, all other
//! operations take the host's, and a buffer that both use has a place in each. A walk over a function
//! knows at each operation which of the two is up to date, and inserts a copy where it is the other
//! one. So what only the device uses is never on the host, what several calls read is copied once, and
//! results go down when somebody asks for them. Loops that use a buffer on both sides have it on a
//! given side at the ends of each iteration.
//!
//! Where the device has a queue, its calls and copies only start. A wait is inserted before the host
//! touches memory that a copy is under way to or from, and at the end. It has these buffers as
//! operands, so that the plan of memory keeps them until then. With tickets the host waits for no
//! more than it needs, and work that does not depend on each other goes to several queues ([`order`]).

mod access;
mod buffer;
mod calls;
mod order;
mod part;
mod tickets;
mod walk;
mod work;

use crate::{
    ir::{self, Op, edit, func, memory::Memory, names},
    pass::PassResult,
};
use melior::ir::operation::OperationLike;

pub use tickets::lower as lower_tickets;

/// Memory of a device, and its queue. Functions take the device first and return a status.
#[derive(Clone, Debug)]
pub struct Device {
    /// The memory.
    pub memory: Memory,
    /// `int f(device, void *to, const void *from, size_t bytes)`, from the host's memory.
    pub copy_in: String,
    /// The same to the host's memory.
    pub copy_out: String,
    /// The same with both ends on the device, if it can.
    pub copy_within: Option<String>,
    /// `int f(device)`, which returns when all that was started is done; without it calls are done
    /// when they return.
    pub wait: Option<String>,
    /// Milliseconds that it is given, if it takes a limit.
    pub timeout: Option<i64>,
    /// Tickets for a part of what was started, if it has them.
    pub tickets: Option<Tickets>,
    /// True if each function of the target is waited for before the next step begins.
    pub apart: bool,
}

/// Functions for tickets, which stand for work that was started.
#[derive(Clone, Debug)]
pub struct Tickets {
    /// `int f(device, int64_t *ticket)`: one that is done when all is that was started before, on
    /// the chosen queue.
    pub submit: String,
    /// `int f(device, int64_t ticket)`, which returns when it is done; with a limit, milliseconds
    /// follow.
    pub wait_for: Option<String>,
    /// Its queues, if it has several.
    pub queues: Option<Queues>,
}

/// Several queues of a device, each of which works in order.
#[derive(Clone, Debug)]
pub struct Queues {
    /// Number of queues, two at least.
    pub count: usize,
    /// `int f(device, int64_t queue)`: what is started afterwards is on that queue.
    pub select: String,
    /// `int f(device, int64_t ticket)`: what is started on the chosen queue afterwards begins when
    /// the ticket is done.
    pub after: String,
}

impl Device {
    /// True if the host can wait for a part of what was started.
    fn waits_for_parts(&self) -> bool {
        self.tickets.as_ref().is_some_and(|tickets| tickets.wait_for.is_some())
    }
}

/// Side of a function or of memory, for the device that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Elsewhere, or the host's memory.
    Host,
    /// On the device, or its memory.
    Device,
}

/// Puts the buffers that calls of the device use into its memory, in all functions.
pub fn assign<'c>(module: Op<'c>, device: Device) -> PassResult<'c> {
    let memory = device.memory.clone().declare(module)?;
    let device = Device { memory, ..device };
    let with_body =
        |function: &Op<'c>| edit::entry_block(*function).is_some() && !is_kernel(*function);
    let functions = func::functions(module).into_iter().filter(with_body);
    let ours = |function: &Op<'c>| {
        ir::attr_str(*function, names::TARGET).as_deref() == Some(&*device.memory.target)
    };
    let (own, others): (Vec<Op<'c>>, Vec<Op<'c>>) = functions.partition(ours);
    let mut calls = calls::Calls::new(module, &device);
    // What callers pass depends on what functions of the device take.
    for function in own {
        walk::run(function, Side::Device, &mut calls)?;
    }
    for function in &others {
        walk::run(*function, Side::Host, &mut calls)?;
    }
    order::run(module, &others, &mut calls)
}

/// True for a kernel, which calls nobody.
fn is_kernel(function: Op<'_>) -> bool {
    [names::KERNEL, names::LAUNCHED].into_iter().any(|name| function.has_attribute(name))
}
