//! Loading the shared library of a package.

use super::{Executable, Invoke, Signature, executable::Constants};
use crate::{Error, Result, package};
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_void},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Loads a package: its directory, or the shared library in it.
///
/// The library runs code when it is loaded and in every run, so it has to be as trusted as a
/// program.
pub fn load(path: &Path) -> Result<Executable> {
    let file = if path.is_dir() { library_in(path)? } else { path.to_path_buf() };
    if !file.exists() {
        return Err(Error::invalid(format!("there is no compiled model at {}", path.display())));
    }
    // A name without a directory would be searched for in the system's places.
    let absolute = std::path::absolute(&file).map_err(|e| Error::io("cannot find", &file, e))?;
    // SAFETY: the caller trusts the library, as the documentation says.
    let library = unsafe { Library::new(&absolute) }
        .map_err(|e| Error::invalid(format!("cannot load {}: {e}", file.display())))?;
    let library = Arc::new(library);
    let address = |name: &str| symbol(&library, name, &file);
    // SAFETY: packages hold a NUL-terminated text under this name.
    let text = unsafe { CStr::from_ptr(address(package::SIGNATURE_SYMBOL)?.cast::<c_char>()) };
    let signature: Signature = serde_json::from_slice(text.to_bytes()).map_err(|e| {
        Error::invalid(format!(
            "{} was made by another version of Phaseline ({e}): compile the model again",
            file.display()
        ))
    })?;
    let entry = address(&format!("{}_invoke", signature.name))?;
    let constants = if signature.constants_bytes > 0 {
        address(&format!("{}_constants", signature.name))?
    } else {
        std::ptr::null()
    };
    // SAFETY: the library was made by `package::write`, whose entry point has this type; it stays
    // loaded as long as the executable.
    unsafe {
        let invoke = std::mem::transmute::<*const c_void, Invoke>(entry);
        let constants = Constants::Linked(constants);
        Executable::new(signature, invoke, constants, Box::new(library.clone()), &address)
    }
}

fn library_in(folder: &Path) -> Result<PathBuf> {
    let metadata = package::Metadata::read(folder)?;
    metadata.machine.check_runs_here()?;
    Ok(folder.join(package::shared_library_name(&metadata.signature.name)))
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
