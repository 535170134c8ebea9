//! Networks that are ready to run.

use crate::{
    arrays::{Array, tensor},
    errors::OrRaise,
    waiting::wait,
};
use phaseline_runtime::{self as runtime, DType, Tensor};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

/// A network in memory, and what is known of it.
#[pyclass(frozen, module = "phaseline")]
pub struct Executable {
    code: Arc<RwLock<runtime::Executable>>,
    /// The compiled network that a package is written of; none for a loaded one.
    #[cfg(feature = "compiler")]
    pub(crate) compiled: Option<phaseline::Compiled>,
    /// The picture of the plan of memory.
    picture: Option<String>,
    /// Warnings of the compile.
    warnings: Vec<String>,
}

impl Executable {
    /// A network that a package has.
    fn loaded(code: runtime::Executable) -> Self {
        Self {
            code: Arc::new(RwLock::new(code)),
            #[cfg(feature = "compiler")]
            compiled: None,
            picture: None,
            warnings: vec![],
        }
    }

    /// A network that was compiled.
    #[cfg(feature = "compiler")]
    pub fn compiled(
        code: runtime::Executable,
        compiled: phaseline::Compiled,
        picture: Option<String>,
        warnings: Vec<String>,
    ) -> Self {
        Self { compiled: Some(compiled), picture, warnings, ..Self::loaded(code) }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, runtime::Executable> {
        self.code.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inputs as tensors.
    fn tensors(&self, inputs: &[Bound<'_, PyAny>]) -> PyResult<Vec<Tensor>> {
        let code = self.read();
        let ports = code.signature().given();
        if inputs.len() != ports.len() {
            return Err(PyValueError::new_err(format!(
                "the network takes {} inputs, and {} are given",
                ports.len(),
                inputs.len()
            )));
        }
        let given = inputs.iter().zip(ports);
        given.map(|(input, port)| tensor(input, port.dtype == DType::BF16)).collect()
    }
}

#[pymethods]
impl Executable {
    /// Inputs, outputs, memory and devices, as JSON.
    fn signature(&self) -> PyResult<String> {
        serde_json::to_string(self.read().signature())
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Names, types and greatest shapes of the inputs.
    fn inputs(&self) -> Vec<(String, &'static str, Vec<usize>)> {
        let code = self.read();
        let ports = code.signature().given().iter();
        ports.map(|port| (port.name.clone(), port.dtype.numpy_name(), port.shape.clone())).collect()
    }

    /// Names, types and greatest shapes of the outputs.
    fn outputs(&self) -> Vec<(String, &'static str, Vec<usize>)> {
        let code = self.read();
        let ports = code.signature().returned().iter();
        ports.map(|port| (port.name.clone(), port.dtype.numpy_name(), port.shape.clone())).collect()
    }

    /// Use of each memory, as JSON.
    fn memories(&self) -> PyResult<String> {
        serde_json::to_string(&self.read().signature().memories())
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The picture of the plan of memory, an SVG.
    #[getter]
    fn picture(&self) -> Option<&str> {
        self.picture.as_deref()
    }

    /// Warnings of the compile.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Runs on inputs in their order, without the GIL.
    fn run(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Array>> {
        let tensors = self.tensors(&inputs)?;
        let outputs = py.detach(|| self.read().run(&tensors)).or_raise(py)?;
        Ok(outputs.into_iter().map(Array::new).collect())
    }

    /// Lets kernels run on so many threads.
    fn set_threads(&self, py: Python<'_>, threads: u32) -> PyResult<()> {
        let set = || {
            let mut code = self.code.write().unwrap_or_else(PoisonError::into_inner);
            code.set_threads(threads)
        };
        py.detach(set).or_raise(py)
    }

    /// Inputs from a seed, of the greatest sizes.
    fn random_inputs(&self, py: Python<'_>, seed: u64) -> PyResult<Vec<Array>> {
        let code = self.read();
        let signature = code.signature();
        let bounds = signature.bounds.as_ref();
        let ports = signature.given().iter().enumerate();
        let made: runtime::Result<Vec<_>> = ports
            .map(|(index, port)| {
                let elements = bounds.and_then(|bounds| bounds.greatest(index));
                let tensor = match elements {
                    Some(values) if port.dtype == DType::I32 => {
                        let values: Vec<i32> =
                            values.iter().map(|v| i32::try_from(*v).unwrap_or(i32::MAX)).collect();
                        Tensor::from_slice(&port.shape, &values)?
                    }
                    Some(values) => Tensor::from_slice(&port.shape, &values)?,
                    None => Tensor::random_named(port.dtype, &port.shape, seed, &port.name)?,
                };
                Ok(Array::new(tensor))
            })
            .collect();
        made.or_raise(py)
    }

    /// Nanoseconds of single runs: so many at least, and for so many seconds.
    fn bench(
        &self,
        py: Python<'_>,
        inputs: Vec<Bound<'_, PyAny>>,
        seconds: f64,
        runs: usize,
    ) -> PyResult<Vec<u64>> {
        let tensors = self.tensors(&inputs)?;
        let budget = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        // The first runs bring code and memory in.
        self.sample(py, &tensors, (budget / 4, 1))?;
        self.sample(py, &tensors, (budget, runs))
    }

    /// Begin and end of each step of a run, in Chrome's trace format.
    fn trace(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
        let tensors = self.tensors(&inputs)?;
        let traced = || {
            let code = self.read();
            let mut outputs = code.output_buffers()?;
            // The second run is the one that is seen.
            code.run_traced(&tensors, &mut outputs)?;
            let events = code.run_traced(&tensors, &mut outputs)?;
            code.chrome_trace(&events)
        };
        py.detach(traced).or_raise(py)
    }

    /// Writes a package.
    #[cfg(feature = "compiler")]
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<bool> {
        let Some(compiled) = self.compiled.clone() else { return Ok(false) };
        let write = move |_: &_| phaseline::cli::binding::write(&compiled, &folder, force);
        let written = wait(py, None, || {}, write)?;
        written.or_raise(py)?;
        Ok(true)
    }
}

impl Executable {
    /// Times of runs. Signals are heard in between.
    fn sample(
        &self,
        py: Python<'_>,
        tensors: &[Tensor],
        (budget, runs): (Duration, usize),
    ) -> PyResult<Vec<u64>> {
        const SLICE: Duration = Duration::from_millis(50);
        let (mut samples, start) = (vec![], Instant::now());
        while samples.len() < runs || start.elapsed() < budget {
            let slice = || {
                let (code, begin, mut times) = (self.read(), Instant::now(), vec![]);
                while begin.elapsed() < SLICE {
                    let before = Instant::now();
                    code.run(tensors)?;
                    times.push(u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX));
                }
                Ok(times)
            };
            samples.extend(py.detach(slice).or_raise(py)?);
            py.check_signals()?;
        }
        Ok(samples)
    }
}

/// Loads a package: its folder, or the shared library in it. The library runs code.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Executable> {
    let loaded = wait(py, None, || {}, move |_| runtime::load(&path))?;
    loaded.or_raise(py).map(Executable::loaded)
}
