//! Configurations: what is said of targets once, in place of each command's arguments.

use super::{
    alias::{Alias, read_table},
    registry::Registry,
};
use crate::{Error, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The usual name of a configuration.
pub const CONFIG: &str = "phaseline.toml";

/// Contents of a configuration file.
///
/// ```toml
/// target-path = ["targets"]     # relative to the file
/// [alias]
/// edge = "my-npu -lanes=16, llvm"
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Directories with targets.
    pub target_path: Vec<PathBuf>,
    /// Names for specs.
    pub aliases: Vec<(String, Alias)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RawConfig {
    #[serde(default)]
    target_path: Vec<PathBuf>,
    #[serde(default)]
    alias: toml::Table,
}

impl Config {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self> {
        let text = crate::io::read_text(file).map_err(|e| Error::io("cannot read", file, e))?;
        let place = file.display().to_string();
        let raw: RawConfig = toml::from_str(&text)
            .map_err(|e| Error::invalid(format!("{place}: {}", e.to_string().trim_end())))?;
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let target_path = raw.target_path.iter().map(|path| folder.join(path)).collect();
        Ok(Self { target_path, aliases: read_table(raw.alias, &place)? })
    }

    /// Adds its aliases to a registry.
    pub fn add_aliases(&self, registry: &mut Registry) -> Result<()> {
        let mut aliases = self.aliases.iter();
        aliases.try_for_each(|(name, alias)| registry.add_alias(name, alias.clone()))
    }
}
