//! Steps of a compiled model: the rows of reports and traces.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Means of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// A kernel of the host, on vectors and in tasks.
    Kernel,
    /// Loops of the host that have no kernel; the compiler makes vectors of them where it can.
    Loop,
    /// Bytes are copied as they are.
    Copy,
    /// A function of a device or library.
    Call,
    /// A copy between the host's memory and a device's.
    Transfer,
    /// Waiting for what a device was given to do.
    Wait,
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kernel => "kernel",
            Self::Loop => "loop",
            Self::Copy => "copy",
            Self::Call => "call",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
        })
    }
}

/// A step of the main function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Node of the model; of a fused group the last one.
    pub node: String,
    /// Id of the target that runs it.
    pub target: String,
    /// Its means.
    pub means: Means,
    /// The kernel's kind (`conv`), the function that is called, or the operations of the loops.
    pub code: String,
    /// Types of the buffers that are read, as `1x8x8x16xf32`.
    pub inputs: Vec<String>,
    /// Types of the buffers that are written.
    pub outputs: Vec<String>,
    /// Tasks that threads share; 1 if there is one thread's work only.
    pub tasks: u64,
    /// Multiplications and additions of a kernel, elementary operations of loops; 0 if that is not
    /// known.
    pub operations: u64,
    /// Bytes of the buffers that it reads and writes.
    pub bytes: u64,
    /// The queue that it is started on, or is waited for, of a device with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u64>,
}
