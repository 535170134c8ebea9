//! Whole-file reading, and writing that never leaves a half-written file behind.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use memmap2::{Mmap, UncheckedAdvice};
use tempfile::NamedTempFile;

use crate::process::{self, Mark};

use super::{IoError, regular};

/// Files above this size are mapped, not read: their pages then load as they are used.
const MAP_THRESHOLD: u64 = 64 << 20;

/// The files that are mapped.
static MAPPED: Mutex<Vec<Weak<Mmap>>> = Mutex::new(Vec::new());

/// A mapped file as the owner of its bytes.
struct Mapped(Arc<Mmap>);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Takes pages of mapped files out of this process's memory. Pages that are read again come from
/// the system's cache.
pub fn release_pages() {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    mapped.retain(|map| {
        let Some(map) = map.upgrade() else { return false };
        // SAFETY: nothing was written to the pages, so what is read again is what was there. That it is not done is of no
        // effect but on memory.
        let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
        true
    });
}

/// Reads or maps a file.
///
/// A mapped file must not be truncated while the bytes are in use. This holds for models and data
/// of that size in practice: tools replace such files, they do not rewrite them in place.
pub fn load_bytes(path: &Path) -> Result<Bytes, IoError> {
    let fail = |source| IoError::file("read", path, source);
    let (mut file, metadata) = regular::open_regular(path).map_err(fail)?;
    if metadata.len() > MAP_THRESHOLD {
        // SAFETY: see the contract above; the mapping is private and read-only.
        let map = Arc::new(unsafe { Mmap::map(&file) }.map_err(fail)?);
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.push(Arc::downgrade(&map));
        return Ok(Bytes::from_owner(Mapped(map)));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes.into())
}

/// Writes a file through a temporary one beside it, which is renamed when it is complete. Links
/// keep pointing; into pipes and devices, which cannot be replaced, is written as it comes.
pub fn write_atomic(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), IoError>,
) -> Result<(), IoError> {
    Pending::write(path, fill)?.finish()
}

/// As [`write_atomic`], with all of the content.
pub fn write_bytes(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), IoError> {
    write_atomic(path, |file| {
        file.write_all(bytes.as_ref()).map_err(|source| IoError::file("write", path, source))
    })
}

/// A file that is written, but not in its place yet.
pub struct Pending {
    path: PathBuf,
    /// None if it could not wait.
    temporary: Option<(NamedTempFile, Mark)>,
}

impl Pending {
    /// Writes the file beside its place.
    pub fn write(
        path: &Path,
        fill: impl FnOnce(&mut File) -> Result<(), IoError>,
    ) -> Result<Self, IoError> {
        let fail = |source| IoError::file("write", path, source);
        let there = fs::metadata(path).ok();
        if there.is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let mut file = File::options().write(true).open(path).map_err(fail)?;
            fill(&mut file)?;
            return Ok(Self { path: path.to_path_buf(), temporary: None });
        }
        let path = if path.is_symlink() { path.canonicalize().map_err(fail)? } else { path.into() };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // Removed by its full path, wherever the process is by then.
        let directory = std::path::absolute(directory).map_err(fail)?;
        // The system applies the umask to these permissions, as to those of any new file.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".phaseline-").permissions(Permissions::from_mode(0o666));
        let make = || builder.tempfile_in(&directory);
        let (mut file, mark) = process::temporary(make, |file| file.path()).map_err(fail)?;
        fill(file.as_file_mut())?;
        file.as_file_mut().flush().map_err(fail)?;
        Ok(Self { path, temporary: Some((file, mark)) })
    }

    /// Moves the file to its place.
    pub fn finish(self) -> Result<(), IoError> {
        let Some((file, _mark)) = self.temporary else { return Ok(()) };
        let moved = file.persist(&self.path);
        moved.map_err(|error| IoError::file("write", &self.path, error.error)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAP_THRESHOLD, load_bytes, release_pages};

    #[test]
    fn released_pages_are_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large");
        let bytes: Vec<u8> = (0..MAP_THRESHOLD + 4096).map(|i| (i / 4096 % 251) as u8).collect();
        std::fs::write(&path, &bytes).expect("written");
        let mapped = load_bytes(&path).expect("mapped");
        assert!(mapped == bytes);
        release_pages();
        assert!(mapped == bytes);
        drop(mapped);
        release_pages();
    }
}
