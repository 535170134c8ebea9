//! Typed results of code generation, kept in the IR until the package is written.

use crate::{
    Error, Result,
    ir::{self, Op, edit, elements, names::ARTIFACTS},
    tensor::{AlignedBuffer, BUFFER_ALIGN},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, StringAttribute},
    operation::OperationLike,
    r#type::{IntegerType, RankedTensorType},
};
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

/// What a file of a package is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactKind {
    /// C, which is compiled and linked with the model.
    CSource,
    /// A C header, which is beside the sources when they are compiled.
    Header,
    /// An object file for the host's machine, which is linked with the model.
    Object,
    /// A static library; only the framework makes these.
    StaticLibrary,
    /// A shared library; only the framework makes these.
    SharedLibrary,
    /// Code for the device, in a format of its own.
    Binary,
    /// Commands that the device decodes.
    CommandStream,
    /// What a memory of the device holds, byte for byte.
    MemoryImage,
    /// Anything to read: reports, maps, scripts of a linker.
    Text,
}

impl ArtifactKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::CSource,
        Self::Header,
        Self::Object,
        Self::StaticLibrary,
        Self::SharedLibrary,
        Self::Binary,
        Self::CommandStream,
        Self::MemoryImage,
        Self::Text,
    ];

    /// The name in manifests and IR.
    pub fn name(self) -> &'static str {
        match self {
            Self::CSource => "c-source",
            Self::Header => "header",
            Self::Object => "object",
            Self::StaticLibrary => "static-library",
            Self::SharedLibrary => "shared-library",
            Self::Binary => "binary",
            Self::CommandStream => "command-stream",
            Self::MemoryImage => "memory-image",
            Self::Text => "text",
        }
    }

    /// The kind of a file that a program wrote, by the end of its name.
    pub fn of_file(name: &str) -> Result<Self> {
        let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        Ok(match extension {
            "c" => Self::CSource,
            "h" => Self::Header,
            "o" => Self::Object,
            "bin" => Self::Binary,
            "cmd" => Self::CommandStream,
            "img" | "hex" | "mem" => Self::MemoryImage,
            "txt" | "json" | "ld" | "map" | "log" | "md" => Self::Text,
            _ => {
                return Err(Error::invalid(format!(
                    "'{name}' has no known type: names end with .c, .h, .o, .bin (binary), .cmd \
                     (command stream), .img .hex .mem (memory image), or .txt .json .ld .map .log \
                     .md (text)"
                )));
            }
        })
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file that a target adds to the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// File name, without folders.
    pub name: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// A file of any kind.
    pub fn new(name: impl Into<String>, kind: ArtifactKind, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), kind, bytes: bytes.into() }
    }

    /// Fails unless the name is that of a file and the kind one that targets make.
    pub fn check(&self) -> Result<()> {
        let fault = |reason: &str| {
            Err(Error::invalid(format!("artifact '{}' ({}) {reason}", self.name, self.kind)))
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        if self.name.is_empty()
            || self.name.starts_with(['.', '-', '+'])
            || !self.name.chars().all(plain)
        {
            return fault("needs the name of a file: letters, digits, and . _ - + within");
        }
        match self.kind {
            ArtifactKind::StaticLibrary | ArtifactKind::SharedLibrary => {
                fault("is of a kind that only packages have; give objects")
            }
            ArtifactKind::CSource | ArtifactKind::Header
                if std::str::from_utf8(&self.bytes).is_err() =>
            {
                fault("is not UTF-8 text")
            }
            _ => Ok(()),
        }
    }
}

/// Adds artifacts to those that an operation carries. One that has the name of another and other
/// content is an error.
pub fn record<'c>(op: Op<'c>, artifacts: &[Artifact]) -> Result<()> {
    for artifact in artifacts {
        artifact.check()?;
        let bytes = AlignedBuffer::copy_of(&artifact.bytes)?;
        let ty = RankedTensorType::new(
            &[artifact.bytes.len() as u64],
            IntegerType::new(ir::context_of(op), 8).into(),
            None,
        );
        let data = match artifact.bytes.is_empty() {
            true => StringAttribute::new(ir::context_of(op), "").into(),
            false => elements::resource(ty.into(), &artifact.name, bytes, BUFFER_ALIGN)?,
        };
        attach(op, &artifact.name, artifact.kind, data)?;
    }
    Ok(())
}

/// Adds an artifact whose content is an elements attribute that exists already.
pub fn attach<'c>(op: Op<'c>, name: &str, kind: ArtifactKind, data: Attribute<'c>) -> Result<()> {
    let context = ir::context_of(op);
    let text = |value: &str| StringAttribute::new(context, value).into();
    let entry = edit::dictionary_attr(
        context,
        &[
            ("name".to_owned(), text(name)),
            ("kind".to_owned(), text(kind.name())),
            ("data".to_owned(), data),
        ],
    );
    merge(op, vec![entry])
}

/// Moves what `from` carries to `to`.
pub fn transfer<'c>(from: Op<'c>, to: Op<'c>) -> Result<()> {
    let Ok(list) = from.attribute(ARTIFACTS) else { return Ok(()) };
    merge(to, edit::array(list))?;
    edit::remove_attr(from, ARTIFACTS);
    Ok(())
}

fn merge<'c>(op: Op<'c>, new: Vec<Attribute<'c>>) -> Result<()> {
    let mut list = op.attribute(ARTIFACTS).map(edit::array).unwrap_or_default();
    for entry in new {
        let name = entry_text(entry, "name")?;
        let same = list.iter().find(|old| entry_text(**old, "name").is_ok_and(|n| n == name));
        match same {
            None => list.push(entry),
            Some(old) if content(*old)? == content(entry)? => {}
            Some(_) => {
                return Err(Error::invalid(format!(
                    "two artifacts of one target are called '{name}' and differ: put the name of \
                     the function into theirs"
                )));
            }
        }
    }
    let list = ArrayAttribute::new(ir::context_of(op), &list);
    edit::set_attr(op, ARTIFACTS, list.into());
    Ok(())
}

/// The artifacts that an operation carries.
pub fn recorded(op: Op<'_>) -> Result<Vec<Artifact>> {
    let list = op.attribute(ARTIFACTS).map(edit::array).unwrap_or_default();
    let read = |entry: Attribute<'_>| {
        let name = entry_text(entry, "name")?;
        let kind = entry_text(entry, "kind")?;
        let kind = ArtifactKind::ALL.into_iter().find(|k| k.name() == kind).ok_or_else(|| {
            Error::invalid(format!("{ARTIFACTS}: '{name}' has the unknown kind '{kind}'"))
        })?;
        let artifact = Artifact { name, kind, bytes: content(entry)? };
        artifact.check()?;
        Ok(artifact)
    };
    list.into_iter().map(read).collect()
}

fn field<'c>(entry: Attribute<'c>, name: &str) -> Result<Attribute<'c>> {
    let found = edit::dictionary(entry).into_iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value).ok_or_else(|| {
        Error::invalid(format!("{ARTIFACTS}: an entry is to have name, kind and data: {entry}"))
    })
}

fn entry_text(entry: Attribute<'_>, name: &str) -> Result<String> {
    let value = field(entry, name)?;
    edit::string(value)
        .ok_or_else(|| Error::invalid(format!("{ARTIFACTS}: '{name}' of an entry is not a text")))
}

fn content(entry: Attribute<'_>) -> Result<Vec<u8>> {
    let data = field(entry, "data")?;
    match edit::string(data) {
        Some(text) => Ok(text.into_bytes()),
        None => Ok(elements::bytes(data)?.into_owned()),
    }
}
