//! Profiles of the machine that this program runs on.

use crate::{
    Result,
    artifact::machines,
    partition::{Profile, ProfiledMachine},
};
use std::path::Path;

/// The machine that this program runs on.
pub fn profiled_machine() -> Result<ProfiledMachine> {
    let machine = machines::select("", "native", "")?;
    Ok(ProfiledMachine { triple: machine.triple, cpu: machine.cpu })
}

/// Reads a profile that was made on this machine.
pub fn read_profile(path: &Path) -> Result<Profile> {
    Profile::read(path, &profiled_machine()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        partition::{Entry, ProfiledTarget},
        targets::Registry,
    };

    fn target(spec: &str) -> ProfiledTarget {
        let registry = Registry::builtin().expect("the built-in targets are right");
        let spec = format!("{spec}, c").parse().expect("a spec");
        registry.resolve(&spec).expect("resolves").remove(0).profiled()
    }

    fn profile() -> Profile {
        Profile {
            phaseline_profile: Profile::VERSION,
            machine: ProfiledMachine { triple: "t".into(), cpu: "c".into() },
            targets: vec![target("vanilla")],
            entries: vec![Entry {
                target: 0,
                pattern: Some("conv2d".into()),
                key: "0".repeat(32),
                work: "conv".into(),
                bytes: 8,
                nanoseconds: 1.5,
            }],
            tiles: vec![],
            skipped: vec![],
        }
    }

    #[test]
    fn a_target_is_known_by_its_options_not_by_its_id() {
        let host = target("vanilla");
        let measured = profile().measured(&[target("v: vanilla")], &host);
        assert_eq!(measured.expect("is the same").devices[0].len(), 1);
        let other = target("vanilla -double-buffer=false");
        let error = profile()
            .measured(std::slice::from_ref(&other), &host)
            .expect_err("differs")
            .to_string();
        assert!(error.contains("another 'vanilla'") && error.contains("double-buffer"), "{error}");
        let unknown = profile().measured(&[target("openblas")], &host).expect("is not measured");
        assert!(unknown.devices[0].is_empty());
    }
}
