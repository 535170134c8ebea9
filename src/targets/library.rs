//! Libraries of others that packages carry: `[[library]]`.

use super::{TargetInstance, instance::fill};
use crate::{Error, Result, expr::OptionValue};
use std::path::{Path, PathBuf};

/// A library that is copied into packages.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LibraryDecl {
    /// Path of the file: plain in the target's folder, or below a folder that an option names.
    pub file: String,
    /// Path of its licence, likewise.
    pub licence: String,
    /// The boolean option that asks for it; without one it is always copied.
    pub when: Option<String>,
}

/// A file that goes into packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFile {
    /// Path in the package.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// The folder of packages that libraries are in, which shared libraries of models look into.
pub const FOLDER: &str = "lib";

impl TargetInstance {
    /// The libraries that packages carry, and their licences.
    pub fn libraries(&self) -> Result<Vec<LibraryFile>> {
        let asked = |decl: &&LibraryDecl| {
            let set = |name: &String| self.option(name) == Some(&OptionValue::Bool(true));
            decl.when.as_ref().is_none_or(set)
        };
        let mut files = vec![];
        for decl in self.kind.libraries.iter().filter(asked) {
            let (name, bytes) = self.file(&decl.file)?;
            let (licence, text) = self.file(&decl.licence)?;
            files.push(LibraryFile { path: format!("{FOLDER}/{name}"), bytes });
            let path = format!("licences/{}/{name}/{licence}", self.id);
            files.push(LibraryFile { path, bytes: text });
        }
        Ok(files)
    }

    /// The name and the content of a file of a library.
    fn file(&self, declared: &str) -> Result<(String, Vec<u8>)> {
        let fault = |reason: String| {
            Error::invalid(format!("{}: library {declared:?}: {reason}", self.kind.manifest))
        };
        let path = fill(declared, |word| self.word(word)).map_err(fault)?;
        let name = Path::new(&path).file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| fault("names no file".to_owned()))?.to_owned();
        if path == declared {
            return self.kind.read_bytes(&path).map(|bytes| (name, bytes));
        }
        let path = PathBuf::from(path);
        if !path.is_absolute() {
            return Err(fault(format!(
                "{} is not absolute: give the option a folder's whole path",
                path.display()
            )));
        }
        let bytes = crate::io::read_regular(&path);
        let unread = |error| {
            fault(format!(
                "cannot read {}: {error}; packages carry it, unless `when` names an option that is not set",
                path.display()
            ))
        };
        Ok((name, bytes.map_err(unread)?))
    }
}
