//! Content of the files of a package: digests, and copies that are checked.

use rustix::fs::ioctl_ficlone;
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};
use twox_hash::XxHash3_128;

/// Size and XXH3 hash of a file, the 128 bits in hexadecimal digits: what `xxh128sum` prints.
///
/// It finds damage, not forgery: whoever can change a file can change what a package lists, and code that runs has
/// to be trusted anyway. SHA-256 would take four times as long, for a large model half of a compile that is cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Its size.
    pub bytes: u64,
    /// Its hash.
    pub xxh128: String,
}

impl Digest {
    /// Digest of a file.
    pub fn of(path: &Path) -> io::Result<Self> {
        let (file, _) = crate::io::open_regular(path)?;
        Self::read(file, |_| Ok(()))
    }

    /// Copies a file with its permissions, and returns the digest of the copy. The files share
    /// their bytes where the file system can.
    pub fn of_copied(from: &Path, to: &Path) -> io::Result<Self> {
        let (source, metadata) = crate::io::open_regular(from)?;
        let mut copy = File::create(to)?;
        let digest = match ioctl_ficlone(&copy, &source) {
            Ok(()) => Self::read(source, |_| Ok(())),
            Err(_) => Self::read(source, |bytes| copy.write_all(bytes)),
        }?;
        copy.set_permissions(metadata.permissions())?;
        Ok(digest)
    }

    /// Digest of the rest of a file, which `each` gets piece by piece.
    fn read(mut file: File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Self> {
        // A piece that stays in the processor's cache between reading, hashing and writing.
        let mut buffer = vec![0; 1 << 18];
        let mut hash = XxHash3_128::new();
        let mut bytes = 0;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    hash.write(&buffer[..count]);
                    each(&buffer[..count])?;
                    bytes += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { bytes, xxh128: format!("{:032x}", hash.finish_128()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn digests_are_those_of_xxh128sum() {
        let folder = tempfile::tempdir().unwrap();
        let (file, copy) = (folder.path().join("a"), folder.path().join("b"));
        // The reference implementation gives this for no bytes at all.
        fs::write(&file, "").unwrap();
        let empty = Digest { bytes: 0, xxh128: "99aa06d3014798d86001c324468d497f".to_owned() };
        assert_eq!(Digest::of(&file).unwrap(), empty);
        let bytes: Vec<u8> = (0..700_001_u32).map(|n| (n % 251) as u8).collect();
        fs::write(&file, &bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let whole = format!("{:032x}", XxHash3_128::oneshot(&bytes));
        let digest = Digest { bytes: bytes.len() as u64, xxh128: whole };
        assert_eq!(Digest::of(&file).unwrap(), digest);
        assert_eq!(Digest::of_copied(&file, &copy).unwrap(), digest);
        assert_eq!(fs::read(&copy).unwrap(), bytes);
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }
}
