//! Loading the shared library of a package.

use super::{Executable, Invoke, memory::Constants};
use crate::{
    Error, Result,
    artifact::{ArtifactKind, shared_library_name},
    package::{self, Embedded, Metadata},
};
use libloading::Library;
use std::{
    ffi::{CStr, CString, c_char, c_void},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Loads a package: its directory, or the shared library in it.
///
/// The library runs code when it is loaded and in every run, so it has to be as trusted as a
/// program.
pub fn load(path: &Path) -> Result<Executable> {
    let package = path.display();
    let _span = tracing::info_span!(target: "phaseline::load", "load", %package).entered();
    let (file, described) = if path.is_dir() {
        described_in(path)?
    } else if path.exists() {
        (path.to_path_buf(), package::describe_library(path)?)
    } else {
        return Err(Error::invalid(format!("there is no compiled model at {}", path.display())));
    };
    described.machine.check_runs_here()?;
    let signature = described.signature;
    // A name without a directory would be searched for in the system's places.
    let absolute = std::path::absolute(&file).map_err(|e| Error::io("cannot find", &file, e))?;
    // SAFETY: the caller trusts the library, as the documentation says.
    let library = unsafe { Library::new(&absolute) }
        .map_err(|e| Error::invalid(format!("cannot load {}: {e}", file.display())))?;
    let library = Arc::new(library);
    let address = |name: &str| symbol(&library, name, &file);
    let entry = address(&format!("{}_invoke", signature.name))?;
    let constants = match &signature.weights {
        None => Constants::linked(&signature, &address)?,
        Some(weights) => {
            mapped(&signature.name, &absolute.with_file_name(&weights.file), &address)?
        }
    };
    // SAFETY: the library was made by `phaseline::package::write`, whose entry point has this type; it stays
    // loaded as long as the executable.
    unsafe {
        let invoke = std::mem::transmute::<*const c_void, Invoke>(entry);
        Executable::new(signature, invoke, constants, Box::new(library.clone()), &address)
    }
}

/// The shared library of a package and what it says about itself. Fails unless all files are as
/// they were written, and library and description agree.
fn described_in(folder: &Path) -> Result<(PathBuf, Embedded)> {
    let metadata = Metadata::read(folder)?;
    metadata.machine.check_runs_here()?;
    metadata.check_files_to_load(folder)?;
    let name = shared_library_name(&metadata.signature.name);
    let listed = metadata.files.iter().find(|file| file.path == name);
    if listed.is_none_or(|file| file.kind != ArtifactKind::SharedLibrary) {
        return Err(Error::invalid(format!(
            "{} has no shared library {name}, which is what runs",
            folder.display()
        )));
    }
    let file = folder.join(&name);
    let described = package::describe_library(&file)?;
    let Metadata { machine, signature, .. } = metadata;
    match described.difference(&Embedded { machine, signature }) {
        None => Ok((file, described)),
        Some(what) => Err(Error::invalid(format!(
            "metadata.json in {} contradicts {name} about {what}: it was changed or belongs to \
             another model; compile the model again",
            folder.display()
        ))),
    }
}

/// Has the library map its weights from a file.
fn mapped(
    model: &str,
    file: &Path,
    symbol: &dyn Fn(&str) -> Result<*const c_void>,
) -> Result<Constants> {
    let path = CString::new(file.as_os_str().as_bytes())
        .map_err(|_| Error::invalid(format!("{} is no path of a file", file.display())))?;
    let load = symbol(&format!("{model}_load_weights"))?;
    let weights = symbol(&format!("{model}_weights"))?;
    let error = symbol(&format!("{model}_weights_error"))?;
    // SAFETY: the library was made by `phaseline::package::write`, whose functions have these types, and stays loaded; the
    // message is a text that ends, of this thread.
    unsafe {
        let load = std::mem::transmute::<*const c_void, extern "C" fn(*const c_char) -> i32>(load);
        let weights =
            std::mem::transmute::<*const c_void, extern "C" fn() -> *const c_void>(weights);
        let error = std::mem::transmute::<*const c_void, extern "C" fn() -> *const c_char>(error);
        if load(path.as_ptr()) != 0 {
            return Err(Error::invalid(CStr::from_ptr(error()).to_string_lossy().into_owned()));
        }
        Ok(Constants::Linked(weights()))
    }
}

fn symbol(library: &Library, name: &str, file: &Path) -> Result<*const c_void> {
    // SAFETY: only the address is taken; what it is used as is the caller's matter.
    let found = unsafe { library.get::<*const c_void>(name) };
    let found = found.map_err(|_| {
        Error::invalid(format!(
            "{} is not the library of a compiled model: it has no symbol {name}",
            file.display()
        ))
    })?;
    // SAFETY: as above.
    Ok(unsafe { found.try_as_raw_ptr() }.map_or(std::ptr::null(), |address| address.cast_const()))
}
