//! What `phaseline targets` prints, all of it from declarations.

mod json;

use super::{
    kind::{Role, TargetKind},
    memory::QueueDecl,
    options::{OptionDecl, format_size},
    registry::Registry,
    spec::{TargetEntry, TargetSpec},
};
use crate::Phase;
use json::{AliasJson, EntryJson, KindJson, names_of};
use serde::Serialize;
use std::fmt::Write;

/// A size for people.
fn size_text(expr: &crate::expr::Expr) -> String {
    match expr.kind {
        crate::expr::ExprKind::Int(bytes) => format_size(bytes),
        _ => expr.to_string(),
    }
}

fn to_json(value: &impl Serialize) -> crate::Result<String> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| crate::Error::internal(error.to_string()))
}

impl TargetKind {
    /// All about the kind as JSON.
    pub fn to_json(&self) -> crate::Result<String> {
        to_json(&KindJson::new(self))
    }

    /// All about the kind for people.
    pub fn describe(&self) -> String {
        let role = match self.role {
            Role::Host => "host: runs everything",
            Role::Device => "device: runs what its patterns match, beside a host",
        };
        let mut out = format!("{} ({role})\n  {}\n", self.name, self.doc);
        let mut section = |title: &str, rows: Vec<(String, String)>| {
            if rows.is_empty() {
                return;
            }
            let width =
                rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0).min(32);
            // Writing to a string does not fail.
            let _ = writeln!(out, "{title}:");
            for (left, right) in rows {
                let line = format!("  {left:width$}  {right}");
                let _ = writeln!(out, "{}", line.trim_end());
            }
        };
        let from = |what: &str, name: &str| {
            let origin = self.origins.get(&format!("{what} {name}"));
            origin.map(|origin| format!(" ({origin})")).unwrap_or_default()
        };
        let bases: Vec<(String, String)> = self
            .layers
            .iter()
            .skip(1)
            .map(|layer| (layer.kind.clone(), layer.manifest.clone()))
            .collect();
        section("extends", bases);
        let options = self.options.iter();
        let option = |o: &OptionDecl| (o.to_string(), o.doc.clone() + &from("option", &o.name));
        section("options", options.map(option).collect());
        let dtypes = names_of(&self.capabilities.dtypes);
        let flag = |set: bool, text: &str| if set { format!(", {text}") } else { String::new() };
        if self.role == Role::Device {
            let types = if dtypes.is_empty() { "all".to_owned() } else { dtypes.join(" ") };
            let more = flag(self.capabilities.multi_output, "several outputs")
                + &flag(self.capabilities.taps, "taps")
                + &flag(self.capabilities.merge, "neighbours are merged");
            section("capabilities", vec![("element types".to_owned(), types + &more)]);
        }
        let costs = self.cost.entries().into_iter();
        section("costs in ns", costs.map(|(name, cost)| (name.to_owned(), cost)).collect());
        let pools = self.pools.iter().map(|pool| {
            let bytes = pool.bytes.as_ref().map_or("no limit".to_owned(), size_text);
            let text = format!("{bytes}, aligned to {}; {}", pool.alignment, pool.doc);
            (pool.name.clone(), text.trim_end_matches("; ").to_owned() + &from("pool", &pool.name))
        });
        let memory = self.memory.iter().map(|memory| {
            let bytes = memory.bytes.as_ref().map_or("what the device gives".to_owned(), size_text);
            let alignment = memory.alignment;
            let text = format!("{bytes}, aligned to {alignment}; values of its own {}", memory.doc);
            (memory.name.clone(), text.trim_end().to_owned())
        });
        section("memory", pools.chain(memory).collect());
        section("queue", self.queue.iter().flat_map(QueueDecl::describe).collect());
        section("context", self.codegen.context());
        let blob = self.codegen.blob.iter().flat_map(|blob| blob.get_ref().functions());
        section("blobs", blob.map(|(key, name)| (key.to_owned(), name.clone())).collect());
        let mut patterns = vec![];
        for pattern in &self.patterns {
            let origin = from("pattern", &pattern.spec.name);
            patterns.push((pattern.spec.name.clone(), pattern.spec.matches.clone() + &origin));
            for clause in &pattern.spec.clauses {
                patterns.push((String::new(), format!("  where {clause}")));
            }
            patterns.extend(
                pattern.spec.cost.iter().map(|c| (String::new(), format!("  cost {c} ns"))),
            );
            patterns.extend(pattern.spec.tile.iter().map(|tile| {
                let loops: Vec<&str> = tile.loops.iter().map(|l| l.name.as_str()).collect();
                let pools: Vec<&str> = tile.pools.iter().map(|pool| pool.name.as_str()).collect();
                let (loops, pools) = (loops.join(" x "), pools.join(", "));
                let text = match pools.as_str() {
                    "" => format!("  in tiles of {loops}, where the tensors are"),
                    pools => format!("  in tiles of {loops} in {pools}"),
                };
                (String::new(), text)
            }));
        }
        section("patterns", patterns);
        let operators = self.operators.iter().map(|known| {
            let parts = known.decl.to_string();
            let reference = if known.reference.is_some() { "" } else { ", without reference" };
            (known.word.clone(), format!("{parts}{reference}"))
        });
        section("operators", operators.collect());
        let phases = self.pipelines.iter();
        let phase =
            |(p, text): &(Phase, String)| (p.to_string(), text.clone() + &from("phase", p.name()));
        section("pipelines", phases.map(phase).collect());
        let hooks = self.hooks.describe().into_iter();
        let hook = |(point, text): (&str, String)| (point.to_owned(), text + &from("hook", point));
        section("hooks", hooks.map(hook).collect());
        let libraries = self.libraries.iter().map(|library| {
            let when = library.when.as_ref().map(|when| format!(", with -{when}"));
            (
                library.file.clone(),
                format!("licence {}{}", library.licence, when.unwrap_or_default()),
            )
        });
        section("libraries", libraries.collect());
        let types = self.artifacts.0.iter();
        section("artifacts", types.map(|(name, kind)| (name.clone(), kind.to_string())).collect());
        let files = self.codegen.headers.iter().chain(&self.codegen.sources);
        let file = |name: &String| {
            let at = self.layers.iter().position(|layer| layer.files.has(name))?;
            let layer = self.layers.get(at).filter(|_| at > 0)?;
            Some((name.clone(), format!("from {}", layer.manifest)))
        };
        section("files", files.filter_map(file).collect());
        section("declared in", vec![(self.manifest.clone(), String::new())]);
        out
    }
}

impl Registry {
    /// All kinds, one line each, and the aliases.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        let width = self.kinds().map(|kind| kind.name.len()).max().unwrap_or(0);
        for kind in self.kinds() {
            let role = match kind.role {
                Role::Host => "host",
                Role::Device => "device",
            };
            let _ = writeln!(out, "{:width$}  {role:6}  {}", kind.name, kind.doc);
        }
        for (name, alias) in self.aliases() {
            let mut notes: Vec<String> = vec![alias.doc.clone(), alias.place.clone()];
            notes.extend(self.alias_fault(name).map(|fault| format!("does not work: {fault}")));
            notes.retain(|note| !note.is_empty());
            let _ =
                writeln!(out, "{name:width$}  alias   of '{}' ({})", alias.spec, notes.join("; "));
        }
        out
    }

    /// All about a kind or an alias for people.
    pub fn describe_one(&self, name: &str) -> crate::Result<String> {
        let Some(alias) = self.alias(name) else { return self.get(name).map(|k| k.describe()) };
        let spec = TargetSpec { targets: vec![TargetEntry::new(name)] };
        let doc = if alias.doc.is_empty() { String::new() } else { format!("  {}\n", alias.doc) };
        let meaning = self.expand(&spec)?;
        Ok(format!(
            "{name} (alias)\n{doc}stands for:\n  {}\nwhich is:\n  {meaning}\ndeclared in:\n  {}\n",
            alias.spec, alias.place
        ))
    }

    /// All about a kind or an alias as JSON.
    pub fn one_to_json(&self, name: &str) -> crate::Result<String> {
        match self.alias(name) {
            Some(alias) => to_json(&AliasJson::new(name, alias)),
            None => self.get(name)?.to_json(),
        }
    }

    /// All kinds as JSON, then all aliases.
    pub fn to_json(&self) -> crate::Result<String> {
        let kinds = self.kinds().map(|kind| EntryJson::Kind(Box::new(KindJson::new(kind))));
        let alias = |(name, alias)| EntryJson::Alias(AliasJson::new(name, alias));
        to_json(&kinds.chain(self.aliases().map(alias)).collect::<Vec<_>>())
    }
}
