//! numpy's `.npz` format: a zip archive with one `.npy` entry per array.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use indexmap::IndexMap;
use zip::read::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime, System};

use crate::tensor::Tensor;

use super::{IoError, files, npy};

/// Bytes that an archive may inflate to whatever its size: a small one may stand for any number
/// of them.
const MAX_INFLATED: u64 = 1 << 30;

/// Times its size that a larger archive may inflate to. Arrays of data shrink much less.
const MAX_RATIO: u64 = 100;

/// The `.npz` archive at `path`, opened.
pub struct Npz {
    place: String,
    /// Bytes that compressed entries may still become.
    inflatable: u64,
    archive: ZipArchive<Cursor<bytes::Bytes>>,
    /// Array names (without `.npy`) and their entry numbers, in archive order.
    entries: IndexMap<String, usize>,
}

impl Npz {
    /// Opens an archive and lists it; arrays are read when asked for.
    pub fn open(path: &Path) -> Result<Self, IoError> {
        let place = path.display().to_string();
        let damaged =
            |error| IoError::format(&place, format!("not a readable .npz (zip) archive: {error}"));
        let bytes = files::load_bytes(path)?;
        let inflatable = (bytes.len() as u64).saturating_mul(MAX_RATIO).max(MAX_INFLATED);
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        let mut entries = IndexMap::new();
        for number in 0..archive.len() {
            let entry = archive.by_index_raw(number).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.into_owned();
            let array = name.strip_suffix(".npy").unwrap_or(&name).to_string();
            if !entry.is_dir() && entries.insert(array, number).is_some() {
                return Err(IoError::format(&place, format!("entry `{name}` occurs twice")));
            }
        }
        Ok(Self { place, inflatable, archive, entries })
    }

    /// Names of the arrays, in archive order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Reads one array; `None` when there is none of that name.
    pub fn get(&mut self, name: &str) -> Option<Result<Tensor, IoError>> {
        let number = *self.entries.get(name)?;
        Some(self.read_entry(name, number))
    }

    fn read_entry(&mut self, name: &str, number: usize) -> Result<Tensor, IoError> {
        let place = format!("{}: entry `{name}`", self.place);
        let damaged = |error: &dyn std::fmt::Display| {
            IoError::format(&place, format!("cannot be read: {error}"))
        };
        let mut entry = self.archive.by_index(number).map_err(|error| damaged(&error))?;
        // A damaged archive may declare any size, and an entry be of another one.
        let declared = entry.size();
        if entry.compression() != CompressionMethod::Stored {
            self.inflatable = self.inflatable.checked_sub(declared).ok_or_else(|| {
                damaged(&format!(
                    "inflates to {declared} bytes, too many for an archive of this size; save it \
                     without compression (numpy.savez)"
                ))
            })?;
        }
        let mut bytes = Vec::with_capacity(declared.min(1 << 20) as usize);
        let mut limited = entry.by_ref().take(declared.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        if bytes.len() as u64 != declared {
            let real =
                if bytes.len() as u64 > declared { "more".into() } else { bytes.len().to_string() };
            return Err(damaged(&format!("it declares {declared} bytes, but has {real}")));
        }
        npy::parse(&place, &bytes)
    }
}

/// Reads all arrays of an archive, in archive order.
pub fn read(path: &Path) -> Result<IndexMap<String, Tensor>, IoError> {
    let mut archive = Npz::open(path)?;
    let entries: Vec<_> = archive.entries.clone().into_iter().collect();
    entries
        .into_iter()
        .map(|(name, number)| Ok((name.clone(), archive.read_entry(&name, number)?)))
        .collect()
}

/// Writes arrays to an archive, uncompressed and without times, so that equal tensors give equal
/// bytes. The file appears only when it is complete.
pub fn write(path: &Path, tensors: &IndexMap<String, Tensor>) -> Result<(), IoError> {
    files::write_atomic(path, |file| write_archive(path, tensors, file))
}

fn write_archive(
    path: &Path,
    tensors: &IndexMap<String, Tensor>,
    file: &mut File,
) -> Result<(), IoError> {
    let failed = |error: std::io::Error| IoError::file("write", path, error);
    let mut archive = ZipWriter::new(Latch::new(std::io::BufWriter::new(file)));
    for (name, tensor) in tensors {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::DEFAULT)
            .system(System::Unix)
            .unix_permissions(0o644)
            .large_file(tensor.bytes().len() >= 1 << 31);
        archive.start_file(format!("{name}.npy"), options).map_err(|error| failed(error.into()))?;
        npy::write(tensor, &mut archive).map_err(failed)?;
    }
    let mut latch = archive.finish().map_err(|error| failed(error.into()))?;
    // It keeps the error.
    let _ = latch.flush();
    latch.error.map_or(Ok(()), |error| Err(failed(error)))
}

/// A writer that keeps its first error to itself, and from then on drops the bytes that it takes.
/// A zip archive that cannot be written would complain on standard error when it is dropped.
struct Latch<W> {
    inner: W,
    position: u64,
    error: Option<std::io::Error>,
}

impl<W: Write + Seek> Latch<W> {
    fn new(inner: W) -> Self {
        Self { inner, position: 0, error: None }
    }
}

impl<W: Write> Write for Latch<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.error.is_none() {
            self.error = self.inner.write_all(bytes).err();
        }
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.error.is_none() {
            self.error = self.inner.flush().err();
        }
        Ok(())
    }
}

impl<W: Write + Seek> Seek for Latch<W> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        if self.error.is_none() {
            match self.inner.seek(to) {
                Ok(position) => self.position = position,
                Err(error) => self.error = Some(error),
            }
        }
        if self.error.is_some() {
            self.position = match to {
                SeekFrom::Start(position) => position,
                SeekFrom::Current(by) => self.position.saturating_add_signed(by),
                SeekFrom::End(_) => self.position,
            };
        }
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    fn sample() -> IndexMap<String, Tensor> {
        let shapes: [(&str, DType, &[usize]); 4] = [
            ("x", DType::F32, &[2, 3]),
            ("mask/0:1", DType::Bool, &[4]),
            ("scalar", DType::F64, &[]),
            ("empty", DType::I64, &[0, 2]),
        ];
        shapes.iter().map(|(n, d, s)| (n.to_string(), Tensor::random(*d, s, 5).unwrap())).collect()
    }

    #[test]
    fn archives_round_trip_and_are_reproducible() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a.npz"), dir.path().join("b.npz"));
        write(&a, &sample()).unwrap();
        assert_eq!(read(&a).unwrap(), sample());
        write(&b, &sample()).unwrap();
        assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
    }

    /// An archive with one compressed entry of zeros.
    fn compressed(path: &Path, zeros: u64) {
        let mut archive = ZipWriter::new(File::create(path).unwrap());
        archive.start_file("x.npy", SimpleFileOptions::default()).unwrap();
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({zeros},), }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        std::io::copy(&mut std::io::repeat(0).take(zeros), &mut archive).unwrap();
        archive.finish().unwrap();
    }

    #[test]
    fn archives_inflate_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npz");
        // Zeros shrink to a thousandth.
        compressed(&path, 20 << 20);
        assert_eq!(read(&path).unwrap()["x"].len(), 20 << 20);
        let good = std::fs::read(&path).unwrap();
        // The size is declared in the directory at the end; a local header comes before the data.
        let directory = good.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        let declare = |size: u32| {
            let mut bad = good.clone();
            bad[directory + 24..directory + 28].copy_from_slice(&size.to_le_bytes());
            std::fs::write(&path, bad).unwrap();
            read(&path).unwrap_err().to_string()
        };
        let message = declare(1000);
        assert!(message.contains("declare"), "{message}");
        let message = declare(3 << 30);
        assert!(message.contains("inflates to 3221225472 bytes, too many"), "{message}");
    }

    #[test]
    fn a_full_disk_is_one_error() {
        let message = write(Path::new("/dev/full"), &sample()).unwrap_err().to_string();
        assert_eq!(message, "cannot write /dev/full: No space left on device (os error 28)");
    }

    #[test]
    fn damaged_archives_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npz");
        write(&path, &sample()).unwrap();
        let good = std::fs::read(&path).unwrap();
        for cut in (0..good.len()).step_by(7) {
            std::fs::write(&path, &good[..cut]).unwrap();
            let message = read(&path).unwrap_err().to_string();
            assert!(message.contains("a.npz"), "{message}");
        }
        for position in (0..good.len()).step_by(3) {
            let mut bad = good.clone();
            bad[position] ^= 0x55;
            std::fs::write(&path, &bad).unwrap();
            // Either detected or harmless; never a panic.
            let _ = read(&path);
        }
    }
}
