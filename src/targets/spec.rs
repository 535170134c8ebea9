//! Target specs: which targets a compile is for, most preferred first, the host last.
//!
//! ```text
//! npu -sram=64k, dnnl, llvm -mcpu=native
//! a: npu -sram=64k, b: npu -sram=1m, llvm -mattr='+avx2,+fma'
//! ```
//! Values with blanks, commas or quotes are quoted; within quotes `\` takes the next character as
//! it is. The same as JSON is `[{"kind": "npu", "options": {"sram": "64k"}}, "llvm"]`, also as the
//! value of `targets` in an object or TOML document.
//!
//! A composite stands for its devices and its host, and may have composites among its devices:
//!
//! ```text
//! composite -devices='npu -sram=64k, dnnl' -target_host=llvm
//! {"kind": "composite", "devices": ["npu -sram=64k", {"kind": "dnnl"}], "target_host": "llvm"}
//! ```

mod composite;
mod document;

use super::manifest::is_name;
use crate::{Error, Result};
use composite::Group;
use std::{fmt, str::FromStr};

pub(super) use composite::{COMPOSITE, not_last, not_one};

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
#[derive(Clone, Debug)]
pub struct TargetSpec {
    /// The targets.
    pub targets: Vec<TargetEntry>,
    /// True if the last one is what a composite named as its host, after which nothing comes.
    pub(super) ends: bool,
}

impl TargetSpec {
    /// These targets, in order.
    pub fn new(targets: Vec<TargetEntry>) -> Self {
        Self { targets, ends: false }
    }
}

/// Specs are equal that stand for the same targets, however they are written.
impl PartialEq for TargetSpec {
    fn eq(&self, other: &Self) -> bool {
        self.targets == other.targets
    }
}

impl Eq for TargetSpec {}

impl FromStr for TargetSpec {
    type Err = Error;
    /// Reads the text form, or JSON or TOML if the text starts as they do.
    fn from_str(text: &str) -> Result<Self> {
        Group::parse(text).map(Group::into_spec)
    }
}

/// True for TOML: a key with its value, or the head of a table, after comments. No name of a target
/// is followed by `=`, and JSON has no two brackets or a letter after the first one.
fn is_toml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else {
        return text.trim_start().starts_with('#');
    };
    if let Some(head) = line.strip_prefix('[') {
        return head.starts_with(|c: char| c == '[' || c.is_ascii_alphabetic());
    }
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let rest = line.trim_start_matches(word);
    rest.len() < line.len() && rest.trim_start().starts_with('=')
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

    fn spec(mut self) -> Result<Group> {
        let mut group = Group::default();
        loop {
            self.skip_blanks();
            if self.rest().is_empty() {
                let message = match group.targets.is_empty() {
                    true => "the spec is empty; name a target, for example 'llvm'",
                    false => "a comma at the end; name another target after it, or remove it",
                };
                return Err(self.fault(self.at, message));
            }
            let at = self.at;
            let next = Group::of(self.entry()?).map_err(|reason| self.fault(at, reason))?;
            group.append(next).map_err(|reason| self.fault(at, reason))?;
            self.skip_blanks();
            if self.rest().is_empty() {
                return Ok(group);
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

impl TargetEntry {
    /// A target without id and options.
    pub fn new(kind: &str) -> Self {
        Self { id: None, kind: kind.to_owned(), options: vec![] }
    }

    /// Takes over the id and the options of another one, where that has them.
    pub(super) fn refine(&mut self, other: &Self) {
        if other.id.is_some() {
            self.id.clone_from(&other.id);
        }
        self.options.retain(|old| other.options.iter().all(|new| new.name != old.name));
        self.options.extend(other.options.iter().cloned());
        self.options.sort_by(|a, b| a.name.cmp(&b.name));
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
