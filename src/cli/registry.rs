//! Targets that a command knows: the built-in ones, those of directories, and aliases.

use super::{args::RegistryArgs, print_error};
use crate::{
    Error, Result, Toolkit,
    io::owner,
    targets::{Alias, CONFIG, Config, Registry, TargetSpec},
};
use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The known targets.
pub struct Known {
    /// All kinds and aliases.
    pub registry: Registry,
    /// Directories with targets, for what runs the compile.
    pub paths: Vec<PathBuf>,
}

impl Known {
    /// Reads the arguments of a command, the configuration and the environment.
    pub fn of(toolkit: &Toolkit, args: &RegistryArgs) -> Result<Self> {
        Self::with_directory(toolkit, args, None)
    }

    /// The same with one more directory, unless it is there already.
    pub fn with_directory(
        toolkit: &Toolkit,
        args: &RegistryArgs,
        directory: Option<&Path>,
    ) -> Result<Self> {
        let config = match &args.config {
            Some(file) => Config::read(file)?,
            None => current()?,
        };
        let mut paths = super::data::target_path(&args.target_path);
        // A directory that is named twice is one.
        for path in config.target_path.iter().map(PathBuf::as_path).chain(directory) {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if !paths.iter().any(|known| real(known) == real(path)) {
                paths.push(path.to_owned());
            }
        }
        let mut registry = toolkit.registry()?;
        for path in &paths {
            registry.add_path(path)?;
        }
        config.add_aliases(&mut registry)?;
        for (name, spec) in &args.alias {
            let place = "--alias".to_owned();
            let alias = Alias { spec: spec.clone(), doc: String::new(), place };
            registry.add_alias(name, alias)?;
        }
        Ok(Self { registry, paths })
    }

    /// A spec without aliases, as text; one that has none stays as it is.
    pub fn expanded(&self, text: &str) -> Result<String> {
        let spec: TargetSpec = text.parse()?;
        let expanded = self.registry.expand(&spec)?;
        Ok(if expanded == spec { text.to_owned() } else { expanded.to_string() })
    }
}

/// The configuration in the current folder, if there is one that nobody else could have written.
fn current() -> Result<Config> {
    let path = Path::new(CONFIG);
    let Some(found) = path.metadata().ok().filter(std::fs::Metadata::is_file) else {
        return Ok(Config::default());
    };
    // Groups may share their projects.
    let shared = found.mode() & 0o002 == 0;
    let Some(fault) = owner::fault(&found, shared) else { return Config::read(path) };
    print_error(&format!(
        "warning: {CONFIG} is not read: it {fault}, and could have a target's programs run; if they are to be \
         trusted, add --config {CONFIG}\n"
    ));
    Ok(Config::default())
}

/// Reads `NAME=SPEC`.
pub fn parse_alias(text: &str) -> Result<(String, TargetSpec), Error> {
    let (name, spec) = text.split_once('=').ok_or_else(|| {
        Error::invalid("write it as NAME=SPEC, such as --alias edge='npu -sram=64k, llvm'")
    })?;
    Ok((name.trim().to_owned(), spec.parse()?))
}
