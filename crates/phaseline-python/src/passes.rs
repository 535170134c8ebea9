//! Passes in Python: functions of the text of a module, which pipelines name like any other pass.

use crate::compiler::keep;
use phaseline::{
    cli::binding,
    pass::{OptionValues, Pass, PassError, PassOp},
    passes,
};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::sync::{PoisonError, RwLock};

/// A pass: its name and its function.
struct Known {
    name: String,
    function: Py<PyAny>,
}

/// The passes, by the number of the function that MLIR calls.
static KNOWN: RwLock<Vec<Known>> = RwLock::new(vec![]);

type Run = for<'c> fn(PassOp<'c>, &OptionValues) -> Result<(), PassError<'c>>;

/// MLIR calls a pass by a function without any state, so that there is a number of these.
macro_rules! runs {
    ($($number:literal)*) => { [$(run::<$number>),*] };
}

const RUNS: &[Run] = &runs!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
);

fn run<'c, const NUMBER: usize>(module: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let text = binding::text_of(module).map_err(|error| PassError::new(error.to_string()))?;
    let ran = Python::try_attach(|py| {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        let Some(pass) = known.get(NUMBER) else { return Ok(None) };
        let (name, function) = (pass.name.clone(), pass.function.clone_ref(py));
        drop(known);
        let new = function.call1(py, (text,)).and_then(|new| new.extract::<Option<String>>(py));
        new.map(|new| new.map(|new| (new, name))).map_err(|error| keep(py, error))
    });
    match ran {
        None => Err(PassError::new("the interpreter has ended")),
        Some(Err(text)) => Err(PassError::new(text)),
        Some(Ok(None)) => Ok(()),
        Some(Ok(Some((new, name)))) => binding::replace_module(module, &new, &name),
    }
}

/// Registers a pass on modules. A pass of that name in Python is replaced.
#[pyfunction]
fn register_pass(name: String, summary: &str, function: Py<PyAny>) -> PyResult<()> {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(pass) = known.iter_mut().find(|pass| pass.name == name) {
        pass.function = function;
        return Ok(());
    }
    let Some(run) = RUNS.get(known.len()) else {
        return Err(PyValueError::new_err(format!(
            "there are {} passes in Python already, which is the limit: put several functions into one",
            RUNS.len()
        )));
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(PyValueError::new_err(format!(
            "'{name}' is no name for a pass: it has letters, digits, '-' and '_'"
        )));
    }
    // MLIR's registry keeps it until the process ends.
    let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let pass: &'static Pass = Box::leak(Box::new(Pass {
        name: leaked(&name),
        summary: leaked(summary),
        anchor: "builtin.module",
        options: &[],
        dialects: &[],
        run: *run,
    }));
    passes::register(pass).map_err(|error| PyValueError::new_err(error.to_string()))?;
    known.push(Known { name, function });
    Ok(())
}

/// Adds the functions of this file to the module.
///
/// # Errors
/// The module refuses a name.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register_pass, module)?)
}
