//! `metadata.json`: what is in a package, and whether it still is.

use super::digest::Digest;
use crate::{
    Error, Result,
    artifact::{ArtifactKind, Machine, Signature, TargetPart},
    parallel,
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Component, Path},
};

/// File with the description of a package.
pub const METADATA_FILE: &str = "metadata.json";

/// Version of the layout of packages.
pub const FORMAT: u32 = 4;

/// A file of a package, as `metadata.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path inside of the package.
    pub path: String,
    /// Its kind.
    pub kind: ArtifactKind,
    /// Id of the target that it comes from; none for the whole model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// XXH3 hash of its content, 128 bits in hexadecimal digits: what `xxh128sum` prints.
    pub xxh128: String,
}

/// The description of a package, as `metadata.json` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Version of the layout of packages.
    pub phaseline_package: u32,
    /// Machine of the host's code.
    #[serde(flatten)]
    pub machine: Machine,
    /// Interface of the model.
    pub signature: Signature,
    /// The targets that have code in it.
    pub targets: Vec<TargetPart>,
    /// Every file but this description, in the order of their paths.
    pub files: Vec<FileEntry>,
    /// Arguments for the linker of a program that uses the static library.
    pub link: Vec<String>,
}

impl Metadata {
    /// Reads the description of the package in `folder`.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(METADATA_FILE);
        let text = crate::io::read_regular(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::invalid(format!(
                "{} is not a compiled model: it has no {METADATA_FILE}",
                folder.display()
            )),
            _ => Error::io("cannot read", &path, e),
        })?;
        let fault = |e: serde_json::Error| {
            Error::invalid(format!("{} is not a description of a package: {e}", path.display()))
        };
        // Other formats have other fields.
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(fault)?;
        let format = &value["phaseline_package"];
        if format.is_u64() && *format != FORMAT {
            return Err(Error::invalid(format!(
                "{} has format {format}, this version reads {FORMAT}: compile the model again",
                path.display()
            )));
        }
        serde_json::from_value(value).map_err(fault)
    }

    /// Fails unless each file of the package in `folder` is what was written: of its size, with
    /// its content.
    pub fn check_files(&self, folder: &Path) -> Result<()> {
        parallel::map(self.files.iter(), |file| file.check(folder, true)).into_iter().collect()
    }

    /// The same for all but the content of weights in a file of their own, of which loading them looks at
    /// the start only.
    pub fn check_files_to_load(&self, folder: &Path) -> Result<()> {
        let weights = self.signature.weights.as_ref().map(|weights| &weights.file);
        let check = |file: &FileEntry| file.check(folder, Some(&file.path) != weights);
        parallel::map(self.files.iter(), check).into_iter().collect()
    }
}

impl FileEntry {
    /// True if it is as it was written.
    pub fn has(&self, found: &Digest) -> bool {
        self.bytes == found.bytes && self.xxh128 == found.xxh128
    }

    fn check(&self, folder: &Path, whole: bool) -> Result<()> {
        let path = folder.join(&self.path);
        let fault = |reason: String| {
            Err(Error::invalid(format!(
                "{} {reason}: the package is damaged or put together of others; compile the model \
                 again",
                path.display()
            )))
        };
        if !is_inside(&self.path) {
            return fault("is outside of the package".to_owned());
        }
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return fault(format!("is missing, and {METADATA_FILE} lists it"));
            }
            Err(error) => return Err(Error::io("cannot read", &path, error)),
        };
        if !metadata.is_file() {
            return fault("is no file".to_owned());
        }
        if metadata.len() != self.bytes {
            let (there, listed) = (metadata.len(), self.bytes);
            return fault(format!("has {there} bytes, and {METADATA_FILE} says {listed}"));
        }
        if !whole {
            return Ok(());
        }
        let found = Digest::of(&path).map_err(|e| Error::io("cannot read", &path, e))?;
        if !self.has(&found) {
            return fault(format!(
                "does not have the content (XXH3 hash) that {METADATA_FILE} says"
            ));
        }
        Ok(())
    }
}

/// True if a path in a description stays in the folder of the description.
pub fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
}
