//! The shared libraries that a target's code is linked with.

use crate::{Error, Result};
use libloading::os::unix::{Library as Raw, RTLD_GLOBAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// A shared library whose symbols code in this process can use.
#[derive(Debug)]
pub struct Library {
    _raw: Raw,
}

/// What every process has already; their development files are often linker scripts.
const STANDARD: [&str; 5] = ["c", "m", "dl", "pthread", "rt"];

/// Loads what `-lNAME` and paths of shared objects among a linker's arguments name; `-LDIR` and
/// `-Wl,-rpath,DIR` say where to look first. Other arguments mean nothing here.
pub fn load_libraries(flags: &[String]) -> Result<Vec<Library>> {
    let folder = |flag: &String| {
        let path = flag.strip_prefix("-L").or_else(|| flag.strip_prefix("-Wl,-rpath,"));
        path.map(PathBuf::from)
    };
    let folders: Vec<PathBuf> = flags.iter().filter_map(folder).collect();
    let mut libraries = vec![];
    for flag in flags {
        let name = flag.strip_prefix("-l").filter(|name| !STANDARD.contains(name));
        if let Some(name) = name {
            libraries.push(load(name, &folders)?);
        } else if flag.ends_with(".so") || flag.contains(".so.") {
            libraries.push(open(Path::new(flag)).map_err(|error| failure(flag, &error))?);
        }
    }
    Ok(libraries)
}

fn load(name: &str, folders: &[PathBuf]) -> Result<Library> {
    let file = format!("lib{name}.so");
    let local = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
    let path = local.unwrap_or_else(|| PathBuf::from(file));
    open(&path).map_err(|error| failure(name, &error))
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
        assert!(
            load_libraries(&flags(&["-lm", "-L/nowhere", "-pthread"])).expect("loads").is_empty()
        );
        let error = load_libraries(&flags(&["-lno_such_thing"])).expect_err("fails");
        assert!(error.to_string().contains("'no_such_thing'"), "{error}");
    }
}
