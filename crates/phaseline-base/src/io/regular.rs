//! Opening files that a user, a model or a manifest names.
//!
//! Such a path may be a named pipe that nobody writes to, or a device without an end: reading it
//! would hang. Only regular files are read.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading; anything but a regular file is an error.
///
/// The check is of the open file, so that it cannot be exchanged in between. Opening does not wait
/// for the other end of a pipe, nor take over a terminal.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| explain(path, error))?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    Err(refusal(metadata.file_type()))
}

/// Reads a regular file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of UTF-8 text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let (mut file, _) = open_regular(path)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// A socket cannot be opened at all.
fn explain(path: &Path, error: io::Error) -> io::Error {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => refusal(metadata.file_type()),
        _ => error,
    }
}

fn refusal(kind: FileType) -> io::Error {
    let what = if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "no regular file"
    };
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, expected a file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_text(&file).unwrap(), "text");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_regular(&link).unwrap(), b"text");
        let error = |path: &Path| read_regular(path).unwrap_err().to_string();
        let pipe = dir.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name is a live string that ends in zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(error(&pipe), "it is a pipe, expected a file");
        let pipe_link = dir.path().join("pipe link");
        std::os::unix::fs::symlink(&pipe, &pipe_link).unwrap();
        assert_eq!(error(&pipe_link), "it is a pipe, expected a file");
        assert_eq!(error(Path::new("/dev/zero")), "it is a device, expected a file");
        assert_eq!(error(dir.path()), "it is a directory, expected a file");
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(error(&socket), "it is a socket, expected a file");
        assert!(error(&dir.path().join("none")).contains("No such file"));
    }
}
