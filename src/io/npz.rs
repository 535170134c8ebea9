//! numpy's `.npz` format: a zip archive with one `.npy` entry per array.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use indexmap::IndexMap;
use zip::read::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime, System};

use crate::tensor::Tensor;

use super::{IoError, files, npy};

/// The `.npz` archive at `path`, opened.
pub struct Npz {
    place: String,
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
        Ok(Self { place, archive, entries })
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
        // The declared size is only a hint: a damaged archive may declare anything.
        let mut bytes = Vec::with_capacity(entry.size().min(1 << 20) as usize);
        entry.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
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
    let mut archive = ZipWriter::new(std::io::BufWriter::new(file));
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
    let mut writer = archive.finish().map_err(|error| failed(error.into()))?;
    std::io::Write::flush(&mut writer).map_err(failed)
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
