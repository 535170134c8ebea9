//! What a target says of all its patterns.

use crate::tensor::ElementType;

/// What a target can do besides its patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Element types of data, and of constants that devices are given; all, if empty.
    pub dtypes: Vec<ElementType>,
    /// Matches and regions may have several outputs.
    pub multi_output: bool,
    /// A value inside a match may be used outside; it becomes an output. Needs `multi_output`.
    pub taps: bool,
    /// Neighbouring matches are merged into one region.
    pub merge: bool,
    /// Regions are chains, and what does not depend on each other stays apart: the device can work
    /// on several at once. Needs `merge`.
    pub parallel: bool,
    /// All sizes have to be known when compiling.
    pub static_only: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            dtypes: vec![],
            multi_output: true,
            taps: false,
            merge: true,
            parallel: false,
            static_only: false,
        }
    }
}
