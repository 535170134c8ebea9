//! Specs as JSON and TOML.

use super::{
    GivenOption, TargetEntry, TargetSpec,
    composite::{COMPOSITE, DEVICES, Group, HOST, no_id},
};
use crate::{Error, Result, targets::manifest::is_name};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct RawDocument {
    targets: Vec<RawTarget>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTarget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    kind: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<String, RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "an option is a text, a number or a boolean")]
enum RawValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Group {
    /// Reads the JSON form.
    pub(super) fn from_json(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text)
            .map_err(|error| Error::invalid(format!("target spec as JSON: {error}")))?;
        Self::from_value(value, "target spec").map_err(Error::invalid)
    }

    /// Reads the TOML form.
    pub(super) fn from_toml(text: &str) -> Result<Self> {
        let value = toml::from_str(text).map_err(|error| {
            Error::invalid(format!("target spec as TOML: {}", error.to_string().trim_end()))
        })?;
        Self::from_value(value, "target spec").map_err(Error::invalid)
    }

    /// Reads a text, a list of targets, a document with `targets`, or one target; `place` is what
    /// messages call it.
    pub(super) fn from_value(value: Value, place: &str) -> Result<Self, String> {
        let group = match value {
            Value::String(text) => {
                Self::parse(&text).map_err(|error| format!("{place}: {error}"))?
            }
            Value::Array(entries) => Self::list(entries, place, "target")?,
            Value::Object(mut fields) if fields.contains_key("targets") => {
                let targets = fields.remove("targets");
                match targets {
                    Some(Value::Array(entries)) if fields.is_empty() => {
                        Self::list(entries, place, "target")?
                    }
                    _ => return Err(format!("{place}: 'targets' is a list, and all there is")),
                }
            }
            Value::Object(fields) if fields.contains_key("kind") => Self::target(fields, place)?,
            _ => {
                return Err(format!(
                    "{place}: expected a list of targets, or an object with 'targets' or 'kind'"
                ));
            }
        };
        if group.targets.is_empty() {
            return Err("the target spec is empty; name a target, such as llvm".to_owned());
        }
        Ok(group)
    }

    fn list(entries: Vec<Value>, place: &str, what: &str) -> Result<Self, String> {
        let mut group = Self::default();
        for (index, entry) in entries.into_iter().enumerate() {
            let place = format!("{place}, {what} {}", index + 1);
            let next = match entry {
                Value::String(_) => Self::from_value(entry, &place)?,
                Value::Object(fields) => Self::target(fields, &place)?,
                _ => return Err(shape(&place, "found something else")),
            };
            group.append(next).map_err(|reason| format!("{place}: {reason}"))?;
        }
        Ok(group)
    }

    /// One target, or the targets of a composite.
    fn target(fields: Map<String, Value>, place: &str) -> Result<Self, String> {
        if fields.get("kind").and_then(Value::as_str) == Some(COMPOSITE) {
            return Self::composite(fields, place);
        }
        let raw = serde_json::from_value::<RawTarget>(Value::Object(fields));
        let target = raw.map_err(|error| shape(place, &error.to_string()))?;
        let names = target.id.iter().chain([&target.kind]).chain(target.options.keys());
        if let Some(bad) = names.into_iter().find(|name| !is_name(name)) {
            return Err(format!(
                "{place}: '{bad}' is no name; names start with a letter and have letters, digits, \
                 '-' and '_' only"
            ));
        }
        let option = |(name, value): (String, RawValue)| {
            let value = match value {
                RawValue::Bool(true) => None,
                RawValue::Bool(false) => Some("false".to_owned()),
                RawValue::Int(value) => Some(value.to_string()),
                RawValue::Float(value) => Some(value.to_string()),
                RawValue::Text(text) => Some(text),
            };
            GivenOption { name, value }
        };
        let options = target.options.into_iter().map(option).collect();
        let entry = TargetEntry { id: target.id, kind: target.kind, options };
        Self::of(entry).map_err(|reason| format!("{place}: {reason}"))
    }

    fn composite(fields: Map<String, Value>, place: &str) -> Result<Self, String> {
        let (mut devices, mut host) = (Self::default(), None);
        for (name, value) in fields {
            let part = format!("{place}, {name}");
            match (name.replace('-', "_").as_str(), value) {
                ("kind", _) => {}
                (DEVICES, Value::Array(entries)) => {
                    devices = Self::list(entries, place, "device")?;
                }
                (DEVICES, text @ Value::String(_)) => devices = Self::from_value(text, &part)?,
                (DEVICES, _) => return Err(format!("{part}: expected a list of targets")),
                (HOST, value) => host = Some(Self::from_value(value, &part)?),
                ("id", value) => {
                    let id = value.as_str().unwrap_or_default();
                    return Err(format!("{place}: {}", no_id(id)));
                }
                _ => {
                    return Err(format!(
                        "{place}: a composite has no '{name}'; it has {DEVICES} and {HOST}"
                    ));
                }
            }
        }
        devices.with_host(host).map_err(|reason| format!("{place}: {reason}"))
    }
}

/// Says what a target looks like.
fn shape(place: &str, fault: &str) -> String {
    format!(
        "{place}: {fault}; a target is a text as in 'npu -sram=64k', or an object with kind, and \
         maybe id and options, or {DEVICES} and {HOST} for the kind {COMPOSITE}"
    )
}

impl TargetSpec {
    /// The JSON form.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string(&self.to_raw());
        text.map_err(|error| Error::internal(error.to_string()))
    }

    /// The TOML form.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(&self.to_raw()).map_err(|error| Error::internal(error.to_string()))
    }

    fn to_raw(&self) -> RawDocument {
        let value = |value: &Option<String>| match value {
            None => RawValue::Bool(true),
            Some(text) => RawValue::Text(text.clone()),
        };
        let entry = |target: &TargetEntry| {
            let options = target.options.iter();
            RawTarget {
                id: target.id.clone(),
                kind: target.kind.clone(),
                options: options.map(|o| (o.name.clone(), value(&o.value))).collect(),
            }
        };
        RawDocument { targets: self.targets.iter().map(entry).collect() }
    }
}
