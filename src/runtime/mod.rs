//! Running compiled models in this process, from memory or from a package.

mod jit;
mod shared;

pub(crate) use jit::jit;
pub use phaseline_runtime::run::{DeviceBuffer, Event, Executable, Input, Invoke, Output, load};
pub(crate) use shared::load_libraries;

use crate::{Result, artifact::Compiled};

impl Compiled {
    /// Links the objects into this process. What it runs is as trusted as a program: `self` is as a
    /// compile made it.
    pub fn load(&self) -> Result<Executable> {
        let (model, objects) = (self.signature.name.as_str(), self.objects.len());
        let _span =
            tracing::info_span!(target: "phaseline::load", "load", model, objects).entered();
        self.machine.check_runs_here()?;
        let libraries = load_libraries(&self.link, &self.cc)?;
        // SAFETY: a compile gave objects and signature.
        unsafe { jit(&self.objects, self.constants.clone(), self.signature.clone(), libraries) }
    }
}
