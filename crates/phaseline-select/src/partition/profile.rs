//! Profiles as files.

use super::{Measured, TiledCall, TiledCalls, Times};
use crate::{Error, Result, expr::OptionValues};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// The machine that a profile was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfiledMachine {
    /// LLVM target triple.
    pub triple: String,
    /// Name of the CPU.
    pub cpu: String,
}

/// Measured times of calls and transfers of a target, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transfer {
    /// One call of a region.
    pub per_call: f64,
    /// A byte that enters or leaves a region.
    pub per_byte: f64,
}

/// A target that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfiledTarget {
    /// Name of its kind.
    pub kind: String,
    /// The values of its options.
    pub options: BTreeMap<String, String>,
    /// Times of its calls and transfers; none where the manifest's numbers stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Place of the target in the profile's list.
    pub target: usize,
    /// The pattern; none for operations of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Key of the work; equal work has the same one.
    pub key: String,
    /// The work, for people.
    pub work: String,
    /// Bytes that enter and leave it, constants aside.
    pub bytes: u64,
    /// The median of one run, call and transfers included.
    pub nanoseconds: f64,
}

/// Work that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// Place of the target in the profile's list.
    pub target: usize,
    /// The pattern; none for an operation of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The work, for people.
    pub work: String,
    /// Reason for leaving it out.
    pub reason: String,
}

/// Measured costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the format.
    pub phaseline_profile: u32,
    /// The machine that it was measured on.
    pub machine: ProfiledMachine,
    /// The targets, the host last.
    pub targets: Vec<ProfiledTarget>,
    /// The measurements, by target, pattern and place in the network.
    pub entries: Vec<Entry>,
    /// The tiles that were measured as the fastest, by target and place in the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<TiledCall>,
    /// Work that could not be measured; estimates stay.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
}

impl ProfiledTarget {
    /// A target of a kind with these options, whatever its id.
    pub fn new(kind: &str, options: &OptionValues) -> Self {
        let options = options.iter();
        Self {
            kind: kind.to_owned(),
            options: options.map(|(name, value)| (name.clone(), value.to_string())).collect(),
            transfer: None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && self.options == other.options
    }

    /// The options that differ, as text.
    fn difference(&self, other: &Self) -> String {
        let value = |options: &BTreeMap<String, String>, name: &str| {
            options.get(name).map_or_else(|| "unset".to_owned(), |value| format!("'{value}'"))
        };
        let names: std::collections::BTreeSet<_> =
            self.options.keys().chain(other.options.keys()).collect();
        let texts: Vec<String> = names
            .into_iter()
            .filter(|name| self.options.get(*name) != other.options.get(*name))
            .map(|name| {
                let (then, now) = (value(&self.options, name), value(&other.options, name));
                format!("{} was {then} and is {now}", name.replace('_', "-"))
            })
            .collect();
        texts.join(", ")
    }
}

impl Profile {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// Reads a profile that was made on this machine, which is `here`.
    pub fn read(path: &Path, here: &ProfiledMachine) -> Result<Self> {
        let text = crate::io::read_text(path).map_err(|e| Error::io("cannot read", path, e))?;
        let name = path.to_string_lossy();
        let profile = Self::from_json(&text, &name)?;
        if profile.machine != *here {
            let ProfiledMachine { triple, cpu } = &profile.machine;
            return Err(Error::invalid(format!(
                "{name}: measured on {cpu} ({triple}), but this machine is {} ({}); make a \
                 profile here with `phaseline profile`",
                here.cpu, here.triple
            )));
        }
        Ok(profile)
    }

    /// Reads a profile's text; `name` stands for the file in errors.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        let bad = |reason: String| Error::invalid(format!("{name}: not a profile: {reason}"));
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let version = value.get("phaseline_profile").and_then(serde_json::Value::as_u64);
        let version = version.ok_or_else(|| bad("it has no 'phaseline_profile'".to_owned()))?;
        if version != u64::from(Self::VERSION) {
            return Err(Error::invalid(format!(
                "{name}: profile version {version}, but this program reads version {}; make a new \
                 one with `phaseline profile`",
                Self::VERSION
            )));
        }
        let profile: Self =
            serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        for entry in &profile.entries {
            if entry.target >= profile.targets.len() {
                return Err(bad(format!("'{}' is of no target of its list", entry.work)));
            }
            if !entry.nanoseconds.is_finite() || entry.nanoseconds < 0.0 {
                return Err(bad(format!("'{}' takes {} ns", entry.work, entry.nanoseconds)));
            }
        }
        let mut faults = profile.tiles.iter().filter_map(|call| call.fault(profile.targets.len()));
        if let Some(fault) = faults.next() {
            return Err(bad(fault));
        }
        let transfers = profile.targets.iter().filter_map(|target| target.transfer);
        for Transfer { per_call, per_byte } in transfers {
            if [per_call, per_byte].iter().any(|cost| !cost.is_finite() || *cost < 0.0) {
                return Err(bad(format!("a call of {per_call} ns, a byte of {per_byte} ns")));
            }
        }
        Ok(profile)
    }

    /// The file's text.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| Error::internal(error.to_string()))
    }

    /// Fails if a profile must not be written to `path`, which holds something else.
    pub fn check_place(path: &Path) -> Result<()> {
        // Reading a pipe or a device would not end.
        if !path.is_file() {
            return Ok(());
        }
        let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
        let value: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        if value.is_some_and(|value| value.get("phaseline_profile").is_some()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} is there already and is no profile; choose another file or remove it",
            path.display()
        )))
    }

    /// The place of a target in the list. A target of the same kind with other options is an
    /// error; one that was not measured at all has no place.
    fn place(&self, target: &ProfiledTarget) -> Result<Option<usize>> {
        if let Some(place) = self.targets.iter().position(|known| known.is(target)) {
            return Ok(Some(place));
        }
        match self.targets.iter().find(|known| known.kind == target.kind) {
            None => Ok(None),
            Some(other) => Err(Error::invalid(format!(
                "the profile is of another '{}' than this compile: {}; make a new one with \
                 `phaseline profile`",
                other.kind,
                other.difference(target)
            ))),
        }
    }

    /// The measured times of these devices and this host.
    pub fn measured(&self, devices: &[ProfiledTarget], host: &ProfiledTarget) -> Result<Measured> {
        let times = |target: &ProfiledTarget| -> Result<Times> {
            let place = self.place(target)?;
            let entries = self.entries.iter().filter(|entry| Some(entry.target) == place);
            let times = entries.map(|e| ((e.pattern.clone(), e.key.clone()), e.nanoseconds));
            Ok(times.collect())
        };
        Ok(Measured {
            devices: devices.iter().map(times).collect::<Result<_>>()?,
            host: times(host)?,
        })
    }

    /// The measured tiles of a target.
    pub fn tiles(&self, target: &ProfiledTarget) -> Result<TiledCalls> {
        let place = self.place(target)?;
        let tiles = self.tiles.iter().filter(|call| Some(call.target) == place);
        Ok(tiles.map(|call| (call.key.clone(), call.clone())).collect())
    }

    /// Nanoseconds per call and per transferred byte of a target, if it was measured.
    pub fn transfer(&self, target: &ProfiledTarget) -> Option<(f64, f64)> {
        let known = self.targets.iter().find(|known| known.is(target))?;
        known.transfer.map(|transfer| (transfer.per_call, transfer.per_byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile {
            phaseline_profile: Profile::VERSION,
            machine: ProfiledMachine { triple: "t".into(), cpu: "c".into() },
            targets: vec![ProfiledTarget::new("vanilla", &OptionValues::new())],
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
    fn text_is_read_back_and_damage_is_found() {
        let text = profile().to_json().expect("has a form");
        assert_eq!(Profile::from_json(&text, "p").expect("reads"), profile());
        let error = |text: &str| Profile::from_json(text, "p").expect_err("is bad").to_string();
        assert!(error("{").contains("p: not a profile"));
        assert!(error("{}").contains("has no 'phaseline_profile'"));
        let later = text.replace("\"phaseline_profile\": 1", "\"phaseline_profile\": 2");
        assert!(error(&later).contains("profile version 2, but this program reads version 1"));
        assert!(error(&text.replace("\"target\": 0", "\"target\": 1")).contains("of no target"));
        assert!(error(&text.replace("1.5", "-1.5")).contains("takes -1.5 ns"));
    }
}
