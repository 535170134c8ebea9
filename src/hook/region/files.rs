//! Constants as files: each once for all questions that a program is asked, as `.npy` and as bytes.

use super::{attribute, pattern_name, type_json};
use crate::{
    Error, Result, io,
    ir::{self, Attribute, Id, constant::Elements, elements},
    tensor::{AlignedBuffer, DType, ElementType, Tensor},
};
use serde_json::{Value, json};
use std::{collections::HashMap, fs, path::PathBuf};
use twox_hash::XxHash3_128;

/// Bytes that a constant with one value everywhere may have as a file; that of a larger one is its value.
const MOST_REPEATED: usize = 1 << 26;

/// Elements of a constant that says what an operation does, such as a shape; larger ones are weights.
const PART: usize = 8;

/// A folder with constants.
pub struct Constants {
    /// None for what a region is but for its names.
    folder: Option<PathBuf>,
    known: HashMap<Id, Value>,
}

impl Constants {
    /// An empty folder, which is made.
    pub fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir(&folder).map_err(|e| Error::io("cannot make", &folder, e))?;
        Ok(Self { folder: Some(folder), known: HashMap::new() })
    }

    /// No files: regions that are the same but for names have one description, with a hash of each constant.
    pub fn none() -> Self {
        Self { folder: None, known: HashMap::new() }
    }

    /// True if the description has names and files.
    pub fn has_files(&self) -> bool {
        self.folder.is_some()
    }

    /// The files of a constant; none if it has no elements of a known size.
    pub fn add(&mut self, constant: Attribute<'_>) -> Result<Option<Value>> {
        if let Some(known) = self.known.get(&ir::id(constant)) {
            return Ok(Some(known.clone()));
        }
        let Some(read) = Elements::new(constant) else { return Ok(None) };
        if self.folder.is_none() {
            let values = (read.len() <= PART).then(|| attribute::list(&read));
            let bytes = elements::bytes(constant)?;
            let hash = format!("{:032x}", XxHash3_128::oneshot(&bytes));
            return Ok(Some(
                json!({ "type": type_json(read.r#type()), "values": values, "hash": hash }),
            ));
        }
        let name = ir::element_type(read.r#type()).to_string();
        let (Some(dtype), Some(dims)) =
            (ElementType::from_mlir_name(&name), ir::static_dims(read.r#type()))
        else {
            return Ok(None);
        };
        let stored = stored(dtype);
        let mut about = json!({ "type": type_json(read.r#type()) });
        if read.is_splat() && read.len() > 0 {
            about["splat"] = match ir::is_float(read.r#type()) {
                true => attribute::float(read.float(0)),
                false => json!(read.int(0)),
            };
        }
        let size = read.len().saturating_mul(stored.size());
        about["bytes"] = json!(size);
        if !read.is_splat() || size <= MOST_REPEATED {
            let bytes = elements::bytes(constant)?;
            let number = self.known.len();
            let dims: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
            about["raw"] = json!(self.write(&format!("{number}.bin"), &bytes)?);
            let tensor = Tensor::from_buffer(stored, &dims, AlignedBuffer::copy_of(&bytes)?)?;
            about["npy"] = json!(self.write(&format!("{number}.npy"), &npy(&tensor)?)?);
        }
        self.known.insert(ir::id(constant), about.clone());
        Ok(Some(about))
    }

    /// The files of a tensor that is no constant of the IR, under a name of its own; they are there until the next one
    /// of that name.
    pub fn tensor(&self, name: &str, tensor: &Tensor) -> Result<Value> {
        let dtype = pattern_name(tensor.dtype().into());
        Ok(json!({
            "type": { "dtype": dtype, "shape": tensor.shape() },
            "bytes": tensor.bytes().len(),
            "raw": self.write(&format!("{name}.bin"), tensor.bytes())?,
            "npy": self.write(&format!("{name}.npy"), &npy(tensor)?)?,
        }))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<String> {
        let folder = self.folder.as_ref();
        let path = folder.ok_or_else(|| Error::internal("a file of no folder"))?.join(name);
        fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))?;
        Ok(path.display().to_string())
    }
}

/// The storage of elements of a type in files: those of less than a byte are a byte each, small floats their bits.
fn stored(dtype: ElementType) -> DType {
    match dtype {
        ElementType::Plain(dtype) => dtype,
        ElementType::Small(small) if small.mlir_name().starts_with('i') => DType::I8,
        ElementType::Small(_) => DType::U8,
    }
}

/// A tensor as an `.npy` file.
pub fn npy(tensor: &Tensor) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    io::npy::write(tensor, &mut bytes)
        .map_err(|error| Error::internal(format!("a constant has no .npy form: {error}")))?;
    Ok(bytes)
}
