//! ONNX test data: serialized `TensorProto` files named `input_N.pb` and `output_N.pb`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use indexmap::IndexMap;
use prost::Message;

use super::{IoError, files};
use crate::{
    io::{onnx_tensor::tensor_from_proto, proto::TensorProto},
    tensor::Tensor,
};

/// Reads one `TensorProto` file: the tensor and the name stored with it (often empty).
pub fn read(path: &Path) -> Result<(String, Tensor), IoError> {
    let place = path.display().to_string();
    let bytes = files::load_bytes(path)?;
    let proto = TensorProto::decode(bytes).map_err(|error| {
        IoError::format(&place, format!("not a serialized ONNX TensorProto: {error}"))
    })?;
    let tensor = tensor_from_proto(&proto).map_err(|message| IoError::format(&place, message))?;
    Ok((proto.name, tensor))
}

/// Writes one `TensorProto` file.
pub fn write(path: &Path, name: &str, tensor: &Tensor) -> Result<(), IoError> {
    files::write_bytes(path, encode(name, tensor))
}

fn encode(name: &str, tensor: &Tensor) -> Vec<u8> {
    TensorProto {
        name: name.to_string(),
        dims: tensor.shape().iter().map(|&dim| dim as i64).collect(),
        data_type: tensor.dtype().onnx_code(),
        raw_data: Some(raw_data(tensor)),
        ..TensorProto::default()
    }
    .encode_to_vec()
}

/// The elements in ONNX's byte order, which is little-endian.
fn raw_data(tensor: &Tensor) -> Bytes {
    if cfg!(target_endian = "little") {
        return tensor.bytes().clone();
    }
    let mut bytes = tensor.bytes().to_vec();
    bytes.chunks_exact_mut(tensor.dtype().size()).for_each(<[u8]>::reverse);
    bytes.into()
}

/// The files `<stem>_N.pb` of a directory by `N`; other files are passed over.
pub fn numbered_files(dir: &Path, stem: &str) -> Result<BTreeMap<usize, PathBuf>, IoError> {
    let fail = |source| IoError::file("read directory", dir, source);
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if let Some(number) = entry.file_name().to_str().and_then(|name| number_of(name, stem)) {
            found.insert(number, entry.path());
        }
    }
    Ok(found)
}

fn number_of(file: &str, stem: &str) -> Option<usize> {
    let digits = file.strip_prefix(stem)?.strip_prefix('_')?.strip_suffix(".pb")?;
    // `parse` alone would also take "+1" and "01".
    let number = digits.parse::<usize>().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// Reads the `input_N.pb` files of a directory; `names` are the model's inputs in order, of which the
/// wanted ones have to be there.
pub fn read_inputs(
    dir: &Path,
    names: &[String],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<IndexMap<String, Tensor>, IoError> {
    let files = numbered_files(dir, "input")?;
    let mut inputs = IndexMap::new();
    for (number, name) in names.iter().enumerate().filter(|(_, name)| wanted(name)) {
        let path = files.get(&number).ok_or_else(|| IoError::MissingInput {
            path: dir.to_path_buf(),
            name: name.clone(),
            message: format!(
                "the file input_{number}.pb is missing ({} input_N.pb files are there, the model \
                 has {} inputs)",
                files.len(),
                names.len()
            ),
        })?;
        inputs.insert(name.clone(), read(path)?.1);
    }
    if let Some((_, path)) = files.range(names.len()..).next() {
        let message = format!("the model has only {} inputs", names.len());
        return Err(IoError::path(path, message));
    }
    Ok(inputs)
}

/// Writes `output_N.pb` files, in the order of the map.
///
/// The directory is made when it is missing. Outputs that it already holds are replaced; when it
/// holds anything else, nothing is written.
pub fn write_outputs(dir: &Path, tensors: &IndexMap<String, Tensor>) -> Result<(), IoError> {
    let fail = |source| IoError::file("write directory", dir, source);
    if dir.exists() {
        refuse_foreign_files(dir)?;
    } else {
        fs::create_dir_all(dir).map_err(fail)?;
    }
    // All are written before any is in its place: a full disk leaves what was there.
    let mut pending = Vec::new();
    for (number, (name, tensor)) in tensors.iter().enumerate() {
        let path = dir.join(format!("output_{number}.pb"));
        pending.push(files::Pending::write(&path, |file| {
            let written = file.write_all(&encode(name, tensor));
            written.map_err(|error| IoError::file("write", &path, error))
        })?);
    }
    pending.into_iter().try_for_each(files::Pending::finish)?;
    // Outputs of an earlier run with more of them would pass for this run's.
    for (_, stale) in numbered_files(dir, "output")?.range(tensors.len()..) {
        fs::remove_file(stale).map_err(fail)?;
    }
    Ok(())
}

fn refuse_foreign_files(dir: &Path) -> Result<(), IoError> {
    let fail = |source| IoError::file("read directory", dir, source);
    let mut foreign = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
        if number_of(&name, "output").is_none() {
            foreign.push(name);
        }
    }
    foreign.sort();
    match foreign.first() {
        None => Ok(()),
        Some(first) => Err(IoError::path(
            dir,
            format!(
                "holds files that are not outputs, such as `{first}`; give an empty or new \
                 directory"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn tensors_round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input_0.pb");
        for dtype in DType::all() {
            for shape in [&[][..], &[2, 3], &[0, 4]] {
                let tensor = Tensor::random(dtype, shape, 1).unwrap();
                write(&path, "x", &tensor).unwrap();
                assert_eq!(read(&path).unwrap(), ("x".to_string(), tensor));
            }
        }
    }

    #[test]
    fn directories_are_ordered_by_number() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..12 {
            let tensor = Tensor::scalar(number as f32).unwrap();
            write(&dir.path().join(format!("input_{number}.pb")), "", &tensor).unwrap();
        }
        let all: Vec<String> = (0..12).map(|n| format!("in{n}")).collect();
        let inputs = read_inputs(dir.path(), &all, &|_| true).unwrap();
        assert_eq!(inputs["in10"].to_f64(), [10.0]);
        let message = read_inputs(dir.path(), &all[..3], &|_| true).unwrap_err().to_string();
        assert!(message.contains("input_3.pb") && message.contains("only 3"), "{message}");
        let message =
            read_inputs(dir.path(), &names(&["a"; 13]), &|_| true).unwrap_err().to_string();
        assert!(message.contains("input_12.pb is missing"), "{message}");
    }

    #[test]
    fn outputs_replace_outputs_only() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("deep/out");
        let two: IndexMap<_, _> =
            ["a", "b"].map(|n| (n.to_string(), Tensor::scalar(1i64).unwrap())).into();
        write_outputs(&out, &two).unwrap();
        let one: IndexMap<_, _> = [("a".to_string(), Tensor::scalar(2i64).unwrap())].into();
        write_outputs(&out, &one).unwrap();
        let left = numbered_files(&out, "output").unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(read(&left[&0]).unwrap().1.to_i64().unwrap(), [2]);
        fs::write(out.join("input_0.pb"), b"precious").unwrap();
        let message = write_outputs(&out, &two).unwrap_err().to_string();
        assert!(message.contains("`input_0.pb`"), "{message}");
        assert_eq!(numbered_files(&out, "output").unwrap().len(), 1);
    }

    #[test]
    fn damaged_files_name_themselves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input_0.pb");
        write(&path, "x", &Tensor::zeros(DType::F32, &[4]).unwrap()).unwrap();
        let good = fs::read(&path).unwrap();
        for cut in 0..good.len() {
            fs::write(&path, &good[..cut]).unwrap();
            let message = read(&path).unwrap_err().to_string();
            assert!(message.contains("input_0.pb"), "{message}");
        }
    }
}
