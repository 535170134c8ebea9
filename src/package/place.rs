//! Where a package goes, and what may be lost there.

use super::metadata::{self, digest, is_inside};
use crate::{Error, Result};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What may be replaced where a package goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// A package that is as it was written: all that is lost can be made again.
    #[default]
    Unchanged,
    /// A package with all that has been put there or changed since.
    Anything,
}

/// Fails if a package must not be written to `folder`, which holds something else.
pub fn check_target_folder(folder: &Path, replace: Replace) -> Result<()> {
    check(folder, &find(folder)?, replace, &mut Known::default())
}

/// The place that `folder` stands for: where a link leads, which may be nowhere yet.
pub(super) fn find(folder: &Path) -> Result<PathBuf> {
    const LINKS: usize = 40;
    let fail = |e| Error::io("cannot find", folder, e);
    let mut place = std::path::absolute(folder).map_err(fail)?;
    for _ in 0..LINKS {
        // A separator at the end would have the link followed.
        let plain: PathBuf = place.components().collect();
        if !plain.is_symlink() {
            // `..` is the parent of what a link leads to.
            return Ok(plain.canonicalize().unwrap_or(plain));
        }
        let target = fs::read_link(&plain).map_err(fail)?;
        place = plain.parent().unwrap_or(Path::new("/")).join(target);
    }
    Err(Error::invalid(format!("{} is a link to itself", folder.display())))
}

/// Files that were found to be as they were written, with what changes when they do.
#[derive(Default)]
pub(super) struct Known(BTreeMap<PathBuf, [i64; 6]>);

/// As [`check_target_folder`], with the place that the folder stands for. Of files that are known, and have not
/// changed since, nothing is read.
pub(super) fn check(
    folder: &Path,
    place: &Path,
    replace: Replace,
    known: &mut Known,
) -> Result<()> {
    let refuse = |reason: &str| {
        Err(Error::invalid(format!(
            "{} {reason}; choose another output directory or remove it",
            folder.display()
        )))
    };
    if !place.exists() {
        return Ok(());
    }
    if !place.is_dir() {
        return refuse("is a file");
    }
    let mut entries = fs::read_dir(place).map_err(|e| Error::io("cannot read", folder, e))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let Some(old) = Old::read(place) else {
        return refuse("is not empty and not a compiled model");
    };
    if replace == Replace::Anything {
        return Ok(());
    }
    let mut others = vec![];
    old.find_others(place, "", &mut others, known)?;
    if others.is_empty() {
        return Ok(());
    }
    const SHOWN: usize = 8;
    let count = others.len();
    others.truncate(SHOWN);
    let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    Err(Error::invalid(format!(
        "{} has files that are not as the package there was written, and would be lost: {}{more}; \
         move them, choose another output directory, or add --force",
        folder.display(),
        others.join(", ")
    )))
}

/// What the system changes with a file: a program can set back the time of writing, but not that of a change.
fn stamp(found: &fs::Metadata) -> [i64; 6] {
    let (written, changed) = (found.mtime_nsec(), found.ctime_nsec());
    [found.dev() as i64, found.ino() as i64, found.mtime(), written, found.ctime(), changed]
}

/// The files of a package that is to be replaced, of whichever format.
struct Old {
    /// Size and SHA-256, by path.
    files: BTreeMap<String, (u64, String)>,
    folders: BTreeSet<String>,
}

#[derive(Deserialize)]
struct OldMetadata {
    #[serde(rename = "phaseline_package")]
    _format: u64,
    files: Vec<OldFile>,
}

#[derive(Deserialize)]
struct OldFile {
    path: String,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    sha256: String,
}

impl Old {
    /// The package in a folder, if there is one.
    fn read(place: &Path) -> Option<Self> {
        let path = place.join(metadata::FILE);
        // Reading a pipe would not end.
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let read: OldMetadata = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        if read.files.is_empty() || read.files.iter().any(|file| !is_inside(&file.path)) {
            return None;
        }
        let mut old = Self { files: BTreeMap::new(), folders: BTreeSet::new() };
        for file in read.files {
            let folders = file.path.match_indices('/').map(|(end, _)| file.path[..end].to_owned());
            old.folders.extend(folders);
            old.files.insert(file.path, (file.bytes, file.sha256));
        }
        Some(old)
    }

    /// Adds the names of what is below `within` and not as it was written.
    fn find_others(
        &self,
        place: &Path,
        within: &str,
        others: &mut Vec<String>,
        known: &mut Known,
    ) -> Result<()> {
        let folder = place.join(within);
        let fail = |e| Error::io("cannot read", &folder, e);
        let mut names = vec![];
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if within.is_empty() { name } else { format!("{within}/{name}") };
            names.push((path, entry.file_type().map_err(fail)?));
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (path, kind) in names {
            if kind.is_dir() && self.folders.contains(&path) {
                self.find_others(place, &path, others, known)?;
            } else if kind.is_dir() {
                others.push(format!("{path}/"));
            } else if path != metadata::FILE
                && !(kind.is_file() && self.is_same(place, &path, known)?)
            {
                let listed = self.files.contains_key(&path);
                others.push(if listed { format!("{path} (changed)") } else { path });
            }
        }
        Ok(())
    }

    /// Whether a file is as it was written.
    fn is_same(&self, place: &Path, path: &str, known: &mut Known) -> Result<bool> {
        let Some((bytes, sha256)) = self.files.get(path) else { return Ok(false) };
        let file = place.join(path);
        let fail = |e| Error::io("cannot read", &file, e);
        let found = file.metadata().map_err(fail)?;
        if found.len() != *bytes {
            return Ok(false);
        }
        // From before it is read, so that a change meanwhile is seen the next time.
        let stamp = stamp(&found);
        if known.0.get(&file) == Some(&stamp) {
            return Ok(true);
        }
        let same = digest(&file).map_err(fail)?.1 == *sha256;
        if same {
            known.0.insert(file, stamp);
        }
        Ok(same)
    }
}
