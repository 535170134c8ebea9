//! The points between phases at which a target's own code may take over.

use crate::{Error, Result};
use std::{fmt, str::FromStr};

/// The points at which a target's code may take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookPoint {
    /// A function in the graph dialect becomes functions that later hooks leave as they are: calls
    /// of the device's driver, with command streams and packed constants.
    GraphToRuntime,
    /// A function in the graph dialect becomes loops and calls on tensors.
    GraphToTir,
    /// After lowering: the constants that a target's calls are given are replaced.
    ConstantUpdater,
    /// A target's module of buffers becomes artifacts.
    TirToRuntime,
}

impl HookPoint {
    /// All points, in the order in which a compile comes to them.
    pub const ALL: [Self; 4] =
        [Self::GraphToRuntime, Self::GraphToTir, Self::ConstantUpdater, Self::TirToRuntime];

    /// The name in manifests, pipelines and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GraphToRuntime => "graph-to-runtime",
            Self::GraphToTir => "graph-to-tir",
            Self::ConstantUpdater => "constant-updater",
            Self::TirToRuntime => "tir-to-runtime",
        }
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HookPoint {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|point| point.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|point| point.name()).collect();
            Error::invalid(format!("'{text}' is no hook; the hooks are {}", names.join(", ")))
        })
    }
}
