//! Output of `phaseline targets`, all of it from declarations.

mod json;

use super::{
    kind::{Role, TargetKind},
    memory::QueueDecl,
    options::{OptionDecl, format_size},
    registry::Registry,
    spec::{TargetEntry, TargetSpec},
};
use crate::{Phase, pattern::PatternSpec};
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

/// Names of declarations, with their descriptions.
type Rows = Vec<(String, String)>;

/// The rows below a title, in columns; nothing if there are none.
fn section(title: &str, rows: Rows) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0).min(32);
    let mut text = format!("{title}:\n");
    for (left, right) in rows {
        let line = format!("  {left:width$}  {right}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
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
        let head = format!("{} ({role})\n  {}\n", self.name, self.doc);
        let sections = [
            ("extends", self.base_rows()),
            ("options", self.option_rows()),
            ("capabilities", self.capability_rows()),
            ("costs in ns", self.cost_rows()),
            ("memory", self.memory_rows()),
            ("queue", self.queue.iter().flat_map(QueueDecl::describe).collect()),
            ("context", self.codegen.context()),
            ("blobs", self.blob_rows()),
            ("patterns", self.patterns.iter().flat_map(|p| self.pattern_rows(&p.spec)).collect()),
            ("operators", self.operator_rows()),
            ("pipelines", self.pipeline_rows()),
            ("hooks", self.hook_rows()),
            ("libraries", self.library_rows()),
            ("artifacts", self.artifact_rows()),
            ("files", self.file_rows()),
            ("declared in", vec![(self.manifest.clone(), String::new())]),
        ];
        sections.into_iter().fold(head, |text, (title, rows)| text + &section(title, rows))
    }

    /// Origin of a declaration, if it is not the kind's own.
    fn origin(&self, what: &str, name: &str) -> String {
        let origin = self.origins.get(&format!("{what} {name}"));
        origin.map(|origin| format!(" ({origin})")).unwrap_or_default()
    }

    fn base_rows(&self) -> Rows {
        let bases = self.layers.iter().skip(1);
        bases.map(|layer| (layer.kind.clone(), layer.manifest.clone())).collect()
    }

    fn option_rows(&self) -> Rows {
        let options = self.options.iter();
        let option =
            |o: &OptionDecl| (o.to_string(), o.doc.clone() + &self.origin("option", &o.name));
        options.map(option).collect()
    }

    fn capability_rows(&self) -> Rows {
        if self.role != Role::Device {
            return vec![];
        }
        let dtypes = names_of(&self.capabilities.dtypes);
        let flag = |set: bool, text: &str| if set { format!(", {text}") } else { String::new() };
        let types = if dtypes.is_empty() { "all".to_owned() } else { dtypes.join(" ") };
        let more = flag(self.capabilities.multi_output, "several outputs")
            + &flag(self.capabilities.taps, "taps")
            + &flag(self.capabilities.merge, "neighbours are merged");
        let limits = self.capabilities.region.texts();
        let limits = (!limits.is_empty()).then(|| ("regions".to_owned(), limits.join("; ")));
        std::iter::once(("element types".to_owned(), types + &more)).chain(limits).collect()
    }

    fn cost_rows(&self) -> Rows {
        let costs = self.cost.entries().into_iter();
        costs.map(|(name, cost)| (name.to_owned(), cost)).collect()
    }

    /// The pools, then the memory of the device.
    fn memory_rows(&self) -> Rows {
        let pools = self.pools.iter().map(|pool| {
            let bytes = pool.bytes.as_ref().map_or("no limit".to_owned(), size_text);
            let text = format!("{bytes}, aligned to {}; {}", pool.alignment, pool.doc);
            let text = text.trim_end_matches("; ").to_owned();
            (pool.name.clone(), text + &self.origin("pool", &pool.name))
        });
        let memory = self.memory.iter().map(|memory| {
            let bytes = memory.bytes.as_ref().map_or("what the device gives".to_owned(), size_text);
            let alignment = memory.alignment;
            let text = format!("{bytes}, aligned to {alignment}; values of its own {}", memory.doc);
            (memory.name.clone(), text.trim_end().to_owned())
        });
        pools.chain(memory).collect()
    }

    fn blob_rows(&self) -> Rows {
        let blob = self.codegen.blob.iter().flat_map(|blob| blob.get_ref().functions());
        blob.map(|(key, name)| (key.to_owned(), name.clone())).collect()
    }

    /// A pattern, with its conditions, its cost and its tiles below.
    fn pattern_rows(&self, spec: &PatternSpec) -> Rows {
        let mut rows = vec![];
        let origin = self.origin("pattern", &spec.name);
        rows.push((spec.name.clone(), spec.matches.clone() + &origin));
        for clause in &spec.clauses {
            rows.push((String::new(), format!("  where {clause}")));
        }
        rows.extend(spec.cost.iter().map(|c| (String::new(), format!("  cost {c} ns"))));
        rows.extend(spec.tile.iter().map(|tile| {
            let loops: Vec<&str> = tile.loops.iter().map(|l| l.name.as_str()).collect();
            let pools: Vec<&str> = tile.pools.iter().map(|pool| pool.name.as_str()).collect();
            let (loops, pools) = (loops.join(" x "), pools.join(", "));
            let text = match pools.as_str() {
                "" => format!("  in tiles of {loops}, where the tensors are"),
                pools => format!("  in tiles of {loops} in {pools}"),
            };
            (String::new(), text)
        }));
        rows
    }

    fn operator_rows(&self) -> Rows {
        let operators = self.operators.iter().map(|known| {
            let parts = known.decl.to_string();
            let reference = if known.reference.is_some() { "" } else { ", without reference" };
            (known.word.clone(), format!("{parts}{reference}"))
        });
        operators.collect()
    }

    fn pipeline_rows(&self) -> Rows {
        let phases = self.pipelines.iter();
        let phase = |(p, text): &(Phase, String)| {
            (p.to_string(), text.clone() + &self.origin("phase", p.name()))
        };
        phases.map(phase).collect()
    }

    fn hook_rows(&self) -> Rows {
        let hooks = self.hooks.describe().into_iter();
        let hook =
            |(point, text): (&str, String)| (point.to_owned(), text + &self.origin("hook", point));
        hooks.map(hook).collect()
    }

    fn library_rows(&self) -> Rows {
        let libraries = self.libraries.iter().map(|library| {
            let when = library.when.as_ref().map(|when| format!(", with -{when}"));
            (
                library.file.clone(),
                format!("licence {}{}", library.licence, when.unwrap_or_default()),
            )
        });
        libraries.collect()
    }

    fn artifact_rows(&self) -> Rows {
        let types = self.artifacts.0.iter();
        types.map(|(name, kind)| (name.clone(), kind.to_string())).collect()
    }

    /// The files of code that a base has.
    fn file_rows(&self) -> Rows {
        let files = self.codegen.headers.iter().chain(&self.codegen.sources);
        let file = |name: &String| {
            let at = self.layers.iter().position(|layer| layer.files.has(name))?;
            let layer = self.layers.get(at).filter(|_| at > 0)?;
            Some((name.clone(), format!("from {}", layer.manifest)))
        };
        files.filter_map(file).collect()
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
        let spec = TargetSpec::new(vec![TargetEntry::new(name)]);
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
