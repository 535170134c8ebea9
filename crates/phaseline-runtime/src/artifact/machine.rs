//! The machine that host code is for.

use super::{cpu, tiles};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A processor and the system on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// LLVM target triple, normalised.
    pub triple: String,
    /// CPU name.
    #[serde(default)]
    pub cpu: String,
    /// CPU features, comma-separated, each with `+` or `-`.
    #[serde(default)]
    pub features: String,
}

impl Machine {
    /// The first part of the triple.
    pub fn architecture(&self) -> &str {
        architecture(&self.triple)
    }

    /// Fails, with the reason, if code for it does not run in this process.
    pub fn check_runs_here(&self) -> Result<()> {
        if self.triple.is_empty() {
            // There is no code of LLVM's.
            return Ok(());
        }
        let (os, os_here) = (system(&self.triple), system(cpu::HERE));
        if self.architecture() != architecture(cpu::HERE) || (os != os_here && os != "unknown") {
            return Err(Error::unsupported(format!(
                "the model is compiled for {}, and this machine is {}: run it there",
                self.triple,
                cpu::HERE
            )));
        }
        let used = cpu::used(self);
        let missing: Vec<_> = cpu::here()
            .iter()
            .filter(|(feature, has)| !has && used.contains(*feature))
            .map(|(feature, _)| *feature)
            .collect();
        if missing.is_empty() {
            if used.contains(tiles::FEATURE) && !tiles::permitted() {
                return Err(Error::unsupported(format!(
                    "the model is compiled for AMX, whose registers the system does not let this \
                     process use: compile it with -mattr=-{}",
                    tiles::FEATURE
                )));
            }
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the model is compiled for CPU '{}' with features that this machine does not have: {}",
            self.cpu,
            missing.join(", ")
        )))
    }
}

/// The system in a normalised triple.
pub fn system(triple: &str) -> &str {
    triple.split('-').nth(2).unwrap_or_default()
}

/// The architecture in a triple.
pub fn architecture(triple: &str) -> &str {
    triple.split('-').next().unwrap_or_default()
}
