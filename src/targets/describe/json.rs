//! The form of target kinds and aliases as JSON.

use crate::{
    pattern::PatternSpec,
    targets::{
        alias::Alias,
        kind::{PoolDecl, Role, TargetKind},
        memory::{MemoryDecl, QueueDecl},
        operator::OperatorJson,
        options::{OptionDecl, OptionKind},
    },
    tensor::ElementType,
};
use serde::Serialize;

#[derive(Serialize)]
struct OptionJson<'a> {
    name: &'a str,
    #[serde(flatten)]
    kind: &'a OptionKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    doc: &'a str,
}

impl<'a> OptionJson<'a> {
    fn new(option: &'a OptionDecl) -> Self {
        Self {
            name: &option.name,
            kind: &option.kind,
            default: option.default.as_ref().map(|value| option.format(value)),
            doc: &option.doc,
        }
    }
}

#[derive(Serialize)]
struct PatternJson<'a> {
    name: &'a str,
    doc: &'a str,
    #[serde(rename = "match")]
    matches: &'a str,
    #[serde(rename = "where")]
    clauses: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dtypes: Option<Vec<&'static str>>,
    benefit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a str>,
    compute: bool,
    lower: Option<&'a str>,
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    inline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<&'a crate::pattern::TileSpec>,
}

impl<'a> PatternJson<'a> {
    fn new(spec: &'a PatternSpec) -> Self {
        Self {
            name: &spec.name,
            doc: &spec.doc,
            matches: &spec.matches,
            clauses: &spec.clauses,
            dtypes: spec.dtypes.as_deref().map(names_of),
            benefit: spec.benefit,
            cost: spec.cost.as_deref(),
            compute: spec.compute,
            lower: spec.lower.as_deref(),
            call: spec.call.as_deref(),
            inline: spec.inline,
            tile: spec.tile.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct PoolJson<'a> {
    name: &'a str,
    bytes: Option<String>,
    alignment: i64,
    scope: &'a str,
    doc: &'a str,
}

impl<'a> PoolJson<'a> {
    fn new(pool: &'a PoolDecl) -> Self {
        Self {
            name: &pool.name,
            bytes: pool.bytes.as_ref().map(ToString::to_string),
            alignment: pool.alignment,
            scope: &pool.scope,
            doc: &pool.doc,
        }
    }
}

#[derive(Serialize)]
struct MemoryJson<'a> {
    name: &'a str,
    bytes: Option<String>,
    alignment: i64,
    doc: &'a str,
}

impl<'a> MemoryJson<'a> {
    fn new(memory: &'a MemoryDecl) -> Self {
        Self {
            name: &memory.name,
            bytes: memory.bytes.as_ref().map(ToString::to_string),
            alignment: memory.alignment,
            doc: &memory.doc,
        }
    }
}

#[derive(Serialize)]
struct QueueJson<'a> {
    wait: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_for: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<String>,
    doc: &'a str,
}

impl<'a> QueueJson<'a> {
    fn new(queue: &'a QueueDecl) -> Self {
        Self {
            wait: &queue.wait,
            timeout: queue.timeout.as_ref().map(ToString::to_string),
            submit: queue.submit.as_deref(),
            wait_for: queue.wait_for.as_deref(),
            count: queue.count.as_ref().map(ToString::to_string),
            doc: &queue.doc,
        }
    }
}

#[derive(Serialize)]
struct CapabilitiesJson {
    dtypes: Vec<&'static str>,
    multi_output: bool,
    taps: bool,
    merge: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    region: Vec<String>,
}

/// The names of element types in MLIR.
pub fn names_of(types: &[ElementType]) -> Vec<&'static str> {
    types.iter().map(|ty| ty.mlir_name()).collect()
}

/// A kind as JSON shows it.
#[derive(Serialize)]
pub struct KindJson<'a> {
    name: &'a str,
    role: Role,
    doc: &'a str,
    manifest: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extends: Vec<&'a str>,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    origins: &'a crate::targets::manifest::Origins,
    options: Vec<OptionJson<'a>>,
    capabilities: CapabilitiesJson,
    cost: std::collections::BTreeMap<&'static str, String>,
    pools: Vec<PoolJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operators: Vec<OperatorJson<'a>>,
    patterns: Vec<PatternJson<'a>>,
    phases: Vec<(&'static str, &'a str)>,
    hooks: std::collections::BTreeMap<&'static str, String>,
    codegen: &'a crate::targets::codegen::Codegen,
}

impl<'a> KindJson<'a> {
    /// All that a kind declares.
    pub fn new(kind: &'a TargetKind) -> Self {
        let capabilities = &kind.capabilities;
        Self {
            name: &kind.name,
            role: kind.role,
            doc: &kind.doc,
            manifest: &kind.manifest,
            extends: kind.layers.iter().skip(1).map(|layer| layer.kind.as_str()).collect(),
            origins: &kind.origins,
            options: kind.options.iter().map(OptionJson::new).collect(),
            capabilities: CapabilitiesJson {
                dtypes: names_of(&capabilities.dtypes),
                multi_output: capabilities.multi_output,
                taps: capabilities.taps,
                merge: capabilities.merge,
                region: capabilities.region.texts(),
            },
            cost: kind.cost.entries().into_iter().collect(),
            pools: kind.pools.iter().map(PoolJson::new).collect(),
            memory: kind.memory.as_ref().map(MemoryJson::new),
            queue: kind.queue.as_ref().map(QueueJson::new),
            operators: kind.operators.iter().map(|known| OperatorJson::new(known)).collect(),
            patterns: kind.patterns.iter().map(|pattern| PatternJson::new(&pattern.spec)).collect(),
            phases: kind
                .pipelines
                .iter()
                .map(|(phase, text)| (phase.name(), text.as_str()))
                .collect(),
            hooks: kind.hooks.describe().into_iter().collect(),
            codegen: &kind.codegen,
        }
    }
}

/// Entry that a spec may name.
#[derive(Serialize)]
#[serde(untagged)]
pub enum EntryJson<'a> {
    /// A kind.
    Kind(Box<KindJson<'a>>),
    /// An alias.
    Alias(AliasJson<'a>),
}

/// An alias as JSON shows it.
#[derive(Serialize)]
pub struct AliasJson<'a> {
    name: &'a str,
    role: &'static str,
    doc: &'a str,
    spec: String,
    place: &'a str,
}

impl<'a> AliasJson<'a> {
    /// Describes an alias and its spec.
    pub fn new(name: &'a str, alias: &'a Alias) -> Self {
        let spec = alias.spec.to_string();
        Self { name, role: "alias", doc: &alias.doc, spec, place: &alias.place }
    }
}
