//! What `compile` prints in place of a package.

use crate::{Error, phase::Phase};
use std::str::FromStr;

/// What `compile --emit` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The IR after a phase.
    Ir(Phase),
    /// The C that is printed after the last one.
    C,
}

impl Emit {
    /// The last phase that runs.
    pub fn until(self) -> Phase {
        match self {
            Self::Ir(phase) => phase,
            Self::C => Phase::Codegen,
        }
    }
}

impl FromStr for Emit {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let phase = || text.parse().map(Self::Ir);
        let or_c = |error| Error::invalid(format!("{error}; or c, the C that is generated"));
        if text == "c" { Ok(Self::C) } else { phase().map_err(or_c) }
    }
}
