//! Reading model inputs and writing model outputs.
//!
//! Two forms are understood: numpy archives (`.npz`, keyed by the model's input and output names;
//! `.npy` for a single one) and directories of ONNX `TensorProto` files (`input_N.pb`,
//! `output_N.pb`, by position).

mod error;
mod files;
pub mod npy;
pub mod npz;
#[cfg(feature = "onnx")]
pub mod onnx_tensor;
pub mod owner;
#[cfg(feature = "onnx")]
pub mod pb;
#[cfg(feature = "onnx")]
pub mod proto;
mod regular;

use std::path::Path;

use indexmap::IndexMap;

use crate::tensor::Tensor;

pub use error::IoError;
pub use files::{load_bytes, release_pages, write_atomic, write_bytes};
pub use regular::{open_regular, read_regular, read_text};

/// Kind of a path of inputs or outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Npz,
    Npy,
    Directory,
}

fn kind_of(path: &Path) -> Result<Kind, IoError> {
    if path.is_dir() {
        return Ok(Kind::Directory);
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Ok(Kind::Npz),
        Some("npy") => Ok(Kind::Npy),
        None => Ok(Kind::Directory),
        // Nothing but a directory can be meant by a path that ends in a separator.
        Some(_) if path.as_os_str().to_string_lossy().ends_with('/') => Ok(Kind::Directory),
        Some(other) => Err(IoError::path(
            path,
            format!(
                "files of kind `.{other}` are not understood; give a .npz file, a .npy file, or \
                 a directory of .pb files"
            ),
        )),
    }
}

/// Reads a value for each of `names`, the inputs of a model in order, and returns them in that
/// order.
///
/// `path` is a `.npz` (arrays that are no inputs are passed over), a `.npy` (for a model with one
/// input), or a directory with `input_0.pb`, `input_1.pb`, and so on.
pub fn load_inputs(path: &Path, names: &[String]) -> Result<IndexMap<String, Tensor>, IoError> {
    load_some_inputs(path, names, &|_| true)
}

/// As [`load_inputs`], for the inputs that are wanted; a directory has the places of all.
pub fn load_some_inputs(
    path: &Path,
    names: &[String],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<IndexMap<String, Tensor>, IoError> {
    let some: Vec<String> = names.iter().filter(|name| wanted(name)).cloned().collect();
    match kind_of(path)? {
        Kind::Npz => {
            let mut archive = npz::Npz::open(path)?;
            let mut inputs = IndexMap::new();
            for name in &some {
                let tensor = archive.get(name).unwrap_or_else(|| {
                    let there: Vec<_> = archive.names().map(|n| format!("`{n}`")).collect();
                    Err(IoError::MissingInput {
                        path: path.to_path_buf(),
                        name: name.clone(),
                        message: format!("the archive holds {}", list_or_nothing(&there)),
                    })
                })?;
                inputs.insert(name.clone(), tensor);
            }
            Ok(inputs)
        }
        Kind::Npy => {
            let [name] = &some[..] else {
                let message = format!(
                    "a .npy file holds one array, but the model has {} inputs; give a .npz file",
                    some.len()
                );
                return Err(IoError::path(path, message));
            };
            let bytes = files::load_bytes(path)?;
            let tensor = npy::parse(&path.display().to_string(), &bytes)?;
            Ok(IndexMap::from([(name.clone(), tensor)]))
        }
        #[cfg(feature = "onnx")]
        Kind::Directory => pb::read_inputs(path, names, wanted),
        #[cfg(not(feature = "onnx"))]
        Kind::Directory => Err(without_onnx(path)),
    }
}

#[cfg(not(feature = "onnx"))]
fn without_onnx(path: &Path) -> IoError {
    let message = "directories of .pb files need the feature `onnx`, which this build is without";
    IoError::path(path, message)
}

fn list_or_nothing(items: &[String]) -> String {
    if items.is_empty() { "nothing".to_string() } else { items.join(", ") }
}

/// Writes the outputs of a model, in order: to a `.npz` by name, to a `.npy` if there is one, or
/// to a directory as `output_0.pb`, `output_1.pb`, and so on.
///
/// An existing archive, array or set of output files is replaced; anything else that stands in the
/// way is an error. Each file appears only when it is complete.
pub fn save_outputs(path: &Path, tensors: &IndexMap<String, Tensor>) -> Result<(), IoError> {
    match kind_of(path)? {
        Kind::Npz => {
            refuse_other_content(path, b"PK", ".npz archive")?;
            npz::write(path, tensors)
        }
        Kind::Npy => {
            let Some((_, tensor)) = tensors.iter().next().filter(|_| tensors.len() == 1) else {
                let message = format!(
                    "a .npy file holds one array, but there are {} outputs; give a .npz file",
                    tensors.len()
                );
                return Err(IoError::path(path, message));
            };
            refuse_other_content(path, b"\x93NUMPY", ".npy array")?;
            files::write_atomic(path, |file| {
                npy::write(tensor, file).map_err(|error| IoError::file("write", path, error))
            })
        }
        Kind::Directory if path.exists() && !path.is_dir() => {
            Err(IoError::path(path, "is a file, expected a directory or a name ending in .npz"))
        }
        #[cfg(feature = "onnx")]
        Kind::Directory => pb::write_outputs(path, tensors),
        #[cfg(not(feature = "onnx"))]
        Kind::Directory => Err(without_onnx(path)),
    }
}

/// Protects an existing file that only by its name looks like one of ours.
fn refuse_other_content(path: &Path, magic: &[u8], kind: &str) -> Result<(), IoError> {
    use std::io::Read;
    // Opening a pipe would wait for its other end.
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let mut file = match regular::open_regular(path) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(IoError::file("read", path, error)),
    };
    let mut start = Vec::new();
    file.by_ref()
        .take(magic.len() as u64)
        .read_to_end(&mut start)
        .map_err(|error| IoError::file("read", path, error))?;
    if start.is_empty() || start == magic {
        return Ok(());
    }
    Err(IoError::path(path, format!("exists and is not a {kind}; remove it first")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn outputs(list: &[(&str, f32)]) -> IndexMap<String, Tensor> {
        list.iter().map(|(n, v)| (n.to_string(), Tensor::scalar(*v).unwrap())).collect()
    }

    #[test]
    fn npz_inputs_come_in_model_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in.npz");
        save_outputs(&path, &outputs(&[("a", 1.0), ("b", 2.0), ("c", 3.0)])).unwrap();
        let inputs = load_inputs(&path, &names(&["c", "a"])).unwrap();
        assert_eq!(inputs.keys().collect::<Vec<_>>(), ["c", "a"]);
        let message = load_inputs(&path, &names(&["a", "d"])).unwrap_err().to_string();
        assert!(message.contains("input `d`") && message.contains("`a`, `b`, `c`"), "{message}");
    }

    #[test]
    fn npy_is_for_one_tensor() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.npy");
        save_outputs(&path, &outputs(&[("y", 4.0)])).unwrap();
        assert_eq!(load_inputs(&path, &names(&["x"])).unwrap()["x"].to_f64(), [4.0]);
        assert!(load_inputs(&path, &names(&["x", "z"])).is_err());
        assert!(save_outputs(&path, &outputs(&[("y", 4.0), ("z", 1.0)])).is_err());
    }

    #[test]
    fn foreign_files_survive() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["out.npz", "out.npy", "plain"] {
            let path = dir.path().join(file);
            std::fs::write(&path, "precious").unwrap();
            let message = save_outputs(&path, &outputs(&[("y", 1.0)])).unwrap_err().to_string();
            assert!(message.contains(file), "{message}");
            assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        }
        let message = save_outputs(&dir.path().join("out.txt"), &outputs(&[("y", 1.0)]));
        assert!(message.unwrap_err().to_string().contains(".npz"));
        let missing = load_inputs(&dir.path().join("none.npz"), &names(&["x"])).unwrap_err();
        assert!(missing.to_string().contains("none.npz"), "{missing}");
    }
}
