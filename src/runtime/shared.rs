//! The shared libraries that a target's code is linked with.

use crate::{Error, Result, codegen::c::tool::Tool, process::Folder};
use libloading::os::unix::{Library as Raw, RTLD_GLOBAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// A shared library whose symbols code in this process can use.
#[derive(Debug)]
pub struct Library {
    _raw: Raw,
}

/// Libraries that every process has already; their development files are often linker scripts.
const STANDARD: [&str; 5] = ["c", "m", "dl", "pthread", "rt"];

/// Loads the libraries that `-lNAME` and paths of shared objects among a linker's arguments name;
/// `-LDIR` and `-Wl,-rpath,DIR` are searched first. Other arguments mean nothing here. A static
/// library is linked into a shared one first, by the compiler `cc`.
pub fn load_libraries(flags: &[String], cc: &str) -> Result<Vec<Library>> {
    let folder = |flag: &String| {
        let path = flag.strip_prefix("-L").or_else(|| flag.strip_prefix("-Wl,-rpath,"));
        path.map(PathBuf::from)
    };
    let folders: Vec<PathBuf> = flags.iter().filter_map(folder).collect();
    let mut libraries = vec![];
    for flag in flags {
        let name = flag.strip_prefix("-l").filter(|name| !STANDARD.contains(name));
        if let Some(name) = name {
            libraries.push(load(name, &folders, cc)?);
        } else if flag.ends_with(".so") || flag.contains(".so.") {
            libraries.push(open(Path::new(flag)).map_err(|error| failure(flag, &error))?);
        } else if flag.ends_with(".a") && !flag.starts_with('-') {
            libraries.push(load_static(Path::new(flag), cc)?);
        }
    }
    Ok(libraries)
}

fn load(name: &str, folders: &[PathBuf], cc: &str) -> Result<Library> {
    let file = format!("lib{name}.so");
    // As a linker does: in each folder the shared one goes first.
    for folder in folders {
        let shared = folder.join(&file);
        if shared.is_file() {
            return open(&shared).map_err(|error| failure(name, &error));
        }
        let archive = folder.join(format!("lib{name}.a"));
        if archive.is_file() {
            return load_static(&archive, cc);
        }
    }
    open(Path::new(&file)).map_err(|error| failure(name, &error))
}

/// Links all of a static library into a shared one, which is loaded. Calls inside of the library
/// stay inside.
fn load_static(archive: &Path, cc: &str) -> Result<Library> {
    let folder = Folder::new()?;
    let archive = archive.canonicalize().map_err(|e| Error::io("cannot read", archive, e))?;
    let shared = folder.path().join("library.so");
    let tool = Tool::new(cc).or_else(|_| Tool::new("cc"))?;
    let mut command = tool.command(folder.path());
    command.args(["-shared", "-Wl,-Bsymbolic", "-o"]).arg(&shared);
    command.arg("-Wl,--whole-archive").arg(&archive).args(["-Wl,--no-whole-archive", "-lm"]);
    let advice = |error: String| Error::Tool {
        program: "the loader of static libraries".to_owned(),
        detail: format!(
            "{} cannot be linked into this process: {error}\nto run here, it must be for this machine \
             and of position-independent code: build it with -fPIC (CMake: \
             -DCMAKE_POSITION_INDEPENDENT_CODE=ON), or as a shared library (-DBUILD_SHARED_LIBS=ON), \
             by this machine's compiler",
            archive.display()
        ),
    };
    tool.run(command, &archive.display().to_string()).map_err(|error| advice(error.to_string()))?;
    // The file may go as soon as it is loaded.
    open(&shared).map_err(advice)
}

fn open(path: &Path) -> std::result::Result<Library, String> {
    // SAFETY: the user names the library as part of a target; its initializers run, as they do
    // when a program that is linked with it starts.
    let raw = unsafe { Raw::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    raw.map(|raw| Library { _raw: raw }).map_err(|error| error.to_string())
}

fn failure(name: &str, error: &str) -> Error {
    Error::Tool {
        program: "the loader of shared libraries".to_owned(),
        detail: format!(
            "library '{name}' cannot be loaded: {error}; install its development package, or name \
             its folder with -L in link-flags of the target"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named_and_standard_ones_are_there() {
        let flags =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let empty = tempfile::tempdir().expect("a folder");
        let folder = format!("-L{}", empty.path().display());
        let loaded = load_libraries(&flags(&["-lm", &folder, "-pthread"]), "cc").expect("loads");
        assert!(loaded.is_empty());
        let error = load_libraries(&flags(&["-lno_such_thing"]), "cc").expect_err("fails");
        assert!(error.to_string().contains("'no_such_thing'"), "{error}");
    }
}
