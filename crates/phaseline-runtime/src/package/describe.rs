//! The description in the shared library of a package.

use crate::{
    Error, Result,
    artifact::{Machine, Signature},
};
use object::{Object as _, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, ReadRef};
use serde::{Deserialize, Serialize};
use std::{io::BufReader, ops::Range, path::Path};

/// Symbol of the shared library that holds its description as JSON.
pub const SIGNATURE_SYMBOL: &str = "phaseline_signature";

/// The description in a shared library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedded {
    /// Machine of its code.
    pub machine: Machine,
    /// Interface of the model.
    pub signature: Signature,
}

impl Embedded {
    /// The text as the library has it, but for the NUL at the end.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|e| Error::internal(format!("the signature has no JSON form: {e}")))
    }

    /// The first thing in which two differ.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let (a, b) = (&self.signature, &other.signature);
        [
            ("the model's name", a.name == b.name),
            ("the inputs", a.inputs == b.inputs),
            ("the inputs that are constants", a.fixed == b.fixed),
            ("the outputs", a.outputs == b.outputs),
            ("the size of the arena", a.arena_bytes == b.arena_bytes),
            ("the size of the constants", a.constants_bytes == b.constants_bytes),
            ("the file of the weights", a.weights == b.weights),
            ("the pools", a.pools == b.pools),
            ("the devices", a.devices == b.devices),
            ("the machine", self.machine == other.machine),
        ]
        .into_iter()
        .find(|(_, same)| !same)
        .map(|(what, _)| what)
    }
}

/// Reads what a library says about itself, without running anything of it. Fails if it is no
/// library of a package or is cut off.
pub fn describe_library(path: &Path) -> Result<Embedded> {
    let fault = |reason: String| {
        Error::invalid(format!("cannot load {}: {reason}: compile the model again", path.display()))
    };
    let fail = |e| Error::io("cannot read", path, e);
    let (file, metadata) = crate::io::open_regular(path).map_err(fail)?;
    let cache = ReadCache::new(BufReader::new(file));
    let library = object::File::parse(&cache)
        .map_err(|e| fault(format!("it is not a shared library or is damaged ({e})")))?;
    for segment in library.segments() {
        let (start, size) = segment.file_range();
        if start.checked_add(size).is_none_or(|end| end > metadata.len()) {
            return Err(fault("it is cut off".to_owned()));
        }
    }
    let missing = || {
        fault(format!(
            "it is not the library of a compiled model: it has no symbol {SIGNATURE_SYMBOL}"
        ))
    };
    let symbol = library
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(SIGNATURE_SYMBOL))
        .ok_or_else(missing)?;
    let at = symbol.address();
    let data = library.sections().find_map(|section| {
        let end = section.address().checked_add(section.size())?;
        let holds = section.address() > 0 && section.address() <= at && at < end;
        let (start, _) = section.file_range().filter(|_| holds)?;
        let from = start.checked_add(at - section.address())?;
        text_at(&cache, from..from.checked_add(end - at)?)
    });
    let text = data.ok_or_else(missing)?;
    serde_json::from_slice(text)
        .map_err(|e| fault(format!("it was made by another version of Phaseline ({e})")))
}

/// The text of a file up to a NUL, or all in this range. Weights may follow it, which are not read.
fn text_at<'data>(file: impl ReadRef<'data>, range: Range<u64>) -> Option<&'data [u8]> {
    let most = range.end - range.start;
    let mut size = 1 << 12;
    loop {
        let data = file.read_bytes_at(range.start, most.min(size)).ok()?;
        match data.iter().position(|byte| *byte == 0) {
            Some(length) => return data.get(..length),
            None if size >= most => return Some(data),
            None => size *= 4,
        }
    }
}
