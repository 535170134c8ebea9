//! Whole-file reading, and writing that never leaves a half-written file behind.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;

use super::IoError;

/// Files above this size are mapped, not read: their pages then load as they are used.
const MAP_THRESHOLD: u64 = 64 << 20;

/// Reads or maps a file.
///
/// A mapped file must not be truncated while the bytes are in use, which holds for models and
/// data of that size in practice: tools replace such files, they do not rewrite them in place.
pub fn load_bytes(path: &Path) -> Result<Bytes, IoError> {
    let fail = |source| IoError::file("read", path, source);
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if metadata.is_dir() {
        return Err(IoError::path(path, "is a directory, expected a file"));
    }
    if metadata.is_file() && metadata.len() > MAP_THRESHOLD {
        // SAFETY: see the contract above; the mapping is private and read-only.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(fail)?;
        return Ok(Bytes::from_owner(map));
    }
    fs::read(path).map(Bytes::from).map_err(fail)
}

/// Writes a file through a temporary one beside it, which is renamed when it is complete.
pub fn write_atomic(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let fail = |source| IoError::file("write", path, source);
    // The system applies the umask to these permissions, as to those of any new file.
    let mut temporary = tempfile::Builder::new()
        .prefix(".phaseline-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .map_err(fail)?;
    fill(temporary.as_file_mut())?;
    temporary.as_file_mut().flush().map_err(fail)?;
    temporary.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}
