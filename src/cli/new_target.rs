//! `phaseline new-target`.

use super::{
    args::NewTargetArgs,
    print,
    templates::{Template, c_name},
};
use crate::{Error, Result, process::Folder, targets::is_name};
use std::path::Path;

/// Writes a target that works, to be changed step by step.
pub fn new_target(args: &NewTargetArgs) -> Result<()> {
    let template = Template::find(&args.template)?;
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
    write(folder, template, &args.name)?;
    let shown = folder.display();
    print(&format!(
        "A target '{name}' is in {shown}: target.toml says what it takes, {c}.c computes.\n\
         Next:\n  \
         phaseline check-target {shown}\n  \
         sh {shown}/test.sh\n  \
         phaseline partition MODEL -t '{name}, llvm' --target-path {shown}\n  \
         phaseline compile MODEL -t '{name}, llvm' --target-path {shown} -o out\n\
         {shown}/README.md explains how to make it yours.\n",
        name = args.name,
        c = c_name(&args.name)
    ))
}

/// Writes all files beside the final place and moves them there at once.
fn write(folder: &Path, template: Template, name: &str) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    let staging = Folder::beside(parent).map_err(|e| Error::io("cannot write into", parent, e))?;
    for (file, text) in template.fill(name) {
        let path = staging.path().join(file);
        let within = path.parent().unwrap_or(staging.path());
        std::fs::create_dir_all(within).map_err(|e| Error::io("cannot create", within, e))?;
        std::fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))?;
    }
    staging.replace(folder).map_err(|error| Error::io("cannot create", folder, error))
}
