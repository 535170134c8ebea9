#![doc = include_str!("../README.md")]

// Modules by layer, lowest first.
pub(crate) mod errors;
pub(crate) mod strides;
pub(crate) mod waiting;

pub(crate) mod dlpack;

pub(crate) mod arrays;

pub(crate) mod network;

#[cfg(feature = "compiler")]
pub(crate) mod compiler;

#[cfg(feature = "compiler")]
pub(crate) mod passes;

use pyo3::prelude::*;

/// The native part of the package `phaseline`; `_phaseline.pyi` has its types.
#[pymodule]
fn _phaseline(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<arrays::Array>()?;
    module.add_class::<network::Executable>()?;
    module.add_function(wrap_pyfunction!(network::load, module)?)?;
    #[cfg(feature = "compiler")]
    compiler::add(module)?;
    #[cfg(feature = "compiler")]
    passes::add(module)?;
    Ok(())
}
