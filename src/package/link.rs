//! Linking the shared library of a package.

use super::{SIGNATURE_SYMBOL, describe_library, put};
use crate::{
    Error, Result,
    artifact::{Compiled, Object, Signature, has_shared_libraries, shared_library_name},
    codegen::{c::tool::Tool, symbols},
    targets::LIBRARY_FOLDER,
};
use std::{fs, path::Path};

/// Links the shared library with the system's C compiler. Nothing of the machine gets into it: the
/// linker sees relative paths only and leaves the build id out.
pub(super) fn shared(folder: &Path, model: &Compiled, signature: &Signature) -> Result<()> {
    let triple = &model.machine.triple;
    if !has_shared_libraries(triple) {
        return Ok(());
    }
    let name = &model.signature.name;
    let work = folder.join(".objects");
    fs::create_dir(&work).map_err(|e| Error::io("cannot create", &work, e))?;
    put(&work, "exports.map", exports(signature, &model.objects).as_bytes())?;
    let library = shared_library_name(name);
    let tool = Tool::new(&model.cc)?;
    let mut command = tool.command(&work);
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(format!("../{library}"))
        // The weights are in there, and need not be written once more.
        .args(["-Wl,--whole-archive", &format!("../lib{name}.a"), "-Wl,--no-whole-archive"])
        .arg(format!("-Wl,-soname,{library}"));
    let described = format!("{name}_signature");
    if described != SIGNATURE_SYMBOL {
        command.arg(format!("-Wl,--defsym,{SIGNATURE_SYMBOL}={described}"));
    }
    let carried = format!("{LIBRARY_FOLDER}/");
    if model.files.iter().any(|file| file.path.starts_with(&carried)) {
        // The loader takes it from where the library is.
        command.arg(format!("-Wl,-rpath,$ORIGIN/{LIBRARY_FOLDER}"));
    }
    command
        .args([
            "-Wl,--version-script,exports.map",
            "-Wl,--build-id=none",
            "-Wl,-z,noexecstack",
            "-Wl,--no-undefined",
            "-Wl,-s",
        ])
        .args(&model.link)
        .arg("-lm");
    let path = folder.join(&library);
    let made = tool.make(command, &format!("linking {library}"), &path);
    made.map_err(|error| with_remedy(error, triple))?;
    describe_library(&path)?;
    fs::remove_dir_all(&work).map_err(|e| Error::io("cannot remove", &work, e))
}

/// The symbols that others see.
fn exports(signature: &Signature, objects: &[Object]) -> String {
    let name = &signature.name;
    let of_devices: String = signature
        .functions()
        .flat_map(|function| {
            let others = symbols::other_names(objects, function);
            std::iter::once(function.clone()).chain(others)
        })
        .map(|function| format!(" {function};"))
        .collect();
    let trace = match signature.operations.is_empty() {
        true => String::new(),
        false => format!(" {name}_set_trace;"),
    };
    let weights = match signature.weights {
        None => String::new(),
        Some(_) => format!(" {name}_load_weights; {name}_weights; {name}_weights_error;"),
    };
    let pools = signature.pools.iter().filter(|pool| pool.constants_bytes > 0);
    let pools: String =
        pools.map(|pool| format!(" {};", signature.constants_symbol(pool))).collect();
    format!(
        "{{ global: {name}_invoke; {name}_constants;{pools} {SIGNATURE_SYMBOL};{weights}{trace}{of_devices} local: *; }};\n"
    )
}

/// Says what is most likely wrong with the linker when the code is for another machine.
fn with_remedy(error: Error, triple: &str) -> Error {
    match error {
        Error::Tool { program, detail } if !triple.starts_with(std::env::consts::ARCH) => {
            Error::Tool {
                program,
                detail: format!(
                    "{detail}\nthe code is for {triple}: CC has to name a C compiler for it, such \
                     as {triple}-gcc"
                ),
            }
        }
        other => other,
    }
}
