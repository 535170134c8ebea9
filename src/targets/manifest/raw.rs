//! A manifest as serde reads it. [`super::parse`] gives it meaning.

use super::super::{codegen::Codegen, kind::Role};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawManifest {
    pub version: Option<Spanned<i64>>,
    #[serde(default)]
    pub include: Vec<Spanned<String>>,
    pub target: Option<RawTarget>,
    #[serde(default)]
    pub option: Vec<RawOption>,
    #[serde(default)]
    pub capabilities: RawCapabilities,
    #[serde(default)]
    pub region: RawRegion,
    #[serde(default)]
    pub cost: RawCost,
    #[serde(default)]
    pub pool: Vec<RawPool>,
    pub memory: Option<Spanned<RawMemory>>,
    pub queue: Option<Spanned<RawQueue>>,
    #[serde(default)]
    pub define: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    pub pattern: Vec<RawPattern>,
    #[serde(default)]
    pub op: Vec<RawOp>,
    #[serde(default)]
    pub operator: Vec<RawOperator>,
    pub schedule: Option<Spanned<RawPipeline>>,
    #[serde(default)]
    pub phases: BTreeMap<Spanned<String>, RawPipeline>,
    #[serde(default)]
    pub hooks: BTreeMap<Spanned<String>, RawHook>,
    #[serde(default)]
    pub codegen: Codegen,
    #[serde(default)]
    pub alias: Vec<RawAlias>,
    #[serde(default)]
    pub artifact: Vec<RawArtifact>,
    #[serde(default)]
    pub library: Vec<RawLibrary>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawLibrary {
    pub file: Spanned<String>,
    pub licence: Spanned<String>,
    pub when: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawArtifact {
    pub name: Spanned<String>,
    #[serde(rename = "type")]
    pub ty: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawAlias {
    pub name: Spanned<String>,
    pub spec: Spanned<toml::Value>,
    #[serde(default)]
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawTarget {
    pub name: Spanned<String>,
    pub role: Option<Role>,
    pub doc: String,
    pub extends: Option<Spanned<String>>,
    #[serde(default)]
    pub without: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOption {
    pub name: Spanned<String>,
    #[serde(rename = "type")]
    pub ty: Option<Spanned<String>>,
    pub default: Option<Spanned<toml::Value>>,
    pub min: Option<Spanned<toml::Value>>,
    pub max: Option<Spanned<toml::Value>>,
    pub values: Option<Spanned<Vec<String>>>,
    pub vary: Option<bool>,
    pub doc: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawCapabilities {
    pub dtypes: Option<Vec<Spanned<String>>>,
    pub multi_output: Option<bool>,
    pub taps: Option<Spanned<bool>>,
    pub merge: Option<bool>,
    pub accumulate: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawRegion {
    pub max_operations: Option<Spanned<toml::Value>>,
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    pub once: Option<Vec<Spanned<String>>>,
    pub queue: Option<BTreeMap<Spanned<String>, Spanned<toml::Value>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawCost {
    pub per_call: Option<Spanned<toml::Value>>,
    pub per_byte: Option<Spanned<toml::Value>>,
    pub per_flop: Option<Spanned<toml::Value>>,
    pub per_access: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawPool {
    pub name: Spanned<String>,
    pub bytes: Option<Spanned<toml::Value>>,
    pub alignment: Option<Spanned<i64>>,
    pub row: Option<Spanned<i64>>,
    pub scope: Option<String>,
    pub dma: Option<RawDma>,
    pub doc: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawMemory {
    pub name: Option<Spanned<String>>,
    pub bytes: Option<Spanned<toml::Value>>,
    pub alignment: Option<Spanned<i64>>,
    pub allocate: Option<Spanned<String>>,
    pub free: Option<Spanned<String>>,
    pub copy_in: Option<Spanned<String>>,
    pub copy_out: Option<Spanned<String>>,
    pub copy_within: Option<Spanned<String>>,
    pub doc: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawQueue {
    pub wait: Spanned<String>,
    pub timeout: Option<Spanned<toml::Value>>,
    pub submit: Option<Spanned<String>>,
    pub wait_for: Option<Spanned<String>>,
    pub count: Option<Spanned<toml::Value>>,
    pub select: Option<Spanned<String>>,
    pub after: Option<Spanned<String>>,
    #[serde(default)]
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawPattern {
    pub name: Spanned<String>,
    pub doc: Option<String>,
    #[serde(rename = "match")]
    pub matches: Option<Spanned<String>>,
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    pub dtypes: Option<Vec<Spanned<String>>>,
    pub benefit: Option<i64>,
    pub cost: Option<Spanned<String>>,
    pub compute: Option<bool>,
    pub steps: Option<u32>,
    pub ulps: Option<u32>,
    pub accumulate: Option<Spanned<String>>,
    pub finite: Option<bool>,
    pub lower: Option<String>,
    pub call: Option<Spanned<String>>,
    pub inline: Option<Spanned<bool>>,
    pub schedule: Option<Spanned<RawPipeline>>,
    pub tile: Option<RawTile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOp {
    pub op: Spanned<String>,
    pub doc: Option<String>,
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    pub dtypes: Option<Vec<Spanned<String>>>,
    pub benefit: Option<i64>,
    pub cost: Option<Spanned<String>>,
    pub compute: Option<bool>,
    pub steps: Option<u32>,
    pub ulps: Option<u32>,
    pub accumulate: Option<Spanned<String>>,
    pub finite: Option<bool>,
    pub lower: Option<String>,
    pub call: Option<Spanned<String>>,
    pub inline: Option<Spanned<bool>>,
    pub schedule: Option<Spanned<RawPipeline>>,
    pub tile: Option<RawTile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOperator {
    pub name: Spanned<String>,
    pub domain: Spanned<String>,
    #[serde(rename = "as")]
    pub word: Option<Spanned<String>>,
    #[serde(default)]
    pub doc: String,
    pub operands: Vec<Spanned<String>>,
    #[serde(default)]
    pub attributes: Vec<Spanned<String>>,
    pub results: Vec<RawResult>,
    pub flops: Option<Spanned<String>>,
    pub reference: Option<Spanned<RawReference>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawResult {
    pub name: Spanned<String>,
    pub dtype: Spanned<String>,
    pub shape: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the ONNX text of a function, or { file = \"NAME\" }")]
pub enum RawReference {
    Text(String),
    File(RawFile),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a text, or { file = \"NAME\" }")]
pub enum RawPipeline {
    Text(String),
    File(RawFile),
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a pipeline as text, { file = \"NAME\" }, or { command = [\"PROGRAM\", ...] }"
)]
pub enum RawHook {
    Text(String),
    File(RawFile),
    Command(RawCommand),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawCommand {
    pub command: Vec<String>,
    #[serde(default)]
    pub together: bool,
    #[serde(default)]
    pub module: bool,
    pub protocol: Option<i64>,
    #[serde(default)]
    pub dry_run: bool,
    pub max_seconds: Option<toml::Value>,
    pub max_bytes: Option<toml::Value>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    pub file: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawDma {
    pub channels: Option<Spanned<i64>>,
    pub dims: Option<Spanned<i64>>,
    pub double_buffer: Option<Spanned<toml::Value>>,
    pub overlap_stores: Option<Spanned<toml::Value>>,
    pub keep_results: Option<Spanned<toml::Value>>,
    pub load: Option<Spanned<String>>,
    pub store: Option<Spanned<String>>,
    pub keep: Option<Spanned<String>>,
    pub keep_in: Option<Spanned<String>>,
    pub shift: Option<Spanned<String>>,
    pub shift_cost: Option<Spanned<toml::Value>>,
    pub wait: Option<Spanned<String>>,
    pub cost: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawTile {
    pub pool: Option<Spanned<String>>,
    pub loops: Vec<Spanned<RawLoop>>,
    pub tensors: BTreeMap<Spanned<String>, Spanned<RawTensor>>,
    pub cost: Option<Spanned<toml::Value>>,
    #[serde(default)]
    pub require: Vec<Spanned<String>>,
    #[serde(default)]
    pub order: Vec<Spanned<String>>,
    pub stationary: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawLoop {
    pub name: String,
    pub extent: toml::Value,
    pub multiple: Option<toml::Value>,
    pub max: Option<toml::Value>,
    #[serde(default)]
    pub reduce: bool,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list with a loop, \"*\" or { over = LOOP, kernel = ..., stride = ..., dilation = ..., pad = ... } for each dimension, or { dims = LIST, pool = NAME, dtype = TYPE, store = TABLE }"
)]
pub enum RawTensor {
    Dims(Vec<RawDim>),
    Placed(RawPlaced),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawPlaced {
    pub dims: Vec<RawDim>,
    pub pool: Option<String>,
    pub dtype: Option<String>,
    pub ring: Option<String>,
    #[serde(default)]
    pub load: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub store: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a loop, \"*\", or { over = LOOP, kernel = ..., stride = ..., dilation = ..., pad = ... }"
)]
pub enum RawDim {
    Loop(String),
    Window(RawWindow),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawWindow {
    pub over: String,
    pub kernel: toml::Value,
    pub stride: Option<toml::Value>,
    pub dilation: Option<toml::Value>,
    pub pad: Option<toml::Value>,
}
