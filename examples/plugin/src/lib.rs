//! A plugin: `shifts`, a pass with an option and a rule, for any program of phaseline-toolkit that loads plugins.
#![forbid(unsafe_code)]

use phaseline_toolkit::{Result, Toolkit};

mod shifts;

fn register(toolkit: Toolkit) -> Result<Toolkit> {
    toolkit.run_pass::<shifts::Shifts>()
}

phaseline_toolkit::plugin!(register);
