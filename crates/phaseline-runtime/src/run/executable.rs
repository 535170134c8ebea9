//! A compiled model that is ready to run.

use super::{
    devices::Devices,
    memory::{Arena, Constants},
    pool::Pool,
    trace::SetTrace,
};
use crate::{
    Error, Result,
    artifact::{Port, Signature},
    tensor::{AlignedBuffer, Spare, Tensor},
};
use indexmap::IndexMap;
use phaseline_base::size::{Bounds, Dim, Packing, Symbol};
use std::{
    any::Any,
    ffi::c_void,
    sync::{Arc, Mutex},
};

/// The entry point of a compiled model; `make-entry-point` describes it.
pub type Invoke = unsafe extern "C" fn(
    inputs: *const *const c_void,
    outputs: *const *mut c_void,
    constants: *const c_void,
    arena: *mut c_void,
    devices: *const *mut c_void,
    pool: *mut c_void,
) -> i32;

/// A compiled model in memory. Runs on several threads at once wait for each other, because they
/// share the arena.
pub struct Executable {
    signature: Signature,
    invoke: Invoke,
    constants: Constants,
    arena: Mutex<Arena>,
    pub(super) devices: Devices,
    /// Memory of outputs that are not in use any more.
    outputs: Arc<Spare>,
    /// Threads besides the caller's, if there are.
    pool: Option<Pool>,
    /// Sets the observer of the steps of a run, if the model is traced.
    pub(super) set_trace: Option<SetTrace>,
    /// Held while there is an observer.
    pub(super) traced: Mutex<()>,
    /// Owner of the code; dropped last.
    _code: Box<dyn Any + Send + Sync>,
}

impl Executable {
    /// Opens the devices and allocates the arena.
    ///
    /// # Safety
    /// `invoke` is the entry point of the model that `signature` describes. `symbol` gives the
    /// addresses of functions with the C types that [`crate::artifact::Device`] says. Both stay
    /// valid while `code` lives.
    pub unsafe fn new(
        signature: Signature,
        invoke: Invoke,
        constants: Constants,
        code: Box<dyn Any + Send + Sync>,
        symbol: &dyn Fn(&str) -> Result<*const c_void>,
    ) -> Result<Self> {
        constants.check(&signature)?;
        let arena = Mutex::new(Arena::new(&signature)?);
        // SAFETY: the caller's contract.
        let devices = unsafe { Devices::open(&signature, symbol)? };
        let set_trace = match signature.operations.is_empty() {
            true => None,
            false => Some(symbol(&format!("{}_set_trace", signature.name))?),
        };
        // SAFETY: the caller's contract: the compile made the function with this type.
        let set_trace =
            set_trace.map(|f| unsafe { std::mem::transmute::<*const c_void, SetTrace>(f) });
        let outputs = Spare::new(signature.outputs.len());
        Ok(Self {
            signature,
            outputs,
            invoke,
            constants,
            arena,
            devices,
            pool: None,
            set_trace,
            traced: Mutex::new(()),
            _code: code,
        })
    }

    /// Interface of the model.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Lets kernels run on `threads` threads from now on. Results do not depend on it.
    pub fn set_threads(&mut self, threads: u32) -> Result<()> {
        self.pool = if threads > 1 { Some(Pool::new(threads)?) } else { None };
        Ok(())
    }

    /// Runs the model on inputs in the order of the signature. The memory of outputs that are dropped is that of
    /// later ones; [`Executable::run_into`] allocates none.
    ///
    /// A model whose sizes a run gives takes inputs of any sizes of their ranges. Its outputs have
    /// the sizes that follow.
    ///
    /// # Errors
    /// An input does not have the shape or type of the model's, or the run fails.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        match self.bounds_for(inputs) {
            Some(bounds) => self.run_sized(bounds, inputs),
            None => self.run_static(inputs),
        }
    }

    /// Runs on inputs of sizes that their shapes give.
    fn run_sized(&self, bounds: &Bounds, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let Sized { roomy, mut values } = self.sized(bounds, inputs)?;
        let results = self.run_static(&roomy)?;
        if !bounds.decided.is_empty() {
            values.extend(self.decided(bounds, results.last())?);
        }
        let symbols = bounds.all();
        let packed = results.into_iter().zip(self.signature.returned()).zip(&bounds.outputs);
        let packed = packed.map(|((tensor, port), dims)| {
            let packing = packing(&symbols, &values, dims, port);
            let shape = packing.shape();
            if shape == port.shape {
                return Ok(tensor);
            }
            let bytes = shape.iter().product::<usize>() * port.dtype.size();
            let mut buffer = AlignedBuffer::zeroed(bytes)?;
            packing.pack(tensor.bytes(), buffer.as_mut_slice());
            Ok(Tensor::from_buffer(port.dtype, &shape, buffer)?)
        });
        packed.collect()
    }

    /// The sizes that data have decided, of the last output.
    ///
    /// # Errors
    /// A size is beyond its bound, so that the outputs are not to be read.
    fn decided(&self, bounds: &Bounds, counts: Option<&Tensor>) -> Result<Vec<i64>> {
        let counts: &[i64] = counts.and_then(Tensor::as_slice).unwrap_or_default();
        for (symbol, count) in bounds.decided.iter().zip(counts) {
            if !symbol.has(*count) {
                return Err(Error::invalid(format!(
                    "running '{}' gave {count} elements for {}, which has room for {}",
                    self.signature.name, symbol.name, symbol.most
                )));
            }
        }
        Ok(counts.to_vec())
    }

    /// Inputs with room for the greatest sizes, and the values of the symbols behind them.
    fn sized(&self, bounds: &Bounds, inputs: &[Tensor]) -> Result<Sized> {
        let ports = &self.signature.inputs;
        let shapes: Vec<_> =
            ports.iter().zip(inputs).map(|(port, it)| (port.name.as_str(), it.shape())).collect();
        let elements = |index: usize| inputs.get(index).and_then(Tensor::to_i64);
        let values = bounds.values(&shapes, elements)?;
        let mut roomy = vec![];
        for ((port, tensor), dims) in ports.iter().zip(inputs).zip(&bounds.inputs) {
            if tensor.shape() == port.shape || tensor.dtype() != port.dtype {
                roomy.push(tensor.clone());
                continue;
            }
            let mut buffer = AlignedBuffer::zeroed(port.bytes()?)?;
            packing(&bounds.symbols, &values, dims, port)
                .spread(tensor.bytes(), buffer.as_mut_slice());
            roomy.push(Tensor::from_buffer(port.dtype, &port.shape, buffer)?);
        }
        if self.signature.takes_sizes() {
            roomy.push(Tensor::from_slice(&[values.len()], &values)?);
        }
        Ok(Sized { roomy, values })
    }

    /// The sizes that shapes of inputs give, if the model has some and so many inputs are given.
    fn bounds_for(&self, inputs: &[Tensor]) -> Option<&Bounds> {
        let bounds = self.signature.bounds.as_ref()?;
        (inputs.len() == self.signature.given().len()).then_some(bounds)
    }

    fn run_static(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut outputs = vec![];
        for port in &self.signature.outputs {
            outputs.push(self.outputs.take(port.bytes()?)?);
        }
        self.run_into(inputs, &mut outputs)?;
        self.signature
            .outputs
            .iter()
            .zip(outputs)
            .map(|(port, buffer)| Ok(Tensor::from_buffer(port.dtype, &port.shape, buffer)?))
            .collect()
    }

    /// Runs the model into buffers of the outputs' sizes, without allocating any. If a run gives
    /// the model's sizes, outputs have room for the greatest. Inputs are then copied.
    ///
    /// # Errors
    /// An input or a buffer does not have the model's shape or type, or the run fails.
    pub fn run_into(&self, inputs: &[Tensor], outputs: &mut [AlignedBuffer]) -> Result<()> {
        let signature = &self.signature;
        if let Some(bounds) = self.bounds_for(inputs).filter(|_| signature.takes_sizes()) {
            return self.run_into(&self.sized(bounds, inputs)?.roomy, outputs);
        }
        self.check_count(inputs.len(), outputs.len())?;
        if signature.devices.iter().any(|device| device.bound.is_some()) {
            return self.run_copied(inputs, outputs);
        }
        for (port, tensor) in signature.inputs.iter().zip(inputs) {
            port.check(tensor, "input")?;
        }
        for (port, buffer) in signature.outputs.iter().zip(outputs.iter()) {
            port.check_bytes(buffer.as_ref().len())?;
        }
        // The buffer of a state is the output's, which keeps the tensor as it is.
        for [input, output] in &signature.states {
            outputs[*output].as_mut_slice().copy_from_slice(inputs[*input].bytes());
        }
        let targets: Vec<*mut c_void> =
            outputs.iter_mut().map(|buffer| buffer.as_mut_slice().as_mut_ptr().cast()).collect();
        let sources: Vec<*const c_void> = inputs
            .iter()
            .enumerate()
            .map(|(place, tensor)| match signature.new_state(place) {
                Some(output) => targets[output].cast_const(),
                None => tensor.bytes().as_ptr().cast(),
            })
            .collect();
        // SAFETY: sizes and types were checked above.
        unsafe { self.invoke(&sources, &targets) }
    }

    /// Fails unless so many inputs and outputs are those of the model.
    pub(super) fn check_count(&self, inputs: usize, outputs: usize) -> Result<()> {
        let signature = &self.signature;
        if inputs == signature.inputs.len() && outputs == signature.outputs.len() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the model has {} inputs and {} outputs, but {inputs} and {outputs} are given",
            signature.inputs.len(),
            signature.outputs.len(),
        )))
    }

    /// Waits until nothing runs, and keeps it so.
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, Arena> {
        self.arena.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Runs the model. Inputs and outputs in pools are copied there and back.
    ///
    /// # Safety
    /// The addresses are those of its inputs and outputs, with their sizes and in their memories.
    pub(super) unsafe fn invoke(
        &self,
        sources: &[*const c_void],
        targets: &[*mut c_void],
    ) -> Result<()> {
        let signature = &self.signature;
        let model = signature.name.as_str();
        let _span = tracing::debug_span!(target: "phaseline::run", "run", model).entered();
        let devices = self.devices.handles();
        let mut arena = self.lock();
        // SAFETY: the contract of `new` and the caller's; the arena has the size that the signature
        // asks for, and the lock keeps other runs away from it.
        let status = unsafe {
            arena.give(signature, sources)?;
            (self.invoke)(
                sources.as_ptr(),
                targets.as_ptr(),
                self.constants.address(),
                arena.address(),
                devices.as_ptr(),
                self.pool.as_ref().map_or(std::ptr::null_mut(), Pool::address),
            )
        };
        if status != 0 {
            return Err(Error::invalid(format!(
                "running '{}' failed: {}",
                signature.name,
                self.devices.describe(status)
            )));
        }
        // SAFETY: as above.
        unsafe { arena.take(signature, targets) }
    }

    /// Runs the model on inputs by name.
    pub fn run_named(&self, inputs: &IndexMap<String, Tensor>) -> Result<IndexMap<String, Tensor>> {
        let signature = &self.signature;
        let names = |ports: &[Port]| {
            ports.iter().map(|port| format!("'{}'", port.name)).collect::<Vec<_>>().join(", ")
        };
        if let Some(name) = inputs.keys().find(|name| signature.input(name).is_none()) {
            return Err(Error::invalid(format!(
                "the model has no input '{name}'; its inputs are {}",
                names(&signature.inputs)
            )));
        }
        let given = signature.given();
        let missing: Vec<_> =
            given.iter().filter(|port| !inputs.contains_key(&port.name)).cloned().collect();
        if !missing.is_empty() {
            return Err(Error::invalid(format!("no value is given for input {}", names(&missing))));
        }
        let ordered: Vec<_> = given.iter().map(|port| inputs[&port.name].clone()).collect();
        let outputs = self.run(&ordered)?;
        Ok(signature.returned().iter().map(|port| port.name.clone()).zip(outputs).collect())
    }
}

/// Inputs with room for the greatest sizes.
struct Sized {
    roomy: Vec<Tensor>,
    /// Values of the symbols.
    values: Vec<i64>,
}

fn packing<'b>(
    symbols: &'b [Symbol],
    values: &'b [i64],
    dims: &'b [Dim],
    port: &Port,
) -> Packing<'b> {
    Packing { dims, symbols, values, element: port.dtype.size() }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable").field("signature", &self.signature).finish_non_exhaustive()
    }
}
