//! Inputs and outputs in the memory of a device.

use super::Executable;
use crate::{
    Error, Result,
    artifact::{Bound, Port},
    tensor::{AlignedBuffer, Tensor},
};
use std::ffi::{c_int, c_void};

type Allocate = unsafe extern "C" fn(*mut c_void, usize, *mut *mut c_void) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_void, usize) -> c_int;

/// The functions of a device that handle such buffers.
#[derive(Clone, Copy)]
pub(super) struct BufferFunctions {
    allocate: Allocate,
    free: Free,
    write: Copy,
    read: Copy,
}

impl BufferFunctions {
    /// Finds them.
    ///
    /// # Safety
    /// `symbol` gives addresses of functions with the C types that [`Bound`] says.
    pub(super) unsafe fn find(
        bound: &Bound,
        symbol: &dyn Fn(&str) -> Result<*const c_void>,
    ) -> Result<Self> {
        let (allocate, free) = (symbol(&bound.allocate)?, symbol(&bound.free)?);
        let (write, read) = (symbol(&bound.write)?, symbol(&bound.read)?);
        // SAFETY: the caller's contract.
        unsafe {
            Ok(Self {
                allocate: std::mem::transmute::<*const c_void, Allocate>(allocate),
                free: std::mem::transmute::<*const c_void, Free>(free),
                write: std::mem::transmute::<*const c_void, Copy>(write),
                read: std::mem::transmute::<*const c_void, Copy>(read),
            })
        }
    }
}

/// A block in the memory of a device, for an input or output that the model was compiled to have there
/// (`CompileOptions::bind`). It may stay where it is between runs, as the output of one and an
/// input of the next.
pub struct DeviceBuffer<'e> {
    executable: &'e Executable,
    device: usize,
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: the address is only used by the device's functions, while the executable's lock is held.
unsafe impl Send for DeviceBuffer<'_> {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer<'_> {}

/// Source of an input of a run.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// The host's memory.
    Host(&'a Tensor),
    /// The memory of a device.
    Device(&'a DeviceBuffer<'a>),
}

/// Destination of an output of a run.
pub enum Output<'a> {
    /// The host's memory.
    Host(&'a mut AlignedBuffer),
    /// The memory of a device.
    Device(&'a DeviceBuffer<'a>),
}

impl Executable {
    /// Allocates a buffer for the input or output of that name, in its device's memory.
    ///
    /// # Errors
    /// The model has it in the host's memory, or lacks it. The device has no room.
    pub fn allocate(&self, name: &str) -> Result<DeviceBuffer<'_>> {
        let signature = self.signature();
        let place = |ports: &[Port]| ports.iter().position(|port| port.name == name);
        let input = place(&signature.inputs)
            .and_then(|at| Some((signature.device_of_input(at)?, &signature.inputs[at])));
        let output = || {
            let at = place(&signature.outputs)?;
            Some((signature.device_of_output(at)?, &signature.outputs[at]))
        };
        let (device, port) = input.or_else(output).ok_or_else(|| {
            Error::invalid(format!(
                "'{}' has no input or output '{name}' in the memory of a device: compile it with \
                 --bind {name}=TARGET",
                signature.name
            ))
        })?;
        self.allocate_on(device, port)
    }

    fn allocate_on(&self, device: usize, port: &Port) -> Result<DeviceBuffer<'_>> {
        let bytes = port.bytes()?;
        let mut address = std::ptr::null_mut();
        // SAFETY: the functions are those of the device, whose handle it is.
        self.on_device(device, "allocating memory", |functions, handle| unsafe {
            (functions.allocate)(handle, bytes, &mut address)
        })?;
        Ok(DeviceBuffer { executable: self, device, address, bytes })
    }

    /// Calls a function of a device while nothing else does.
    fn on_device(
        &self,
        device: usize,
        what: &str,
        call: impl FnOnce(&BufferFunctions, *mut c_void) -> c_int,
    ) -> Result<()> {
        let _turn = self.lock();
        let (functions, handle) = self.devices.buffers(device)?;
        match call(functions, handle) {
            0 => Ok(()),
            status => Err(Error::invalid(format!(
                "{what} on the device of target '{}' failed: {}",
                self.signature().devices[device].target,
                self.devices.describe_one(device, status)
            ))),
        }
    }

    /// Runs the model on inputs and outputs in the order of the signature. Each is in the memory in
    /// which the model has it.
    ///
    /// # Errors
    /// One is in another memory, of another size or type, or the same buffer as another one.
    pub fn run_bound(&self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        let signature = self.signature();
        self.check_count(inputs.len(), outputs.len())?;
        let (mut sources, mut targets): (Vec<*const c_void>, Vec<*mut c_void>) = (vec![], vec![]);
        // Addresses are those of one device.
        let mut taken: Vec<(usize, *const c_void)> = vec![];
        for (index, (port, given)) in signature.inputs.iter().zip(inputs).enumerate() {
            sources.push(match (given, signature.device_of_input(index)) {
                (Input::Host(tensor), None) => {
                    port.check(tensor, "input")?;
                    tensor.bytes().as_ptr().cast()
                }
                (Input::Device(buffer), Some(device)) => {
                    let address = self.check_buffer(buffer, device, port, "input")?.cast_const();
                    taken.push((device, address));
                    address
                }
                (_, place) => return Err(self.other_memory(place, port, "input")),
            });
        }
        for (index, (port, given)) in signature.outputs.iter().zip(outputs).enumerate() {
            targets.push(match (given, signature.device_of_output(index)) {
                (Output::Host(buffer), None) => {
                    port.check_bytes(buffer.as_ref().len())?;
                    let bytes = buffer.as_mut_slice();
                    let address: *mut c_void = bytes.as_mut_ptr().cast();
                    // A state in the host's memory is in the buffer of its output.
                    if let Some([input, _]) = signature.states.iter().find(|state| state[1] == index)
                        && let Input::Host(tensor) = &inputs[*input]
                    {
                        bytes.copy_from_slice(tensor.bytes());
                        sources[*input] = address.cast_const();
                    }
                    address
                }
                (Output::Device(buffer), Some(device)) => {
                    let address = self.check_buffer(buffer, device, port, "output")?;
                    if let Some([input, _]) = signature.states.iter().find(|state| state[1] == index) {
                        if sources[*input] != address.cast_const() {
                            return Err(Error::invalid(format!(
                                "output '{}' is the new value of input '{}', but has another buffer: give \
                                 the same one for both",
                                port.name, signature.inputs[*input].name
                            )));
                        }
                        targets.push(address);
                        continue;
                    }
                    if taken.contains(&(device, address.cast_const())) {
                        return Err(Error::invalid(format!(
                            "the buffer of output '{}' is that of another input or output of the run: \
                             take two in turn",
                            port.name
                        )));
                    }
                    taken.push((device, address.cast_const()));
                    address
                }
                (_, place) => return Err(self.other_memory(place, port, "output")),
            });
        }
        // SAFETY: types, sizes and memories were checked above.
        unsafe { self.invoke(&sources, &targets) }
    }

    fn check_buffer(
        &self,
        buffer: &DeviceBuffer<'_>,
        device: usize,
        port: &Port,
        kind: &str,
    ) -> Result<*mut c_void> {
        let fault = |reason: String| {
            Err(Error::invalid(format!("the buffer of {kind} '{}' {reason}", port.name)))
        };
        if !std::ptr::eq(buffer.executable, self) {
            return fault("belongs to another model: each has devices of its own".to_owned());
        }
        if buffer.device != device {
            let devices = &self.signature().devices;
            return fault(format!(
                "is in the memory of '{}', expected '{}'",
                devices[buffer.device].target, devices[device].target
            ));
        }
        match port.bytes()? {
            bytes if bytes == buffer.bytes => Ok(buffer.address),
            bytes => fault(format!("has {} bytes, expected {bytes}", buffer.bytes)),
        }
    }

    fn other_memory(&self, place: Option<usize>, port: &Port, kind: &str) -> Error {
        let wanted = match place {
            Some(device) => {
                format!("the memory of target '{}'", self.signature().devices[device].target)
            }
            None => "the host's memory".to_owned(),
        };
        Error::invalid(format!("{kind} '{}' is in another memory: expected {wanted}", port.name))
    }

    /// Runs a model that has values in the memory of devices, with copies before and after.
    pub(super) fn run_copied(
        &self,
        inputs: &[Tensor],
        outputs: &mut [AlignedBuffer],
    ) -> Result<()> {
        let signature = self.signature();
        // Buffers of inputs and of outputs; of a state there is that of the input.
        let (mut given, mut made, mut shared) = (vec![], vec![], vec![]);
        for (index, (port, tensor)) in signature.inputs.iter().zip(inputs).enumerate() {
            let device = signature.device_of_input(index);
            let buffer = device.map(|device| self.allocate_on(device, port)).transpose()?;
            if let Some(buffer) = &buffer {
                port.check(tensor, "input")?;
                buffer.write(tensor.bytes())?;
            }
            given.push(buffer);
        }
        for (index, port) in signature.outputs.iter().enumerate() {
            let state = signature.states.iter().find(|state| state[1] == index);
            if let Some([input, _]) = state.filter(|[input, _]| given[*input].is_some()) {
                shared.push(Some(*input));
                made.push(None);
                continue;
            }
            shared.push(None);
            let device = signature.device_of_output(index);
            made.push(device.map(|device| self.allocate_on(device, port)).transpose()?);
        }
        let destinations: Vec<Option<&DeviceBuffer<'_>>> = made
            .iter()
            .zip(&shared)
            .map(|(made, input)| made.as_ref().or_else(|| given[(*input)?].as_ref()))
            .collect();
        let sources: Vec<_> = inputs
            .iter()
            .zip(&given)
            .map(|(tensor, buffer)| buffer.as_ref().map_or(Input::Host(tensor), Input::Device))
            .collect();
        let mut targets: Vec<_> = outputs
            .iter_mut()
            .zip(&destinations)
            .map(|(host, buffer)| match buffer {
                Some(buffer) => Output::Device(buffer),
                None => Output::Host(host),
            })
            .collect();
        self.run_bound(&sources, &mut targets)?;
        for (host, buffer) in outputs.iter_mut().zip(destinations) {
            if let Some(buffer) = buffer {
                buffer.read_into(host.as_mut_slice())?;
            }
        }
        Ok(())
    }
}

impl DeviceBuffer<'_> {
    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Copies all of it from the host's memory.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check(bytes.len())?;
        // SAFETY: both blocks have so many bytes, and the device is that of the address.
        self.executable.on_device(self.device, "writing to memory", |functions, handle| unsafe {
            (functions.write)(handle, self.address, bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// Copies all of it to the host's memory.
    pub fn read_into(&self, bytes: &mut [u8]) -> Result<()> {
        self.check(bytes.len())?;
        // SAFETY: as above.
        self.executable.on_device(self.device, "reading memory", |functions, handle| unsafe {
            (functions.read)(handle, bytes.as_mut_ptr().cast(), self.address, bytes.len())
        })
    }

    fn check(&self, bytes: usize) -> Result<()> {
        if bytes == self.bytes {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "a buffer on a device has {} bytes, but {bytes} are given",
            self.bytes
        )))
    }
}

impl Drop for DeviceBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the address came from the device, and is not used again. Nobody can be told of a failure.
        let _ =
            self.executable.on_device(self.device, "freeing memory", |functions, handle| unsafe {
                (functions.free)(handle, self.address)
            });
    }
}

impl std::fmt::Debug for DeviceBuffer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceBuffer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
