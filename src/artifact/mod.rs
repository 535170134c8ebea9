//! Result of a compile: the model in memory, its interface, its objects and its further files.
//!
//! Code generation fills a [`Compiled`]; [`crate::package`] writes it to a folder, and
//! [`crate::runtime`] runs it.

pub mod files;
mod interface;
pub mod machines;
mod read;
mod record;

pub use crate::identifier::c_identifier;
pub use files::Artifact;
pub(crate) use files::ArtifactTypes;
pub use interface::{Interface, TensorInfo};
pub(crate) use machines::initialize;
pub use phaseline_runtime::artifact::{
    ArtifactKind, Bound, Device, DeviceMemory, DeviceSession, FixedInput, Machine, Means,
    MemoryUse, Operation, PoolUse, Port, PortPlace, Signature, TargetPart, WeightsFile,
    has_shared_libraries, own_prefix, shared_library_name,
};
pub use read::{operations, signature_of};
pub use record::{
    record_fixed_inputs, record_signature, recorded_fixed_inputs, recorded_signature,
};

use bytes::Bytes;

/// A compiled model, in memory.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Inputs, outputs, sizes and devices.
    pub signature: Signature,
    /// The object files of all targets.
    pub objects: Vec<Object>,
    /// The constants, as the code expects them.
    pub constants: Bytes,
    /// Machine of the host's code.
    pub machine: Machine,
    /// Further files of the package: generated sources and the like.
    pub files: Vec<ExtraFile>,
    /// Contributions of the targets.
    pub targets: Vec<TargetPart>,
    /// Arguments for the linker of a program that uses the static library.
    pub link: Vec<String>,
    /// The C compiler, which links the shared library.
    pub cc: String,
    /// The place of the constants of a package.
    pub weights: WeightsPlace,
    /// Build systems that a package is laid out for, besides CMake and pkg-config.
    pub layouts: Vec<Layout>,
}

/// A build system that a package is laid out for on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// A module of Zephyr.
    Zephyr,
    /// A library of Arduino, with the code as it is compiled.
    Arduino,
    /// A crate of Rust without a standard library.
    Crate,
}

impl Layout {
    /// All of them, with their names in options.
    pub const ALL: [(&'static str, Self); 3] =
        [("zephyr", Self::Zephyr), ("arduino", Self::Arduino), ("crate", Self::Crate)];
}

/// Place of a model's weights in a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightsPlace {
    /// In the libraries if they are small, else beside them.
    #[default]
    Auto,
    /// In the static and in the shared library.
    Inside,
    /// In one file beside the libraries, which programs map.
    Beside,
}

/// A relocatable object file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// File name, such as `model_host.o`.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A file that goes into the package as it is, such as generated C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// Path inside of the package, with `/` between names.
    pub path: String,
    /// Kind of file.
    pub kind: ArtifactKind,
    /// Id of the target that it comes from; none for the whole model's.
    pub target: Option<String>,
    /// Content.
    pub bytes: Vec<u8>,
}
