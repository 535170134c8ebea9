//! Compiles, partitions, modules of IR and targets, by `phaseline::cli::binding`.

use crate::{
    errors::OrRaise,
    network::Executable,
    waiting::{Told, wait},
};
use phaseline::{
    Result,
    cli::binding::{self, Divided, Held, Job, Observer, ServedFlags, Stop, Target as Kind},
};
use pyo3::prelude::*;
use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Adds the classes and functions that need the compiler.
///
/// # Errors
/// The module refuses a name.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("HOOK_SOURCE", binding::HOOK_SOURCE)?;
    module.add_class::<Module>()?;
    module.add_class::<Target>()?;
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(partition, module)?)?;
    module.add_function(wrap_pyfunction!(emit, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// The exception that a hook or pass raised last, which becomes the cause of that of the compile.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Keeps an exception, and gives its text.
pub fn keep(py: Python<'_>, error: PyErr) -> String {
    let text = format!("{}: {}", name(py, &error), error.value(py));
    *RAISED.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    text
}

fn name(py: Python<'_>, error: &PyErr) -> String {
    error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string())
}

/// The value, or an exception whose cause is what a hook raised.
fn raised<T>(py: Python<'_>, outcome: Result<T>) -> PyResult<T> {
    let cause = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.or_raise(py).inspect_err(|error| error.set_cause(py, cause))
}

/// Does something with a job in another thread.
fn work<T: Send + 'static>(
    py: Python<'_>,
    arguments: Vec<OsString>,
    targets: Vec<PyRef<'_, Target>>,
    progress: Option<Bound<'_, PyAny>>,
    todo: impl FnOnce(&Job) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let kinds = targets.iter().map(|target| target.kind()).collect();
    drop(targets);
    let stop = Stop::default();
    let stopped = stop.clone();
    let told = progress.is_some();
    let outcome = wait(
        py,
        progress.as_ref(),
        || stopped.stop(),
        move |tell| {
            let tell = tell.clone();
            let observer = move |step: &str| {
                let _ = tell.send(Told::Step(step.to_owned()));
            };
            let observer: Option<Observer> = if told { Some(Box::new(observer)) } else { None };
            todo(&Job { arguments, kinds, stop, observer })
        },
    )?;
    raised(py, outcome)
}

/// Compiles a model.
#[pyfunction]
#[pyo3(signature = (arguments, targets, progress=None))]
fn compile(
    py: Python<'_>,
    arguments: Vec<OsString>,
    targets: Vec<PyRef<'_, Target>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Executable> {
    let (code, built) = work(py, arguments, targets, progress, |job| {
        let built = binding::compile(job)?;
        Ok((built.compiled.load()?, built))
    })?;
    Ok(Executable::compiled(code, built.compiled, built.picture, built.warnings))
}

/// Divides a model: JSON, table, explanation, page, placement.
#[pyfunction]
fn partition(
    py: Python<'_>,
    arguments: Vec<OsString>,
    targets: Vec<PyRef<'_, Target>>,
) -> PyResult<(String, String, String, String, String)> {
    let Divided { json, table, explanation, html, placement } =
        work(py, arguments, targets, None, binding::partition)?;
    Ok((json, table, explanation, html, placement))
}

/// The IR of a model after a phase.
#[pyfunction]
fn emit(
    py: Python<'_>,
    arguments: Vec<OsString>,
    targets: Vec<PyRef<'_, Target>>,
    phase: &str,
) -> PyResult<String> {
    let phase = phase.to_owned();
    work(py, arguments, targets, None, move |job| binding::emit(job, &phase))
}

/// The program, by its arguments. Gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>, own: Vec<OsString>) -> u8 {
    py.detach(|| binding::main(arguments, own))
}

/// A module of IR, with a session of its own.
#[pyclass(frozen, module = "phaseline._phaseline", name = "Module")]
struct Module(Arc<Held>);

#[pymethods]
impl Module {
    /// Parses text or bytecode.
    #[new]
    #[pyo3(signature = (text, name, targets))]
    fn new(
        py: Python<'_>,
        text: Vec<u8>,
        name: String,
        targets: Vec<PyRef<'_, Target>>,
    ) -> PyResult<Self> {
        let kinds = targets.iter().map(|target| target.kind()).collect();
        drop(targets);
        let held = py.detach(|| Held::parse(text, name, kinds));
        raised(py, held).map(|held| Self(Arc::new(held)))
    }

    /// Runs a pipeline; gives warnings and remarks.
    fn run(&self, py: Python<'_>, pipeline: String) -> PyResult<Vec<String>> {
        let (held, stop) = (self.0.clone(), Stop::default());
        let stopped = stop.clone();
        let outcome = wait(py, None, || stopped.stop(), move |_| held.run(pipeline, &stop))?;
        raised(py, outcome)
    }

    /// The text, with weights and locations.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let held = self.0.clone();
        py.detach(move || held.text()).or_raise(py)
    }

    /// The text without locations.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let held = self.0.clone();
        py.detach(move || held.short_text()).or_raise(py)
    }
}

/// A target kind of a manifest, to which hooks are added.
#[pyclass(frozen, module = "phaseline._phaseline", name = "Target")]
pub struct Target(Mutex<Kind>);

impl Target {
    fn kind(&self) -> Kind {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl Target {
    /// Reads a manifest.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        binding::target(&path).or_raise(py).map(|kind| Self(Mutex::new(kind)))
    }

    /// The name in specs.
    #[getter]
    fn name(&self) -> String {
        self.kind().name().to_owned()
    }

    /// Has a function answer a hook: it is given a question of protocol 2 as JSON, and gives the answer as JSON.
    fn serve(
        &self,
        py: Python<'_>,
        point: &str,
        function: Py<PyAny>,
        flags: (bool, bool, bool),
    ) -> PyResult<()> {
        let (together, module, dry_run) = flags;
        let answer = move |question: &str| -> std::result::Result<String, String> {
            let asked = Python::try_attach(|py| {
                let answer = function.call1(py, (question,));
                answer.and_then(|text| text.extract::<String>(py)).map_err(|e| keep(py, e))
            });
            asked.unwrap_or_else(|| Err("the interpreter has ended".to_owned()))
        };
        let flags = ServedFlags { together, module, dry_run };
        let kind = self.kind().with_hook(point, flags, Arc::new(answer)).or_raise(py)?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kind;
        Ok(())
    }
}
