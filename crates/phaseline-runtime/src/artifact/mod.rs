//! Descriptions in packages: interface of the model, files, machine.

pub mod cpu;
mod fixed;
mod kind;
mod machine;
mod names;
mod operation;
mod signature;
pub mod tiles;

pub use fixed::FixedInput;
pub use kind::ArtifactKind;
pub use machine::{Machine, architecture, system};
pub use names::{has_shared_libraries, own_prefix, shared_library_name};
pub use operation::{Means, Operation};
pub use signature::{
    Bound, Device, DeviceMemory, DeviceSession, MemoryUse, PoolUse, Port, PortPlace, Signature,
    WeightsFile,
};

use serde::{Deserialize, Serialize};

/// Part of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetPart {
    /// Id of the target.
    pub id: String,
}
