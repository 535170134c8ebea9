//! A target of a compile: a kind with an id and the values of its options.

use super::{
    codegen::Codegen,
    kind::{Role, ScheduleDecl, TargetKind, option_word},
    options::OptionDecl,
};
use crate::{
    Error, Result,
    error::suggestion,
    expr::{Expr, OptionType, OptionValue, OptionValues, Val},
    graph::{Bound, Evaluator, Facts, OpDecl, OpTable, Scope},
    ir::schedule::Schedule,
    partition::{Device, ProfiledTarget, Rates},
    pattern::{Capabilities, Pattern, PatternSpec, check_expression},
    phase::{HookPoint, Phase, TargetPipelines},
    targets::hooks::{Command, DataHook},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A kind with an id and the values of its options.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetInstance {
    /// Name of this target in the compile; of its functions, regions and artifacts.
    pub id: String,
    /// Kind of the target.
    pub kind: Arc<TargetKind>,
    /// Values of the options that have one, by name with `_` for `-`.
    pub options: OptionValues,
}

/// A memory of a target instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Name.
    pub name: String,
    /// Size in bytes; `None` for no limit.
    pub bytes: Option<i64>,
    /// Alignment of the whole pool in bytes.
    pub alignment: i64,
    /// Memory scope of buffers in it.
    pub scope: String,
}

impl TargetInstance {
    /// True if it runs everything.
    pub fn is_host(&self) -> bool {
        self.kind.role == Role::Host
    }

    /// Identity in a profile, whatever its id.
    pub(crate) fn profiled(&self) -> ProfiledTarget {
        ProfiledTarget::new(&self.kind.name, &self.options)
    }

    /// The value of an option, by the name of its declaration.
    pub fn option(&self, name: &str) -> Option<&OptionValue> {
        self.options.get(&option_word(name))
    }

    /// The value of an integer or size option.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.option(name)? {
            OptionValue::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a text option; nothing if it is not set or empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.option(name)? {
            OptionValue::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// True if a boolean option is set.
    pub fn flag(&self, name: &str) -> bool {
        self.option(name) == Some(&OptionValue::Bool(true))
    }

    /// Its patterns, checked against the operations; those of a host are all operations.
    pub(crate) fn load_patterns(&self, table: &OpTable) -> Result<Vec<Pattern>> {
        let declared = self.kind.load_patterns(table)?;
        if self.is_host() && declared.is_empty() { everything(table) } else { Ok(declared) }
    }

    /// Capabilities besides its patterns. A host before the last place makes any region a function,
    /// for which it has to know the sizes.
    ///
    /// # Errors
    /// [`TargetInstance::queues`].
    pub(crate) fn capabilities(&self) -> Result<Capabilities> {
        Ok(match self.kind.role {
            Role::Device => {
                Capabilities { parallel: self.queues()? > 1, ..self.kind.capabilities.clone() }
            }
            Role::Host => Capabilities { taps: true, static_only: true, ..Default::default() },
        })
    }

    /// Its pipelines with options filled in.
    pub(crate) fn pipelines(&self) -> Result<TargetPipelines> {
        let mut phases = vec![];
        for (phase, text) in &self.kind.pipelines {
            let text = fill(text, |word| self.pipeline_word(word)).map_err(|reason| {
                Error::invalid(format!("{}: phase {phase}: {reason}", self.kind.manifest))
            })?;
            phases.push((*phase, text));
        }
        let mut hooks = vec![];
        for point in HookPoint::ALL {
            let mut passes = vec![];
            if self.kind.hooks.is_code(point) {
                passes.push(format!("apply-hook{{target={} hook={point}}}", self.id));
            }
            // It runs on what code has declined, or made.
            if let Some(DataHook::Pipeline(text)) = self.kind.hooks.data(point) {
                let text = fill(text, |word| self.pipeline_word(word)).map_err(|reason| {
                    Error::invalid(format!("{}: hook {point}: {reason}", self.kind.manifest))
                })?;
                let anchor = match point {
                    HookPoint::TirToRuntime => "builtin.module",
                    _ => "func.func",
                };
                passes.push(format!(
                    "for-target{{target={} pipeline={{{anchor}({text})}}}}",
                    self.id
                ));
            }
            if passes.is_empty() {
                continue;
            }
            let text = passes.join(",");
            hooks.push((point, text));
        }
        let kernels = self.kind.codegen.kernels.as_ref();
        let kernels = kernels.map(|kernels| kernels.pipeline(&self.id));
        // Kernels are calls, which take what is in the device's memory.
        let memory = self.memory_pass()?;
        let passes: Vec<_> = kernels.into_iter().chain(memory).chain(self.session_pass()).collect();
        if !passes.is_empty() {
            phases.push((Phase::Bufferize, passes.join(",")));
        }
        Ok(TargetPipelines {
            id: self.id.clone(),
            phases,
            hooks,
            schedules: !self.kind.schedules.is_empty(),
        })
    }

    /// Its schedules with options filled in, for a network in which these patterns have matches.
    ///
    /// # Errors
    /// An option that a schedule names is not set.
    pub(crate) fn schedules(&self, matched: &BTreeSet<&str>) -> Result<Vec<Schedule>> {
        let is_for = |decl: &&ScheduleDecl| match &decl.pattern {
            Some(pattern) => matched.contains(pattern.as_str()),
            None => !matched.is_empty(),
        };
        let options: Vec<_> =
            self.options.iter().map(|(name, value)| (name.clone(), value.attribute())).collect();
        let filled = self.kind.schedules.iter().filter(is_for).map(|decl| {
            let text = fill(&decl.text, |word| self.word(word))
                .map_err(|reason| Error::invalid(format!("{}: {reason}", decl.place)))?;
            let (pattern, place) = (decl.pattern.clone(), decl.place.clone());
            Ok(Schedule { target: self.id.clone(), pattern, text, place, options: options.clone() })
        });
        filled.collect()
    }

    /// The words of a program that the manifest names, filled in.
    pub(crate) fn hook_words(&self, command: &Command) -> Result<Vec<String>> {
        let fault = |reason: String| Error::invalid(format!("{}: {reason}", self.kind.manifest));
        let words = command.words.iter();
        words.map(|text| fill(text, |word| self.word(word)).map_err(fault)).collect()
    }

    /// The same in a pipeline, in which paths have no characters that end a word of it.
    fn pipeline_word(&self, word: &str) -> Result<String, String> {
        let text = self.word(word)?;
        let ends = |c: char| c.is_whitespace() || "{}(),=;'\"".contains(c);
        match text.chars().find(|c| ends(*c)).filter(|_| self.kind.folder_of(word).is_some()) {
            Some(c) => Err(format!(
                "the target's folder {text} has the character {c:?} in its path, which pipelines \
                 cannot name; move the folder"
            )),
            None => Ok(text),
        }
    }

    /// Value of `${word}`.
    pub(super) fn word(&self, word: &str) -> Result<String, String> {
        if word == "id" {
            return Ok(self.id.clone());
        }
        if let Some(folder) = self.kind.folder_of(word) {
            let path = std::path::absolute(folder);
            let path = path.map_err(|error| format!("the target's folder has no path: {error}"))?;
            return Ok(path.display().to_string());
        }
        let value = self.options.get(word.strip_prefix("option.").unwrap_or(word));
        value
            .map(OptionValue::to_string)
            .ok_or_else(|| format!("option '{word}' of target '{}' is not set", self.id))
    }

    /// Code generation settings, with the library or its stand-in.
    pub(crate) fn codegen(&self) -> Result<Codegen> {
        let filled = |flags: &[String]| -> Result<Vec<String>> {
            let flag = |flag: &String| {
                fill(flag, |word| self.word(word)).map_err(|reason| {
                    Error::invalid(format!("{}: codegen: {reason}", self.kind.manifest))
                })
            };
            flags.iter().map(flag).collect()
        };
        let mut codegen = self.kind.codegen.clone();
        codegen.cflags = filled(&codegen.cflags)?;
        codegen.link_flags = filled(&codegen.link_flags)?;
        let Some(stand_in) = codegen.stand_in.take() else { return Ok(codegen) };
        // A header that the stand-in has too is the library's, the others are the target's own.
        codegen.headers.retain(|header| !stand_in.headers.contains(header));
        if self.text(&stand_in.option).is_none() {
            codegen.headers.extend(stand_in.headers);
            codegen.sources.extend(stand_in.sources);
            return Ok(codegen);
        }
        codegen.cflags.extend(filled(&stand_in.library_cflags)?);
        codegen.link_flags.extend(filled(&stand_in.library_link_flags)?);
        Ok(codegen)
    }

    /// Its memories, with sizes computed.
    pub(crate) fn pools(&self) -> Result<Vec<Pool>> {
        let pools = self.kind.pools.iter().map(|pool| {
            Ok(Pool {
                name: pool.name.clone(),
                bytes: pool
                    .bytes
                    .as_ref()
                    .map(|expr| self.size(expr, "pool", &pool.name))
                    .transpose()?,
                alignment: pool.alignment,
                scope: pool.scope.clone(),
            })
        });
        pools.collect()
    }

    /// A size that is declared.
    pub(super) fn size(&self, expr: &Expr, what: &str, name: &str) -> Result<i64> {
        match self.value(expr) {
            Val::Int(bytes) if bytes > 0 => Ok(bytes),
            other => Err(Error::invalid(format!(
                "{}: {what} '{name}' of target '{}' has {other} bytes by `{expr}`; a size is a \
                 positive integer",
                self.kind.manifest, self.id
            ))),
        }
    }

    /// The value of an expression over options.
    pub(super) fn value(&self, expr: &Expr) -> Val {
        let graph = crate::graph::GraphView::new();
        let facts = Facts { graph: &graph, table: &OpTable::new(), options: &self.options };
        Evaluator::new(facts, &NoNames).eval(expr)
    }

    /// Costs of its work and its transfers.
    pub(crate) fn rates(&self) -> Result<Rates> {
        let usual = if self.is_host() { Rates::host() } else { Rates::default() };
        let declared = &self.kind.cost;
        let graph = crate::graph::GraphView::new();
        let facts = Facts { graph: &graph, table: &OpTable::new(), options: &self.options };
        let rate = |expr: &Option<Expr>, usual: f64, name: &str| {
            let Some(expr) = expr else { return Ok(usual) };
            let value = Evaluator::new(facts, &NoNames).eval(expr);
            value.as_f64().filter(|rate| rate.is_finite() && *rate >= 0.0).ok_or_else(|| {
                Error::invalid(format!(
                    "{}: {name} of target '{}' is {value} by `{expr}`; a cost is a number that \
                     is not negative",
                    self.kind.manifest, self.id
                ))
            })
        };
        Ok(Rates {
            per_call: rate(&declared.per_call, usual.per_call, "per-call")?,
            per_byte: rate(&declared.per_byte, usual.per_byte, "per-byte")?,
            per_flop: rate(&declared.per_flop, usual.per_flop, "per-flop")?,
            per_access: rate(&declared.per_access, usual.per_access, "per-access")?,
        })
    }

    /// This target as a device for [`crate::partition::partition`].
    pub(crate) fn device<'a>(&'a self, patterns: &'a [Pattern]) -> Result<Device<'a>> {
        Ok(Device {
            id: &self.id,
            patterns,
            options: &self.options,
            capabilities: self.capabilities()?,
            rates: self.rates()?,
        })
    }
}

/// A pattern for each operation that has results.
fn everything(table: &OpTable) -> Result<Vec<Pattern>> {
    let has_code = |op: &&OpDecl| !op.results.is_empty() && !op.is_vendors();
    let patterns = table.iter().filter(has_code).map(|op| {
        let spec = PatternSpec::new(&op.name, format!("{}(...)", op.name));
        let spec = if op.traits.view { spec.no_compute() } else { spec };
        Pattern::new(spec, table, &BTreeMap::new())
            .map_err(|error| Error::internal(format!("no pattern for '{}': {error}", op.name)))
    });
    patterns.collect()
}

/// The scope of expressions that see options only.
struct NoNames;

impl Scope for NoNames {
    fn lookup(&self, _: &str) -> Option<Bound> {
        None
    }
}

/// Checks the size of a pool when its manifest is read.
pub(super) fn check_size(text: &str, expr: &Expr, options: &[OptionDecl]) -> Result<()> {
    let types: BTreeMap<String, OptionType> =
        options.iter().map(|option| (option_word(&option.name), option.ty())).collect();
    check_expression(text, expr, &types)?;
    Ok(())
}

/// Checks that `${...}` in a pipeline name options.
pub(super) fn check_placeholders(text: &str, options: &[OptionDecl]) -> Result<(), String> {
    let words: Vec<String> = options.iter().map(|option| option_word(&option.name)).collect();
    let check = |word: &str| {
        let name = word.strip_prefix("option.");
        if word == "id" || name.is_some_and(|name| words.iter().any(|known| known == name)) {
            return Ok(String::new());
        }
        let known: Vec<String> = words.iter().map(|word| format!("option.{word}")).collect();
        let known = known.iter().map(String::as_str).chain(["id"]);
        Err(format!("there is no '${{{word}}}'{}", suggestion(word, known)))
    };
    fill(text, check).map(|_| ())
}

/// Replaces each `${word}`.
pub(super) fn fill(
    text: &str,
    value: impl Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (word, tail) = after.split_once('}').ok_or_else(|| "a '${' without '}'".to_owned())?;
        out.push_str(before);
        out.push_str(&value(word.trim())?);
        rest = tail;
    }
    Ok(out + rest)
}
