//! Aliases: names that stand for specs. They come from `aliases.toml` beside directories of
//! targets, `[[alias]]` of manifests, configurations, and callers of [`Registry::add_alias`].

use super::{
    manifest,
    registry::Registry,
    spec::{COMPOSITE, TargetEntry, TargetSpec, not_last, not_one},
};
use crate::{Error, Result};
use std::path::Path;

/// The file beside the directories of target kinds that names specs: `edge = "npu -sram=64k, llvm"`.
pub const ALIASES: &str = "aliases.toml";

/// A name for a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Spec behind the name.
    pub spec: TargetSpec,
    /// One line of help; may be empty.
    pub doc: String,
    /// Location of the declaration, for messages.
    pub place: String,
}

/// Reads a table of names and specs; each is a text, or as in a spec's own document.
pub(super) fn read_table(table: toml::Table, place: &str) -> Result<Vec<(String, Alias)>> {
    let aliases = table.into_iter().map(|(name, value)| {
        let spec = read_spec(value)
            .map_err(|reason| Error::invalid(format!("{place}: alias '{name}': {reason}")))?;
        Ok((name, Alias { spec, doc: String::new(), place: place.to_owned() }))
    });
    aliases.collect()
}

/// Reads the spec of an alias.
pub(super) fn read_spec(value: toml::Value) -> Result<TargetSpec> {
    if !(value.is_str() || value.is_array() || value.is_table()) {
        return Err(Error::invalid(format!(
            "{value} is no target spec, such as \"npu, llvm\" or {{ kind = \"npu\" }}"
        )));
    }
    let value = serde_json::to_value(value).map_err(|error| Error::invalid(error.to_string()))?;
    TargetSpec::from_value(value)
}

/// The targets that aliases stand for, and the host after which nothing comes, with who names it.
#[derive(Default)]
struct Expanded {
    targets: Vec<TargetEntry>,
    host: Option<(String, String)>,
}

/// A fault of the innermost alias.
fn fault(within: &[(&str, &Alias)], text: String) -> Result<()> {
    let place = within.last().map(|(name, a)| format!("{}: alias '{name}': ", a.place));
    Err(Error::invalid(place.unwrap_or_default() + &text))
}

impl Registry {
    /// Reads a file of aliases, if it is there, and returns how many it has.
    pub(super) fn add_alias_file(&mut self, file: &Path) -> Result<usize> {
        if !file.is_file() {
            return Ok(0);
        }
        let text = crate::io::read_text(file).map_err(|e| Error::io("cannot read", file, e))?;
        let place = file.display().to_string();
        let table: toml::Table = toml::from_str(&text)
            .map_err(|e| Error::invalid(format!("{place}: {}", e.to_string().trim_end())))?;
        let aliases = read_table(table, &place)?;
        let count = aliases.len();
        for (name, alias) in aliases {
            self.add_alias(&name, alias)?;
        }
        Ok(count)
    }

    /// Lets `name` stand for a spec within others. What the spec names may follow later.
    pub fn add_alias(&mut self, name: &str, alias: Alias) -> Result<()> {
        let fault = |text: String| Err(Error::invalid(format!("{}: {text}", alias.place)));
        if !manifest::is_name(name) {
            return fault(format!(
                "'{name}' is no name for an alias: it is to start with a letter and have letters, \
                 digits, '-' and '_' only"
            ));
        }
        if let Some(kind) = self.kinds.get(name) {
            return fault(format!(
                "there is already a target called '{name}', in {}; choose another name for the alias",
                kind.manifest
            ));
        }
        if let Some(known) = self.aliases.get(name) {
            return fault(format!(
                "there is already an alias called '{name}', in {}; rename one of them",
                known.place
            ));
        }
        if name == COMPOSITE {
            return fault(format!(
                "'{name}' means devices and a host, and is no name for an alias"
            ));
        }
        self.aliases.insert(name.to_owned(), alias);
        Ok(())
    }

    /// All aliases, by name.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &Alias)> {
        self.aliases.iter().map(|(name, alias)| (name.as_str(), alias))
    }

    /// An alias by name.
    pub fn alias(&self, name: &str) -> Option<&Alias> {
        self.aliases.get(name)
    }

    /// A spec with what its aliases stand for in their place.
    pub fn expand(&self, spec: &TargetSpec) -> Result<TargetSpec> {
        let mut expanded = Expanded::default();
        self.expand_all(spec, &mut vec![], &mut expanded)?;
        Ok(TargetSpec { targets: expanded.targets, ends: expanded.host.is_some() })
    }

    fn expand_all<'a>(
        &'a self,
        spec: &'a TargetSpec,
        within: &mut Vec<(&'a str, &'a Alias)>,
        expanded: &mut Expanded,
    ) -> Result<()> {
        let mut first = expanded.targets.len();
        for entry in &spec.targets {
            first = expanded.targets.len();
            self.expand_entry(entry, within, expanded)?;
        }
        if !spec.ends {
            return Ok(());
        }
        let [host] = expanded.targets.get(first..).unwrap_or_default() else {
            return fault(within, not_one(expanded.targets.len() - first));
        };
        let composite =
            within.last().map_or("a composite".to_owned(), |(n, _)| format!("alias '{n}'"));
        let host = host.kind.clone();
        expanded.host.get_or_insert((host, composite));
        Ok(())
    }

    fn expand_entry<'a>(
        &'a self,
        entry: &'a TargetEntry,
        within: &mut Vec<(&'a str, &'a Alias)>,
        expanded: &mut Expanded,
    ) -> Result<()> {
        if let Some((host, composite)) = &expanded.host {
            return fault(within, not_last(host, composite));
        }
        let Some(alias) = self.aliases.get(&entry.kind) else {
            // A name that is wrong in an alias is its fault, not that of who uses it.
            if let (false, Err(error)) = (within.is_empty(), self.get(&entry.kind)) {
                return fault(within, error.to_string());
            }
            expanded.targets.push(entry.clone());
            return Ok(());
        };
        if within.iter().any(|(name, _)| *name == entry.kind) {
            let names: Vec<&str> = within.iter().map(|(name, _)| *name).collect();
            let text = format!("stands for itself: {} -> {}", names.join(" -> "), entry.kind);
            return fault(within, text);
        }
        let first = expanded.targets.len();
        within.push((&entry.kind, alias));
        self.expand_all(&alias.spec, within, expanded)?;
        within.pop();
        if entry.id.is_none() && entry.options.is_empty() {
            return Ok(());
        }
        let [one] = expanded.targets.get_mut(first..).unwrap_or_default() else {
            let text = format!(
                "'{}' is an alias of '{}' and takes neither id nor options; write the targets out",
                entry.kind, alias.spec
            );
            return fault(within, text);
        };
        one.refine(entry);
        Ok(())
    }

    /// Reason why an alias does not expand; none if it does.
    pub(super) fn alias_fault(&self, name: &str) -> Option<String> {
        let entry = TargetEntry::new(name);
        let fault =
            self.expand_entry(&entry, &mut vec![], &mut Expanded::default()).err()?.to_string();
        fault.lines().next().map(str::to_owned)
    }
}
