//! Kinds of files of a package.

use crate::{Error, Result, error::suggestion};
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

/// Kind of a file of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactKind {
    /// C, which is compiled and linked with the model.
    CSource,
    /// A C header, which is beside the sources when they are compiled.
    Header,
    /// An object file for the host's machine, which is linked with the model.
    Object,
    /// Assembler, which is compiled and linked with the model.
    Assembler,
    /// A static library: the model's, or a target's, of which the model takes what it uses.
    StaticLibrary,
    /// A shared library: the model's, or one for the device, which is not linked.
    SharedLibrary,
    /// Code for the device, in a format of its own.
    Binary,
    /// Commands that the device decodes.
    CommandStream,
    /// A region, which the device is given when it is opened, and executes.
    Blob,
    /// Content of a memory of the device, byte for byte.
    MemoryImage,
    /// Anything to read: reports, maps, scripts of a linker.
    Text,
}

impl ArtifactKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::CSource,
        Self::Header,
        Self::Object,
        Self::Assembler,
        Self::StaticLibrary,
        Self::SharedLibrary,
        Self::Binary,
        Self::CommandStream,
        Self::Blob,
        Self::MemoryImage,
        Self::Text,
    ];

    /// The name in manifests and IR.
    pub fn name(self) -> &'static str {
        match self {
            Self::CSource => "c-source",
            Self::Header => "header",
            Self::Object => "object",
            Self::Assembler => "assembler",
            Self::StaticLibrary => "static-library",
            Self::SharedLibrary => "shared-library",
            Self::Binary => "binary",
            Self::CommandStream => "command-stream",
            Self::Blob => "blob",
            Self::MemoryImage => "memory-image",
            Self::Text => "text",
        }
    }

    /// A kind by its name.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name);
            let hint = suggestion(name, known);
            Error::invalid(format!("'{name}' is no type of a file{hint}"))
        })
    }

    /// The kind of a file that a program wrote, of which nothing is declared: by the end of its name. If
    /// that says nothing, it is text where it is UTF-8 and binary where it is not.
    pub fn of_file(name: &str, bytes: &[u8]) -> Self {
        let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension {
            "c" => Self::CSource,
            "h" => Self::Header,
            "o" => Self::Object,
            "s" | "S" => Self::Assembler,
            "a" => Self::StaticLibrary,
            "so" => Self::SharedLibrary,
            "bin" => Self::Binary,
            "cmd" => Self::CommandStream,
            "blob" => Self::Blob,
            "img" | "hex" | "mem" => Self::MemoryImage,
            _ if std::str::from_utf8(bytes).is_ok() => Self::Text,
            _ => Self::Binary,
        }
    }

    /// The kind of a library of others or its licence, of which shared ones have versions in names.
    pub fn of_library(name: &str, bytes: &[u8]) -> Self {
        let file = name.rsplit('/').next().unwrap_or_default();
        match Self::of_file(name, bytes) {
            Self::Text | Self::Binary if file.contains(".so.") => Self::SharedLibrary,
            kind => kind,
        }
    }

    /// True if it is C or a header of it.
    pub fn is_text_of_c(self) -> bool {
        matches!(self, Self::CSource | Self::Header)
    }

    /// True if a compiler or a linker reads such files to link the model.
    pub fn is_code(self) -> bool {
        matches!(
            self,
            Self::CSource | Self::Header | Self::Object | Self::Assembler | Self::StaticLibrary
        )
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
