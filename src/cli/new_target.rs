//! `phaseline new-target`.

use super::{args::NewTargetArgs, print};
use crate::{Error, Result, process::Folder, targets::is_name};
use std::path::Path;

/// The files of a new target; `@NAME@` and `@C@` stand for its name, as it is and as C has it.
const FILES: [(&str, &str); 4] = [
    ("target.toml", include_str!("new_target/target.toml")),
    ("@C@.c", include_str!("new_target/target.c")),
    ("@C@.mlir", include_str!("new_target/target.mlir")),
    ("README.md", include_str!("new_target/README.md")),
];

/// Writes a target that works, to be changed step by step.
pub fn new_target(args: &NewTargetArgs) -> Result<()> {
    if !is_name(&args.name) {
        return Err(Error::invalid(format!(
            "'{}' is no name for a target: it is to start with a letter and have letters, digits, \
             '-' and '_' only",
            args.name
        )));
    }
    let known = crate::targets::Registry::builtin()?;
    if known.kinds().any(|kind| kind.name == args.name) {
        return Err(Error::invalid(format!(
            "there is a built-in target '{}'; choose another name",
            args.name
        )));
    }
    let folder = &args.directory;
    if folder.exists() {
        return Err(Error::invalid(format!(
            "{} exists; name a directory that is to be created",
            folder.display()
        )));
    }
    write(folder, &args.name)?;
    let shown = folder.display();
    print(&format!(
        "A target '{name}' is in {shown}: target.toml says what it takes, {c}.c computes.\n\
         Next:\n  \
         phaseline check-target {shown}\n  \
         phaseline partition MODEL -t '{name}, llvm' --target-path {shown}\n  \
         phaseline compile MODEL -t '{name}, llvm' --target-path {shown} -o out\n\
         {shown}/README.md explains how to make it yours.\n",
        name = args.name,
        c = c_name(&args.name)
    ))
}

fn c_name(name: &str) -> String {
    name.replace('-', "_")
}

/// Writes all files beside the final place and moves them there at once.
fn write(folder: &Path, name: &str) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    let staging = Folder::beside(parent).map_err(|e| Error::io("cannot write into", parent, e))?;
    for (file, text) in FILES {
        let fill = |text: &str| text.replace("@NAME@", name).replace("@C@", &c_name(name));
        let path = staging.path().join(fill(file));
        std::fs::write(&path, fill(text)).map_err(|e| Error::io("cannot write", &path, e))?;
    }
    staging.replace(folder).map_err(|error| Error::io("cannot create", folder, error))
}
