//! Bytecode, which MLIR's reader trusts: damaged bytes make it write out of bounds, or go in circles.
//! A process of its own reads it and prints text, so that only that process ends.

use super::print;
use crate::{
    Error, Result, Toolkit,
    import::{self, Source, mlir::Ir},
    io,
    ir::{
        self,
        print::{Weights, print_module},
    },
    process,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{ffi::OsString, io::Read, path::Path, process::Command, sync::OnceLock};

/// The words that start the program, where it is no program of its own.
static OWN: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says how to start the program in another process.
pub fn start_by(words: Vec<OsString>) {
    // Once is enough: they are the same each time.
    let _ = OWN.set(words);
}

/// Seconds of CPU time that reading takes at most, beside one for each megabyte.
const SECONDS: u64 = 5;

/// Opens a model of any format, as [`import::open`] does; IR may be bytecode too.
pub fn open(path: &Path) -> Result<Box<dyn Source>> {
    if starts_as_bytecode(path) { text(path) } else { import::open(path) }
}

/// Files that cannot be read are left to [`import::open`], which says so.
fn starts_as_bytecode(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = io::open_regular(path).and_then(|(mut file, _)| file.read_exact(&mut start));
    read.is_ok() && ir::is_bytecode(&start)
}

fn text(path: &Path) -> Result<Box<dyn Source>> {
    let failure = |error| Error::io("cannot start a second", Path::new("phaseline"), error);
    let own = OWN.get().filter(|words| !words.is_empty());
    let mut command = match own {
        Some(words) => {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            command
        }
        None => Command::new(std::env::current_exe().map_err(failure)?),
    };
    // What it says is read here, so that it says nothing but errors.
    command.env_remove(super::data::LOG);
    let output = process::output(command.arg("print-bytecode").arg(path)).map_err(failure)?;
    if output.status.success() {
        return Ok(Box::new(Ir::new(path, output.stdout)));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(match said.strip_prefix("error: ") {
        Some(said) if output.status.code().is_some() => Error::Diagnostics(said.trim().to_owned()),
        _ => Error::invalid(format!(
            "{} is damaged bytecode: MLIR's reader was {}; write the file again, or give text",
            path.display(),
            process::ending(output.status)
        )),
    })
}

/// Work of the other process: reads bytecode and prints it as text.
pub fn print_bytecode(toolkit: &Toolkit, path: &Path) -> Result<()> {
    let bytes = io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
    limit(Resource::Cpu, SECONDS + (bytes.len() as u64 >> 20));
    limit(Resource::As, (4 << 30) + 64 * bytes.len() as u64);
    limit(Resource::Core, 0);
    let session = super::new_session(toolkit);
    // SAFETY: whatever the reader does to this process, another one looks at its text.
    let module = unsafe { session.parse_bytecode(&bytes, &path.to_string_lossy()) }?;
    print(&print_module(&module, Weights::Print)?)
}

/// A limit that cannot be set is one that is lower already.
fn limit(resource: Resource, most: u64) {
    let now = getrlimit(resource);
    let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: now.maximum });
}
