//! What a command knows of targets: the built-in ones, those of directories, and aliases.

use super::args::RegistryArgs;
use crate::{
    Error, Result,
    targets::{Alias, CONFIG, Config, Registry, TargetSpec},
};
use std::path::{Path, PathBuf};

/// The known targets.
pub struct Known {
    /// All kinds and aliases.
    pub registry: Registry,
    /// Directories with targets, for what runs the compile.
    pub paths: Vec<PathBuf>,
}

impl Known {
    /// What the arguments of a command, the configuration and the environment say.
    pub fn of(args: &RegistryArgs) -> Result<Self> {
        Self::with_directory(args, None)
    }

    /// The same with one more directory, unless it is there already.
    pub fn with_directory(args: &RegistryArgs, directory: Option<&Path>) -> Result<Self> {
        let config = match &args.config {
            Some(file) => Config::read(file)?,
            None if Path::new(CONFIG).is_file() => Config::read(Path::new(CONFIG))?,
            None => Config::default(),
        };
        let mut paths = super::data::target_path(&args.target_path);
        // A directory that is named twice is one.
        for path in config.target_path.iter().map(PathBuf::as_path).chain(directory) {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if !paths.iter().any(|known| real(known) == real(path)) {
                paths.push(path.to_owned());
            }
        }
        let mut registry = Registry::builtin()?;
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

/// Reads `NAME=SPEC`.
pub fn parse_alias(text: &str) -> Result<(String, TargetSpec), Error> {
    let (name, spec) = text.split_once('=').ok_or_else(|| {
        Error::invalid("write it as NAME=SPEC, such as --alias edge='npu -sram=64k, llvm'")
    })?;
    Ok((name.trim().to_owned(), spec.parse()?))
}
