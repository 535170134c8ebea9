//! `phaseline pages`: man pages and completions of shells, from the declaration of the command line.

use super::args::Cli;
use crate::{Error, Result};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::{fs, path::Path};

/// Writes all of them below a folder.
pub fn write(folder: &Path) -> Result<()> {
    let (man, completions) = (folder.join("man1"), folder.join("completions"));
    for path in [&man, &completions] {
        fs::create_dir_all(path).map_err(|e| Error::io("cannot create", path, e))?;
    }
    let mut command = Cli::command();
    for shell in Shell::value_variants() {
        let made = clap_complete::generate_to(*shell, &mut command, "phaseline", &completions);
        made.map_err(|e| Error::io("cannot write to", &completions, e))?;
    }
    // `phaseline help COMMAND` prints what the page of the command has.
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &man).map_err(|e| Error::io("cannot write to", &man, e))
}
