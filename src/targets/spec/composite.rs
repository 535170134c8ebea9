//! Composites: several targets as one, as devices and a host.

use super::{GivenOption, Reader, TargetEntry, TargetSpec, is_toml};
use crate::{Error, Result};

/// The kind that stands for its devices and its host.
pub const COMPOSITE: &str = "composite";

/// Names of the parts of a composite.
pub(super) const DEVICES: &str = "devices";
pub(super) const HOST: &str = "target_host";

/// Targets in order, and the one that a composite named as its host, after which nothing comes.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) targets: Vec<TargetEntry>,
    host: Option<String>,
}

impl Group {
    /// Reads the text form, or JSON or TOML if the text starts as they do.
    pub(super) fn parse(text: &str) -> Result<Self> {
        match text.trim_start().chars().next() {
            _ if is_toml(text) => Self::from_toml(text),
            Some('[' | '{') => Self::from_json(text),
            _ => Reader { text, at: 0 }.spec(),
        }
    }

    pub(super) fn into_spec(self) -> TargetSpec {
        TargetSpec { ends: self.host.is_some(), targets: self.targets }
    }

    /// A target as the text form has it: a composite's parts are specs, as options.
    pub(super) fn of(entry: TargetEntry) -> Result<Self, String> {
        if entry.kind != COMPOSITE {
            return Ok(Self { targets: vec![entry], host: None });
        }
        if let Some(id) = &entry.id {
            return Err(no_id(id));
        }
        let (mut devices, mut host) = (Self::default(), None);
        for GivenOption { name, value } in entry.options {
            let text = value.unwrap_or_default();
            let part = || Self::parse(&text).map_err(|error| format!("-{name}: {error}"));
            match name.replace('-', "_").as_str() {
                DEVICES => devices = part()?,
                HOST => host = Some(part()?),
                _ => {
                    return Err(format!(
                        "a composite has no '{name}'; it is -{DEVICES}='SPEC' and -{HOST}='TARGET'"
                    ));
                }
            }
        }
        devices.with_host(host)
    }

    /// Adds what comes after.
    pub(super) fn append(&mut self, next: Self) -> Result<(), String> {
        if let Some(host) = &self.host {
            return Err(not_last(host, "a composite"));
        }
        self.targets.extend(next.targets);
        self.host = next.host;
        Ok(())
    }

    /// The composite with these devices.
    pub(super) fn with_host(mut self, host: Option<Self>) -> Result<Self, String> {
        if self.targets.is_empty() {
            return Err(format!("a composite needs {DEVICES}: the targets that it stands for"));
        }
        let Some(host) = host else { return Ok(self) };
        let [one] = host.targets.as_slice() else {
            return Err(not_one(host.targets.len()));
        };
        let name = one.kind.clone();
        self.append(host)?;
        self.host = Some(name);
        Ok(self)
    }
}

/// Says that something comes after the host of a composite.
pub(in crate::targets) fn not_last(host: &str, composite: &str) -> String {
    format!(
        "the {HOST} '{host}' of {composite} takes all that is left, so that nothing comes after it; name \
         the host once, in the outermost composite or at the end"
    )
}

/// Says that a host is so many targets.
pub(in crate::targets) fn not_one(count: usize) -> String {
    format!("{HOST} is one target, and here are {count}; others are {DEVICES}")
}

/// Says that a composite has no id.
pub(super) fn no_id(id: &str) -> String {
    format!(
        "a composite stands for its targets and has no id of its own; remove '{id}', or give ids to \
         its {DEVICES}"
    )
}

impl TargetSpec {
    /// Both specs after one another.
    ///
    /// # Errors
    /// The first one is a composite with a host, which takes all that is left.
    pub fn join(mut self, next: Self) -> Result<Self> {
        if let (true, Some(host)) = (self.ends, self.targets.last()) {
            return Err(Error::invalid(not_last(&host.kind, "a composite")));
        }
        self.targets.extend(next.targets);
        self.ends = next.ends;
        Ok(self)
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self> {
        Group::from_json(text).map(Group::into_spec)
    }

    /// Reads the TOML form.
    pub fn from_toml(text: &str) -> Result<Self> {
        Group::from_toml(text).map(Group::into_spec)
    }

    /// Reads what a document holds at some place: a text, a list of targets, or one target.
    pub fn from_value(value: serde_json::Value) -> Result<Self> {
        let group = Group::from_value(value, "target spec");
        group.map(Group::into_spec).map_err(Error::invalid)
    }
}
