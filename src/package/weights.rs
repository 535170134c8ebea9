//! Weights in a file of their own, which a program maps.

use crate::{
    Error, Result,
    artifact::{Compiled, Object, WeightsFile, WeightsPlace},
    codegen::c::tool::Tool,
    process::Folder,
};
use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};
use twox_hash::XxHash3_128;

/// Bytes from which weights are beside the library unless it is said otherwise. Fewer are in both the static
/// and the shared library, so that a package is one file to its users.
const AUTO: usize = 256 << 20;

/// The most bytes inside of a library: code reaches data within 2 GiB.
const MOST: usize = (2 << 30) - (128 << 20);

/// The bytes before the weights in their file.
const HEAD: usize = 64;

/// True if the weights of a model are beside its libraries.
///
/// # Errors
/// They have to be, and cannot.
pub fn are_beside(model: &Compiled) -> Result<bool> {
    let bytes = model.constants.len();
    let triple = &model.machine.triple;
    let can = triple.contains("linux") && model.signature.pools.is_empty();
    match model.weights {
        WeightsPlace::Beside if !can => Err(Error::unsupported(format!(
            "weights in a file beside the library are mapped, which '{triple}' {} cannot: compile with \
             --weights=inside",
            if model.signature.pools.is_empty() { "" } else { "with pools of a board" }
        ))),
        WeightsPlace::Beside => Ok(bytes > 0),
        WeightsPlace::Auto => Ok(can && bytes >= AUTO),
        WeightsPlace::Inside if can && bytes > MOST => Err(Error::unsupported(format!(
            "the model has {bytes} bytes of weights, and a library holds {MOST} at most: compile with \
             --weights=beside"
        ))),
        WeightsPlace::Inside => Ok(false),
    }
}

/// Writes the file into a folder; gives its description, and the hash of all of it.
pub fn write(folder: &Path, model: &Compiled) -> Result<(WeightsFile, String)> {
    let content = &model.constants[..];
    let hash = XxHash3_128::oneshot(content);
    let file = WeightsFile {
        file: format!("{}.weights", model.signature.name),
        bytes: (HEAD + content.len()) as u64,
        xxh128: format!("{hash:032x}"),
    };
    let head = head(content.len() as u64, hash);
    let path = folder.join(&file.file);
    let fail = |e| Error::io("cannot write", &path, e);
    let mut out = File::create(&path).map_err(fail)?;
    out.write_all(&head).and_then(|()| out.write_all(content)).map_err(fail)?;
    let mut whole = XxHash3_128::new();
    whole.write(&head);
    whole.write(content);
    Ok((file, format!("{:032x}", whole.finish_128())))
}

/// Start of the file: magic, bytes and hash.
fn head(bytes: u64, hash: u128) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(b"PHLWTS01");
    head[8..16].copy_from_slice(&bytes.to_le_bytes());
    head[16..32].copy_from_slice(&hash.to_be_bytes());
    head
}

/// The code that maps the file.
pub fn loader(model: &Compiled, file: &WeightsFile) -> Result<Object> {
    let hash = u128::from_str_radix(&file.xxh128, 16).unwrap_or_default();
    let head = head(model.constants.len() as u64, hash).map(|byte| byte.to_string());
    let text = include_str!("weights.c")
        .replace("HEAD_BYTES", &head.join(", "))
        .replace("FILE_BYTES", &file.bytes.to_string())
        .replace("MODEL", &model.signature.name);
    let folder = Folder::new()?;
    let source = folder.path().join("weights.c");
    fs::write(&source, text).map_err(|e| Error::io("cannot write", &source, e))?;
    let tool = Tool::new(&model.cc)?;
    let mut command = tool.command(folder.path());
    command.args(["-std=gnu11", "-O2", "-fPIC", "-c", "weights.c", "-o", "weights.o"]);
    let object = folder.path().join("weights.o");
    let bytes = tool.make_and_read(command, "the code that maps the weights", &object)?;
    Ok(Object { name: format!("{}_weights.o", model.signature.name), bytes })
}
