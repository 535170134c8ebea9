//! Interface of a compiled model.

mod memory;

pub use memory::MemoryUse;

use super::{FixedInput, Operation};
use crate::{
    Error, Result,
    tensor::{DType, Tensor, element_count},
};
use phaseline_base::size::Bounds;
use serde::{Deserialize, Serialize};

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Its place in a pool of the board; none if the caller gives its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PortPlace>,
}

/// The place of an input or output in a pool of the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortPlace {
    /// The pool.
    pub pool: String,
    /// Its first byte, from the start of the working memory there.
    pub offset: usize,
}

/// Use of a device's memory by a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Its name in generated code.
    pub space: String,
    /// Bytes that the device has there, if its target says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<usize>,
    /// Bytes of the values at the fullest moment, as they are planned.
    pub values_bytes: usize,
    /// Bytes that the values take at least, whatever the plan; 0 if that is not known.
    #[serde(default)]
    pub lower_bound: usize,
    /// The operation that runs when so many bytes are in use, as its place in the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub peak: String,
    /// Begin of its constants among all constants of the model.
    pub constants_offset: usize,
    /// Bytes of its constants, which are copied there once.
    pub constants_bytes: usize,
    /// Alignment of both.
    pub alignment: usize,
}

/// Use of a pool of the board by a model. The caller provides the pool: a block for the values, and
/// the constants, which the package has in a block of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolUse {
    /// Its name.
    pub name: String,
    /// Bytes that the board has there.
    pub capacity: usize,
    /// Alignment of its blocks.
    pub alignment: usize,
    /// Bytes of the values, as they are planned.
    pub values_bytes: usize,
    /// Bytes that the values take at least, whatever the plan.
    #[serde(default)]
    pub lower_bound: usize,
    /// The operation that runs when so many bytes are in use, as its place in the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub peak: String,
    /// Begin of its constants among all constants of the model.
    pub constants_offset: usize,
    /// Bytes of its constants.
    pub constants_bytes: usize,
}

/// The file that has a model's weights, beside its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightsFile {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// XXH3 hash of the weights, 128 bits in hexadecimal digits, with which the file begins.
    pub xxh128: String,
}

/// The inputs and outputs of a model that programs have in the memory of a device, and the C functions
/// that handle such buffers. All take what the device was opened with, and return a status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Inputs, as places among all.
    pub inputs: Vec<usize>,
    /// Outputs, as places among all.
    pub outputs: Vec<usize>,
    /// `int32_t allocate(void *session, size_t bytes, void **address)`.
    pub allocate: String,
    /// `int32_t free(void *session, void *address)`.
    pub free: String,
    /// `int32_t write(void *session, void *to, const void *from, size_t bytes)`, from the host's memory.
    pub write: String,
    /// `int32_t read(void *session, void *to, const void *from, size_t bytes)`, to the host's memory.
    pub read: String,
}

impl Bound {
    /// The functions, with what headers call them.
    pub fn functions(&self) -> [(&'static str, &String); 4] {
        let Self { allocate, free, write, read, .. } = self;
        [("ALLOCATE", allocate), ("FREE", free), ("WRITE", write), ("READ", read)]
    }
}

/// Names of the C functions that open a device with its memory, close it, load its constants, and end
/// what it has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSession {
    /// `int32_t open(void **session)`, 0 on success.
    pub open: String,
    /// `int32_t close(void *session)`.
    pub close: String,
    /// `int32_t load(void *session, const void *constants)`, which the model calls.
    pub load: String,
    /// `int32_t settle(void *session, int32_t status)`, which returns that status; the model calls it
    /// at its end.
    pub settle: String,
}

/// A device that the model's calls are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Id of the target that it belongs to.
    pub target: String,
    /// The kind of that target, where messages name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// C function `int open(DEVICE **out)`, 0 on success; none if there is nothing to open, then
    /// calls are given NULL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// C function `int open(DEVICE **out, const char **region)`, which says what region it is if the
    /// device refuses one; only if regions are loaded when it is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_at: Option<String>,
    /// C function `int close(DEVICE *)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
    /// C function `const char *text(int status)`, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_string: Option<String>,
    /// Use of its memory; none if it has no memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<DeviceMemory>,
    /// Inputs and outputs that programs have in its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// The interface of a compiled model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Name of the model; every symbol starts with it.
    pub name: String,
    /// Inputs in order.
    pub inputs: Vec<Port>,
    /// Inputs of the model that are constants, and no inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<FixedInput>,
    /// Outputs in order.
    pub outputs: Vec<Port>,
    /// Inputs and the outputs that are their new values, which are one buffer, as places among all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<[usize; 2]>,
    /// Sizes that a run gives. Inputs and outputs have room for the greatest then, and the last input holds the values of the
    /// symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// Size of the working memory that a run needs, aligned to 64 bytes.
    pub arena_bytes: usize,
    /// Bytes that the arena has at least, whatever the plan; 0 if that is not known.
    #[serde(default)]
    pub arena_lower_bound: usize,
    /// The operation that runs when so many bytes are in use, as its place in the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arena_peak: String,
    /// Size of the constants, aligned to 64 bytes.
    pub constants_bytes: usize,
    /// The file of the constants, if they are in one of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightsFile>,
    /// The pools of the board, in the order of the arrays that a run is given; none without a board, which
    /// leaves one arena and one block of constants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolUse>,
    /// The devices in the order of the array that a run is given.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// The steps that a run tells an observer of; none unless it was compiled to be traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
}

impl Port {
    /// Size in bytes.
    pub fn bytes(&self) -> Result<usize> {
        Ok(element_count(self.dtype, &self.shape)? * self.dtype.size())
    }

    /// Checks that a tensor fits; `kind` is "input" or "output".
    pub fn check(&self, tensor: &Tensor, kind: &str) -> Result<()> {
        if tensor.dtype() != self.dtype {
            return Err(Error::invalid(format!(
                "{kind} '{}' is {}, expected {}",
                self.name,
                tensor.dtype(),
                self.dtype
            )));
        }
        if tensor.shape() != self.shape {
            return Err(Error::invalid(format!(
                "{kind} '{}' has shape {:?}, expected {:?}",
                self.name,
                tensor.shape(),
                self.shape
            )));
        }
        Ok(())
    }
}

impl Port {
    /// Checks that a buffer for the output has its size.
    pub fn check_bytes(&self, bytes: usize) -> Result<()> {
        let expected = self.bytes()?;
        if bytes == expected {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the buffer of output '{}' has {bytes} bytes, expected {expected}",
            self.name
        )))
    }
}

impl Signature {
    /// The inputs that a caller gives: all but that of the sizes, which follow from shapes.
    pub fn given(&self) -> &[Port] {
        &self.inputs[..self.inputs.len() - usize::from(self.takes_sizes())]
    }

    /// True if the last input holds the sizes that shapes give.
    pub fn takes_sizes(&self) -> bool {
        let sized = self.bounds.as_ref().is_some_and(|bounds| !bounds.symbols.is_empty());
        sized && !self.inputs.is_empty()
    }

    /// The outputs that a caller gets: all but that of the sizes that data decide.
    pub fn returned(&self) -> &[Port] {
        let decided = self.bounds.as_ref().is_some_and(|bounds| !bounds.decided.is_empty());
        &self.outputs[..self.outputs.len() - usize::from(decided && !self.outputs.is_empty())]
    }

    /// The C functions of its devices.
    pub fn functions(&self) -> impl Iterator<Item = &String> {
        self.devices.iter().flat_map(|device| {
            let Device { open, open_at, close, status_string, bound, .. } = device;
            let bound = bound.iter().flat_map(Bound::functions).map(|(_, name)| name);
            [open, open_at, close, status_string].into_iter().flatten().chain(bound)
        })
    }

    /// The place of the device in whose memory programs have an input; none for the host's.
    pub fn device_of_input(&self, input: usize) -> Option<usize> {
        self.device_that(|bound| bound.inputs.contains(&input))
    }

    /// The same of an output.
    pub fn device_of_output(&self, output: usize) -> Option<usize> {
        self.device_that(|bound| bound.outputs.contains(&output))
    }

    /// The output that is the new value of an input, if that is a state.
    pub fn new_state(&self, input: usize) -> Option<usize> {
        self.states.iter().find(|[from, _]| *from == input).map(|[_, to]| *to)
    }

    fn device_that(&self, has: impl Fn(&Bound) -> bool) -> Option<usize> {
        self.devices.iter().position(|device| device.bound.as_ref().is_some_and(&has))
    }

    /// The symbol of the constants that a package has for a pool.
    pub fn constants_symbol(&self, pool: &PoolUse) -> String {
        format!("{}_constants_{}", self.name, pool.name)
    }

    /// The input of that name.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|port| port.name == name)
    }
}
