//! A manifest as serde reads it. [`super::parse`] gives it meaning.

use super::super::{codegen::Codegen, kind::Role};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawManifest {
    /// Version of the format. Default: 1.
    pub version: Option<Spanned<i64>>,
    /// Manifests in the target's folder whose declarations come first, or parts such as
    /// `common/qdq.toml`.
    #[serde(default)]
    pub include: Vec<Spanned<String>>,
    /// The kind: name, role, base.
    pub target: Option<RawTarget>,
    /// Options of a target spec.
    #[serde(default)]
    pub option: Vec<RawOption>,
    /// Limits of matches and regions.
    #[serde(default)]
    pub capabilities: RawCapabilities,
    /// Limits of a region as a whole.
    #[serde(default)]
    pub region: RawRegion,
    /// Rates of the cost model, in nanoseconds.
    #[serde(default)]
    pub cost: RawCost,
    /// Memories that tiles of calls are computed in.
    #[serde(default)]
    pub pool: Vec<RawPool>,
    /// Memory of the device, for a device whose calls cannot use the host's.
    pub memory: Option<Spanned<RawMemory>>,
    /// Queues of a device whose calls and copies only start.
    pub queue: Option<Spanned<RawQueue>>,
    /// Texts that `${NAME}` stands for in expressions.
    #[serde(default)]
    pub define: BTreeMap<Spanned<String>, String>,
    /// Matches of several operations.
    #[serde(default)]
    pub pattern: Vec<RawPattern>,
    /// Matches of a single operation with any operands.
    #[serde(default)]
    pub op: Vec<RawOp>,
    /// Operators that no standard has.
    #[serde(default)]
    pub operator: Vec<RawOperator>,
    /// Schedule in the transform dialect for all loops of the target.
    pub schedule: Option<Spanned<RawPipeline>>,
    /// Pipelines of passes by phase.
    #[serde(default)]
    pub phases: BTreeMap<Spanned<String>, RawPipeline>,
    /// Code of the target's own by hook point.
    #[serde(default)]
    pub hooks: BTreeMap<Spanned<String>, RawHook>,
    /// Code generator, C sources and functions of the driver.
    #[serde(default)]
    pub codegen: Codegen,
    /// Names for target specs.
    #[serde(default)]
    pub alias: Vec<RawAlias>,
    /// Types of files that hooks write.
    #[serde(default)]
    pub artifact: Vec<RawArtifact>,
    /// Shared libraries that packages carry.
    #[serde(default)]
    pub library: Vec<RawLibrary>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawLibrary {
    /// Shared library: in the target's folder, or below a folder that an option names.
    pub file: Spanned<String>,
    /// Licence text, copied beside the library.
    pub licence: Spanned<String>,
    /// Boolean option without which packages do not carry the library. Default: always.
    pub when: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawArtifact {
    /// File name, in which `*` stands for anything. The first that fits counts.
    pub name: Spanned<String>,
    /// Type, such as `memory-image` or `command-stream`.
    #[serde(rename = "type")]
    pub ty: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawAlias {
    /// Name of the spec.
    pub name: Spanned<String>,
    /// Target spec: text, list or table.
    pub spec: Spanned<toml::Value>,
    /// Description in `phaseline targets`.
    #[serde(default)]
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawTarget {
    /// Name of the kind: a letter, then letters, digits, `-` and `_`.
    pub name: Spanned<String>,
    /// `device` takes the matches of its patterns, `host` every operation. Default: that of the
    /// base.
    pub role: Option<Role>,
    /// Line in `phaseline targets`.
    pub doc: String,
    /// Kind whose declarations are refined.
    pub extends: Option<Spanned<String>>,
    /// Patterns of the base that the kind does not have.
    #[serde(default)]
    pub without: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOption {
    /// Name, in a spec `-NAME=VALUE`.
    pub name: Spanned<String>,
    /// Type of values. Default: that of the base's option.
    #[serde(rename = "type")]
    pub ty: Option<Spanned<String>>,
    /// Value without the option in a spec. Default: none; the option is unset.
    pub default: Option<Spanned<toml::Value>>,
    /// Least value.
    pub min: Option<Spanned<toml::Value>>,
    /// Greatest value.
    pub max: Option<Spanned<toml::Value>>,
    /// Words of an `enum`.
    pub values: Option<Spanned<Vec<String>>>,
    /// `check-target` tries other values. Default: true.
    pub vary: Option<bool>,
    /// Description in `phaseline targets NAME`.
    pub doc: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawCapabilities {
    /// Element types of data and constants. Default: all.
    pub dtypes: Option<Vec<Spanned<String>>>,
    /// Regions may have several outputs. Default: true.
    pub multi_output: Option<bool>,
    /// Values inside a match may be used outside. Default: false.
    pub taps: Option<Spanned<bool>>,
    /// Neighbouring matches become one region. Default: true.
    pub merge: Option<bool>,
    /// Element type of sums of 16-bit floats, for all patterns. Default: that of the operands.
    pub accumulate: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawRegion {
    /// Operations that a region has at most. Default: no limit.
    pub max_operations: Option<Spanned<toml::Value>>,
    /// Conditions on a region, over options and its counts.
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    /// Patterns of which a region has one match at most.
    pub once: Option<Vec<Spanned<String>>>,
    /// Queue of the matches of a pattern, by its name. Default: the compiler's choice.
    pub queue: Option<BTreeMap<Spanned<String>, Spanned<toml::Value>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawCost {
    /// Nanoseconds of one call of a region. Default: 1000, of a host 0.
    pub per_call: Option<Spanned<toml::Value>>,
    /// Nanoseconds of a byte that enters or leaves a region. Default: 0.1, of a host 0.
    pub per_byte: Option<Spanned<toml::Value>>,
    /// Nanoseconds of an arithmetic operation of a match without `cost`. Default: 0.001, of a host
    /// 0.01.
    pub per_flop: Option<Spanned<toml::Value>>,
    /// Nanoseconds of a byte that such a match reads or writes. Default: 0.005, of a host 0.05.
    pub per_access: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawPool {
    /// Name, for `tile.pool`.
    pub name: Spanned<String>,
    /// Size: a number, a text such as `64k`, or an expression over options.
    pub bytes: Option<Spanned<toml::Value>>,
    /// Alignment of each tile in bytes, a power of two. Default: 1.
    pub alignment: Option<Spanned<i64>>,
    /// Bytes to whole rows of which the innermost dimension of a tile is filled up. Default: 1.
    pub row: Option<Spanned<i64>>,
    /// Storage scope that hooks are told. Default: the name.
    pub scope: Option<String>,
    /// Functions that move tiles. Without it calls have no tiles in the pool.
    pub dma: Option<RawDma>,
    /// Description in `phaseline targets NAME`.
    pub doc: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawMemory {
    /// Name, a part of the IR's memory space. Default: `memory`.
    pub name: Option<Spanned<String>>,
    /// Limit of constants and values. Default: whatever `allocate` gives.
    pub bytes: Option<Spanned<toml::Value>>,
    /// Alignment of each buffer in bytes, a power of two. Default: 64.
    pub alignment: Option<Spanned<i64>>,
    /// `int f(DEVICE *, size_t bytes, void **address)`. Default: required.
    pub allocate: Option<Spanned<String>>,
    /// `int f(DEVICE *, void *address)`.
    pub free: Option<Spanned<String>>,
    /// `int f(DEVICE *, void *to, const void *from, size_t bytes)`, from the host. Default:
    /// required.
    pub copy_in: Option<Spanned<String>>,
    /// The same, to the host. Default: required.
    pub copy_out: Option<Spanned<String>>,
    /// The same, with both ends on the device.
    pub copy_within: Option<Spanned<String>>,
    /// Description in `phaseline targets NAME`.
    pub doc: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawQueue {
    /// `int f(DEVICE *)`: returns when all work is done.
    pub wait: Spanned<String>,
    /// Milliseconds that a wait may take, as a further argument of `wait`. Default: no limit.
    pub timeout: Option<Spanned<toml::Value>>,
    /// `int f(DEVICE *, int64_t *ticket)`: done when all work before it is.
    pub submit: Option<Spanned<String>>,
    /// `int f(DEVICE *, int64_t ticket)`: returns when the ticket is done.
    pub wait_for: Option<Spanned<String>>,
    /// Number of queues, 1 to 256. Default: 1.
    pub count: Option<Spanned<toml::Value>>,
    /// `int f(DEVICE *, int64_t queue)`: queue of the work that follows.
    pub select: Option<Spanned<String>>,
    /// `int f(DEVICE *, int64_t ticket)`: ticket that the chosen queue's further work begins after.
    pub after: Option<Spanned<String>>,
    /// Description in `phaseline targets NAME`.
    #[serde(default)]
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawPattern {
    /// Name in messages, placements and profiles.
    pub name: Spanned<String>,
    /// Description in `phaseline targets NAME`.
    pub doc: Option<String>,
    /// Match expression. Default: that of the base's pattern.
    #[serde(rename = "match")]
    pub matches: Option<Spanned<String>>,
    /// Conditions that all hold for a match.
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    /// Element types, in place of those of `[capabilities]`. Default: those of `[capabilities]`.
    pub dtypes: Option<Vec<Spanned<String>>>,
    /// Preference among patterns of the target, the highest first. Default: the number of
    /// operations.
    pub benefit: Option<i64>,
    /// Nanoseconds of a match. Default: an estimate by `[cost]`.
    pub cost: Option<Spanned<String>>,
    /// Worth a region of its own. Default: true.
    pub compute: Option<bool>,
    /// Integer results may be off by this many from the host's. Default: exact, or 1 where real
    /// numbers are rounded.
    pub steps: Option<u32>,
    /// Float results may be off by this many units in the last place. Default: 128 (4 of 16-bit
    /// floats).
    pub ulps: Option<u32>,
    /// Element type of sums of 16-bit floats. Default: that of `[capabilities]`.
    pub accumulate: Option<Spanned<String>>,
    /// NaN and infinity: left out by the check if true, compared if false. Default: a difference is
    /// a warning.
    pub finite: Option<bool>,
    /// Lowering: `default`, `by-hook` or a registered name.
    pub lower: Option<String>,
    /// C function of a match, with its parameters.
    pub call: Option<Spanned<String>>,
    /// Call in the host's own function, without a region. Default: false.
    pub inline: Option<Spanned<bool>>,
    /// Schedule in the transform dialect for the loops of a match without `call`.
    pub schedule: Option<Spanned<RawPipeline>>,
    /// Tiles that calls of a match are cut into.
    pub tile: Option<RawTile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOp {
    /// Operation of the graph dialect.
    pub op: Spanned<String>,
    /// Description in `phaseline targets NAME`.
    pub doc: Option<String>,
    /// Conditions that all hold for a match.
    #[serde(rename = "where")]
    pub clauses: Option<Vec<Spanned<String>>>,
    /// Element types, in place of those of `[capabilities]`. Default: those of `[capabilities]`.
    pub dtypes: Option<Vec<Spanned<String>>>,
    /// Preference among patterns of the target, the highest first. Default: the number of
    /// operations.
    pub benefit: Option<i64>,
    /// Nanoseconds of a match. Default: an estimate by `[cost]`.
    pub cost: Option<Spanned<String>>,
    /// Worth a region of its own. Default: true.
    pub compute: Option<bool>,
    /// Integer results may be off by this many from the host's. Default: exact, or 1 where real
    /// numbers are rounded.
    pub steps: Option<u32>,
    /// Float results may be off by this many units in the last place. Default: 128 (4 of 16-bit
    /// floats).
    pub ulps: Option<u32>,
    /// Element type of sums of 16-bit floats. Default: that of `[capabilities]`.
    pub accumulate: Option<Spanned<String>>,
    /// NaN and infinity: left out by the check if true, compared if false. Default: a difference is
    /// a warning.
    pub finite: Option<bool>,
    /// Lowering: `default`, `by-hook` or a registered name. Default: `default`, if there is no
    /// `call`.
    pub lower: Option<String>,
    /// C function of a match, with its parameters.
    pub call: Option<Spanned<String>>,
    /// Call in the host's own function, without a region. Default: false.
    pub inline: Option<Spanned<bool>>,
    /// Schedule in the transform dialect for the loops of a match without `call`.
    pub schedule: Option<Spanned<RawPipeline>>,
    /// Tiles that calls of a match are cut into.
    pub tile: Option<RawTile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawOperator {
    /// Name of the operator in its domain.
    pub name: Spanned<String>,
    /// Domain of the operator, such as `com.acme`.
    pub domain: Spanned<String>,
    /// Name in patterns. Default: `name` in small letters with `_`.
    #[serde(rename = "as")]
    pub word: Option<Spanned<String>>,
    /// Description in `phaseline targets NAME`.
    #[serde(default)]
    pub doc: String,
    /// Names: `x`, `x?` for one that may be absent, `x...` for all that follow.
    pub operands: Vec<Spanned<String>>,
    /// `NAME: TYPE = DEFAULT`, of int, float, bool, str, ints or floats.
    #[serde(default)]
    pub attributes: Vec<Spanned<String>>,
    /// Results with element type and shape.
    pub results: Vec<RawResult>,
    /// Arithmetic operations of one operator. Default: one for each element of the result.
    pub flops: Option<Spanned<String>>,
    /// ONNX function that computes the same.
    pub reference: Option<Spanned<RawReference>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawResult {
    /// Name of the result.
    pub name: Spanned<String>,
    /// Element type, over operands and `self.ATTRIBUTE`.
    pub dtype: Spanned<String>,
    /// Shape, over the same.
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
    /// Program and arguments; `${dir}`, `${id}` and `${option.NAME}` are filled in.
    pub command: Vec<String>,
    /// One request for all constants of a call, of the constant updater. Default: false.
    #[serde(default)]
    pub together: bool,
    /// Requests carry the whole module. Default: false.
    #[serde(default)]
    pub module: bool,
    /// 1: a process for each request; 2: one process, regions as JSON. Default: 1.
    pub protocol: Option<i64>,
    /// Requests before regions get their places, of `graph-to-runtime` in protocol 2. Default:
    /// false.
    #[serde(default)]
    pub dry_run: bool,
    /// Limit of time. Default: 600.
    pub max_seconds: Option<toml::Value>,
    /// Limit of files and messages. Default: 1 GiB and four times the request.
    pub max_bytes: Option<toml::Value>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    /// File in the target's folder.
    pub file: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawDma {
    /// Transfers at a time; the last channel stores. Default: 1.
    pub channels: Option<Spanned<i64>>,
    /// Dimensions of a transfer, 1 to 4. Default: 4.
    pub dims: Option<Spanned<i64>>,
    /// Load of the next tile beside a call: a boolean or an expression over options. Default: true.
    pub double_buffer: Option<Spanned<toml::Value>>,
    /// Store of a tile beside the next call. Default: false.
    pub overlap_stores: Option<Spanned<toml::Value>>,
    /// Results stay for the calls that read them. Default: false.
    pub keep_results: Option<Spanned<toml::Value>>,
    /// Function that moves a tile into the pool.
    pub load: Option<Spanned<String>>,
    /// Function that moves a tile out of the pool.
    pub store: Option<Spanned<String>>,
    /// Function that leaves in a pool what `store` would make.
    pub keep: Option<Spanned<String>>,
    /// Pool that `keep` writes to. Default: the same pool.
    pub keep_in: Option<Spanned<String>>,
    /// Function that moves rows to the start of a tile.
    pub shift: Option<Spanned<String>>,
    /// Cost of `shift`, over `bytes`. Default: 0.
    pub shift_cost: Option<Spanned<toml::Value>>,
    /// Function that waits for a channel. Without it transfers are over when they return.
    pub wait: Option<Spanned<String>>,
    /// Cost of a transfer, over `bytes`, `runs` and `run_bytes`. Default: `bytes`.
    pub cost: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawTile {
    /// Pool of the tiles. Default: tiles stay where the tensors are.
    pub pool: Option<Spanned<String>>,
    /// Loops around the calls.
    pub loops: Vec<Spanned<RawLoop>>,
    /// Part of each tensor that a call gets, dimension by dimension.
    pub tensors: BTreeMap<Spanned<String>, Spanned<RawTensor>>,
    /// Cost of one call, in the unit of transfers.
    pub cost: Option<Spanned<toml::Value>>,
    /// Conditions on the sizes of a tile.
    #[serde(default)]
    pub require: Vec<Spanned<String>>,
    /// Loops from outside inwards. Default: by cost.
    #[serde(default)]
    pub order: Vec<Spanned<String>>,
    /// Tensor whose tile stays as long as possible.
    pub stationary: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RawLoop {
    /// Name, for `tile.NAME`.
    pub name: String,
    /// Number of positions.
    pub extent: toml::Value,
    /// Tiles have multiples of this many positions, or all. Default: 1.
    pub multiple: Option<toml::Value>,
    /// Greatest number of positions of a tile. Default: the extent.
    pub max: Option<toml::Value>,
    /// Pieces are added up in the output. Default: false.
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
    /// A loop, `"*"` or a window for each dimension of the graph.
    pub dims: Vec<RawDim>,
    /// Pool of this tensor's tiles. Default: `tile.pool`.
    pub pool: Option<String>,
    /// Element type in the tile. Default: that of the tensor.
    pub dtype: Option<String>,
    /// Loop along which tiles keep rows for the next one.
    pub ring: Option<String>,
    /// Arguments `given.NAME` of the pool's `load`.
    #[serde(default)]
    pub load: BTreeMap<String, toml::Value>,
    /// Arguments `given.NAME` of the pool's `store`.
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
    /// Loop that the window moves along.
    pub over: String,
    /// Positions of the window.
    pub kernel: toml::Value,
    /// Positions that it moves by. Default: 1.
    pub stride: Option<toml::Value>,
    /// Distance of its positions. Default: 1.
    pub dilation: Option<toml::Value>,
    /// Zeros before the first position. Default: 0.
    pub pad: Option<toml::Value>,
}
