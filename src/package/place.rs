//! Target folder of a package, and protection of the files there.

use super::FileEntry;
use crate::{Error, Result, parallel};
use phaseline_runtime::package::{Digest, METADATA_FILE, is_inside};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

/// An existing package that may be replaced.
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
    check(folder, &find(folder)?, replace)
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

/// Digests of files, each with a stamp that changes when the file does: a compile looks at a
/// package that it replaces before it starts, before it writes and after.
static FOUND: Mutex<BTreeMap<PathBuf, ([i64; 6], Digest)>> = Mutex::new(BTreeMap::new());

/// Digest of a file. Nothing is read if the file has not changed since the last digest.
fn digest(file: &Path, metadata: &fs::Metadata) -> io::Result<Digest> {
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    // From before it is read, so that a change meanwhile is seen the next time.
    let stamp = stamp(metadata);
    if let Some((_, digest)) = found().get(file).filter(|(known, _)| *known == stamp) {
        return Ok(digest.clone());
    }
    let digest = Digest::of(file)?;
    found().insert(file.to_owned(), (stamp, digest.clone()));
    Ok(digest)
}

/// Metadata that the system changes with a file: a program can set back the time of writing, but
/// not that of a change.
fn stamp(found: &fs::Metadata) -> [i64; 6] {
    let (written, changed) = (found.mtime_nsec(), found.ctime_nsec());
    [found.dev() as i64, found.ino() as i64, found.mtime(), written, found.ctime(), changed]
}

/// True if `folder` already has the package in `from`, of these files. Files there then get the
/// current time, by which `make` knows them as new.
///
/// # Errors
/// There is something at `folder` that must not be replaced.
pub(super) fn renew(folder: &Path, from: &Path, files: &[FileEntry]) -> Result<bool> {
    let place = find(folder)?;
    check(folder, &place, Replace::Unchanged)?;
    let description = |folder: &Path| fs::read(folder.join(METADATA_FILE)).ok();
    let old = description(&place);
    if old.is_none() || old != description(from) {
        return Ok(false);
    }
    // Existing files are as they were written; none may be missing.
    let paths = || files.iter().map(|file| place.join(&file.path));
    if !paths().all(|path| path.exists()) {
        return Ok(false);
    }
    let now = SystemTime::now();
    let renewed = paths()
        .chain([place.join(METADATA_FILE)])
        .try_for_each(|path| fs::File::open(path)?.set_modified(now));
    // A file of somebody else cannot be renewed, but perhaps replaced.
    Ok(renewed.is_ok())
}

/// As [`check_target_folder`], with the place that the folder stands for.
pub(super) fn check(folder: &Path, place: &Path, replace: Replace) -> Result<()> {
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
    // Format 3 and older ones have other hashes, or none.
    if old.files.values().any(|file| file.xxh128.is_empty()) {
        return refuse(&format!(
            "has a package of format {}, in which changed files cannot be told from others; add --force, \
             if none is of use",
            old.format
        ));
    }
    let mut others = old.others(place)?;
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

/// The files of a package that is to be replaced, of whichever format.
struct Old {
    format: u64,
    /// Digests of the written files, by path.
    files: BTreeMap<String, Digest>,
    folders: BTreeSet<String>,
}

#[derive(Deserialize)]
struct OldMetadata {
    #[serde(rename = "phaseline_package")]
    format: u64,
    files: Vec<OldFile>,
}

#[derive(Deserialize)]
struct OldFile {
    path: String,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    xxh128: String,
}

impl Old {
    /// The package in a folder, if there is one.
    fn read(place: &Path) -> Option<Self> {
        let path = place.join(METADATA_FILE);
        // Reading a pipe would not end.
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let read: OldMetadata = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        if read.files.is_empty() || read.files.iter().any(|file| !is_inside(&file.path)) {
            return None;
        }
        let (files, folders) = Default::default();
        let mut old = Self { format: read.format, files, folders };
        for file in read.files {
            let folders = file.path.match_indices('/').map(|(end, _)| file.path[..end].to_owned());
            old.folders.extend(folders);
            old.files.insert(file.path, Digest { bytes: file.bytes, xxh128: file.xxh128 });
        }
        Some(old)
    }

    /// The names of entries that are not as they were written.
    fn others(&self, place: &Path) -> Result<Vec<String>> {
        let mut found = vec![];
        self.walk(place, "", &mut found)?;
        let others = parallel::map(found.iter(), |(path, is_file)| {
            let is_same = *is_file && self.is_same(place, path)?;
            let changed = if self.files.contains_key(path) { " (changed)" } else { "" };
            Ok((!is_same).then(|| format!("{path}{changed}")))
        });
        others.into_iter().filter_map(Result::transpose).collect()
    }

    /// Adds all entries below `within`, with true for a file; not the description, nor folders of
    /// listed files.
    fn walk(&self, place: &Path, within: &str, found: &mut Vec<(String, bool)>) -> Result<()> {
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
                self.walk(place, &path, found)?;
            } else if kind.is_dir() {
                found.push((format!("{path}/"), false));
            } else if path != METADATA_FILE {
                found.push((path, kind.is_file()));
            }
        }
        Ok(())
    }

    /// True if a file is as it was written.
    fn is_same(&self, place: &Path, path: &str) -> Result<bool> {
        let Some(listed) = self.files.get(path) else { return Ok(false) };
        let file = place.join(path);
        let fail = |e| Error::io("cannot read", &file, e);
        let found = file.metadata().map_err(fail)?;
        if found.len() != listed.bytes {
            return Ok(false);
        }
        Ok(digest(&file, &found).map_err(fail)? == *listed)
    }
}
