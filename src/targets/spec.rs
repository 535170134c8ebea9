//! Target specs: which targets a compile is for, most preferred first, the host last.
//!
//! ```text
//! npu -sram=64k, dnnl, llvm -mcpu=native
//! a: npu -sram=64k, b: npu -sram=1m, llvm -mattr='+avx2,+fma'
//! ```
//! Values with blanks, commas or quotes are quoted; within quotes `\` takes the next character as
//! it is. The same as JSON is `[{"kind": "npu", "options": {"sram": "64k"}}, "llvm"]`, also as the
//! value of `targets` in an object or TOML document.

use super::manifest::is_name;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// An option as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOption {
    /// Name.
    pub name: String,
    /// Value; `None` if only the name is given.
    pub value: Option<String>,
}

/// One target of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetEntry {
    /// Id, if given.
    pub id: Option<String>,
    /// Name of a kind or an alias.
    pub kind: String,
    /// Options, sorted by name: their order means nothing.
    pub options: Vec<GivenOption>,
}

/// An ordered list of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// The targets.
    pub targets: Vec<TargetEntry>,
}

impl FromStr for TargetSpec {
    type Err = Error;
    /// Reads the text form, or the JSON form if the text starts with a bracket.
    fn from_str(text: &str) -> Result<Self> {
        match text.trim_start().chars().next() {
            Some('[' | '{') => Self::from_json(text),
            _ => Reader { text, at: 0 }.spec(),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn fault(&self, at: usize, message: impl fmt::Display) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let whole = self.text.lines().nth(before.matches('\n').count()).unwrap_or_default();
        let column = line.chars().count();
        let caret = " ".repeat(column);
        Error::invalid(format!(
            "target spec, column {}: {message}\n  {whole}\n  {caret}^",
            column + 1
        ))
    }

    fn spec(mut self) -> Result<TargetSpec> {
        let mut targets = vec![];
        loop {
            self.skip_blanks();
            if self.rest().is_empty() {
                let message = match targets.is_empty() {
                    true => "the spec is empty; name a target, for example 'llvm'",
                    false => "a comma at the end; name another target after it, or remove it",
                };
                return Err(self.fault(self.at, message));
            }
            targets.push(self.entry()?);
            self.skip_blanks();
            if self.rest().is_empty() {
                return Ok(TargetSpec { targets });
            }
            if !self.eat(',') {
                let message = "expected an option that starts with '-', or ',' and another target";
                return Err(self.fault(self.at, message));
            }
        }
    }

    fn word(&mut self, what: &str) -> Result<String> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if !is_name(word) {
            let hint = match rest.starts_with(['+', '-']) && what == "the name of a target" {
                true => "; a value with commas is quoted, as in -mattr='+avx2,+fma'",
                false => "",
            };
            return Err(self.fault(self.at, format!("expected {what}{hint}")));
        }
        self.at += end;
        Ok(word.to_owned())
    }

    fn entry(&mut self) -> Result<TargetEntry> {
        let mut kind = self.word("the name of a target")?;
        let mut id = None;
        let mark = self.at;
        self.skip_blanks();
        if self.eat(':') {
            self.skip_blanks();
            id = Some(kind);
            kind = self.word("the name of a target")?;
        } else {
            self.at = mark;
        }
        let mut options: Vec<GivenOption> = vec![];
        loop {
            let mark = self.at;
            self.skip_blanks();
            if !self.rest().starts_with('-') {
                options.sort_by(|a, b| a.name.cmp(&b.name));
                return Ok(TargetEntry { id, kind, options });
            }
            if mark == self.at {
                return Err(self.fault(mark, "expected a blank before an option"));
            }
            let at = self.at;
            self.eat('-');
            self.eat('-');
            let name = self.word("the name of an option")?;
            let value = if self.eat('=') { Some(self.value()?) } else { None };
            if options.iter().any(|option| option.name == name) {
                return Err(self.fault(at, format!("option '{name}' is given twice")));
            }
            options.push(GivenOption { name, value });
        }
    }

    fn value(&mut self) -> Result<String> {
        let start = self.at;
        let Some(quote) = self.rest().chars().next().filter(|c| ['\'', '"'].contains(c)) else {
            let rest = self.rest();
            let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
            self.at += end;
            return Ok(rest.get(..end).unwrap_or_default().to_owned());
        };
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((place, c)) = chars.next() {
            match c {
                '\\' => value.extend(chars.next().map(|(_, c)| c)),
                _ if c == quote => {
                    self.at += place + 1;
                    return Ok(value);
                }
                _ => value.push(c),
            }
        }
        Err(self.fault(start, format!("the quoted value is not closed by {quote}")))
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, target) in self.targets.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{target}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TargetEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.id {
            write!(f, "{id}: ")?;
        }
        f.write_str(&self.kind)?;
        for option in &self.options {
            write!(f, " -{}", option.name)?;
            let Some(value) = &option.value else { continue };
            let plain = !value.chars().any(|c| c.is_whitespace() || [',', '\'', '"'].contains(&c));
            match plain {
                true => write!(f, "={value}")?,
                false => {
                    let escaped = value.replace('\\', "\\\\").replace('\'', "\\'");
                    write!(f, "='{escaped}'")?;
                }
            }
        }
        Ok(())
    }
}

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

impl TargetSpec {
    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text)
            .map_err(|error| Error::invalid(format!("target spec as JSON: {error}")))?;
        Self::from_value(value)
    }

    /// Reads the TOML form.
    pub fn from_toml(text: &str) -> Result<Self> {
        let value = toml::from_str(text).map_err(|error| {
            Error::invalid(format!("target spec as TOML: {}", error.to_string().trim_end()))
        })?;
        Self::from_value(value)
    }

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

    fn from_value(value: Value) -> Result<Self> {
        let shape = || {
            Error::invalid("target spec: expected a list of targets, or an object with 'targets'")
        };
        let entries = match value {
            Value::Array(entries) => entries,
            Value::Object(mut fields) => match fields.remove("targets") {
                Some(Value::Array(entries)) if fields.is_empty() => entries,
                _ => return Err(shape()),
            },
            _ => return Err(shape()),
        };
        let mut targets = vec![];
        for (index, entry) in entries.into_iter().enumerate() {
            let target = match entry {
                Value::String(kind) => RawTarget { id: None, kind, options: BTreeMap::new() },
                other => serde_json::from_value(other).map_err(|error| {
                    Error::invalid(format!(
                        "target spec, target {}: {error}; a target is a name, or an object with \
                         kind, and maybe id and options",
                        index + 1
                    ))
                })?,
            };
            let names = target.id.iter().chain([&target.kind]).chain(target.options.keys());
            if let Some(bad) = names.into_iter().find(|name| !is_name(name)) {
                return Err(Error::invalid(format!(
                    "target spec: '{bad}' is no name; names start with a letter and have letters, \
                     digits, '-' and '_' only"
                )));
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
            targets.push(TargetEntry { id: target.id, kind: target.kind, options });
        }
        if targets.is_empty() {
            return Err(Error::invalid("the target spec is empty; name a target, such as llvm"));
        }
        Ok(Self { targets })
    }
}
