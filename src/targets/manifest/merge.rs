//! Merging of a manifest with its parts and bases. Its own texts come before theirs.

use super::{
    Source,
    raw::{
        RawCapabilities, RawCost, RawHook, RawManifest, RawMemory, RawOp, RawOperator, RawOption,
        RawPattern, RawPipeline, RawPool, RawQueue, RawReference, RawRegion,
    },
};
use crate::{Result, error::suggestion, phase::strip_comments, targets::kind::Layer};
use std::{collections::BTreeMap, ops::Range};
use toml::Spanned;

/// A manifest with what it extends.
pub struct Merged {
    /// All declarations.
    pub raw: RawManifest,
    /// The pipelines of the kinds that it extends, nearest first.
    pub bases: Vec<BTreeMap<Spanned<String>, RawPipeline>>,
    /// Declarations here that a base has as well: name, and location in the base.
    pub refined: Vec<(String, Range<usize>)>,
    /// Names of patterns that are left out, and whether a base has them.
    without: Vec<(Spanned<String>, bool)>,
}

/// A declaration with a name, of which a base may have another.
trait Named: Sized {
    const WHAT: &'static str;
    fn name(&self) -> &Spanned<String>;
    /// Takes over what it does not say itself.
    fn refine(&mut self, base: Self);
}

macro_rules! refine {
    ($ty:ty, $what:literal, $name:ident, [$($field:ident),*]) => {
        impl Named for $ty {
            const WHAT: &'static str = $what;
            fn name(&self) -> &Spanned<String> {
                &self.$name
            }
            fn refine(&mut self, base: Self) {
                $(self.$field = self.$field.take().or(base.$field);)*
            }
        }
    };
}

refine!(RawOption, "option", name, [ty, default, min, max, values, vary, doc]);
refine!(RawPool, "pool", name, [bytes, alignment, row, scope, dma, doc]);
refine!(
    RawPattern,
    "pattern",
    name,
    [
        doc, matches, clauses, dtypes, benefit, cost, compute, steps, ulps, accumulate, finite,
        lower, call, inline, schedule, tile
    ]
);
refine!(
    RawOp,
    "pattern",
    op,
    [
        doc, clauses, dtypes, benefit, cost, compute, steps, ulps, accumulate, finite, lower, call,
        inline, schedule, tile
    ]
);

impl RawManifest {
    /// Adds the declarations of parts, which come before its own.
    pub fn include(mut self, parts: Vec<Self>) -> Self {
        for part in parts.into_iter().rev() {
            front(&mut self.option, part.option);
            front(&mut self.pool, part.pool);
            front(&mut self.pattern, part.pattern);
            front(&mut self.op, part.op);
            front(&mut self.operator, part.operator);
            front(&mut self.alias, part.alias);
            front(&mut self.artifact, part.artifact);
            front(&mut self.library, part.library);
            keys(&mut self.phases, part.phases);
            self.tables(part.define, part.hooks, part.cost, part.capabilities);
            self.region(part.region);
            self.codegen.add(part.codegen);
            self.device(part.memory, part.queue);
            self.schedule = self.schedule.take().or(part.schedule);
        }
        self
    }

    /// Tables whose keys it has itself, else those of another.
    fn tables(
        &mut self,
        define: BTreeMap<Spanned<String>, String>,
        hooks: BTreeMap<Spanned<String>, RawHook>,
        cost: RawCost,
        capabilities: RawCapabilities,
    ) {
        keys(&mut self.define, define);
        keys(&mut self.hooks, hooks);
        let own = &mut self.cost;
        own.per_call = own.per_call.take().or(cost.per_call);
        own.per_byte = own.per_byte.take().or(cost.per_byte);
        own.per_flop = own.per_flop.take().or(cost.per_flop);
        own.per_access = own.per_access.take().or(cost.per_access);
        let own = &mut self.capabilities;
        own.dtypes = own.dtypes.take().or(capabilities.dtypes);
        own.multi_output = own.multi_output.or(capabilities.multi_output);
        own.taps = own.taps.take().or(capabilities.taps);
        own.merge = own.merge.or(capabilities.merge);
        own.accumulate = own.accumulate.take().or(capabilities.accumulate);
    }

    /// Merges limits of regions: adds keys that it lacks.
    fn region(&mut self, region: RawRegion) {
        let own = &mut self.region;
        own.max_operations = own.max_operations.take().or(region.max_operations);
        own.clauses = own.clauses.take().or(region.clauses);
        own.once = own.once.take().or(region.once);
        own.queue = own.queue.take().or(region.queue);
    }

    /// Merges memory and queue: adds keys that it lacks.
    fn device(&mut self, memory: Option<Spanned<RawMemory>>, queue: Option<Spanned<RawQueue>>) {
        self.queue = self.queue.take().or(queue);
        let Some(own) = &mut self.memory else {
            self.memory = memory;
            return;
        };
        let Some(base) = memory.map(Spanned::into_inner) else { return };
        let own = own.get_mut();
        own.name = own.name.take().or(base.name);
        own.bytes = own.bytes.take().or(base.bytes);
        own.alignment = own.alignment.take().or(base.alignment);
        own.allocate = own.allocate.take().or(base.allocate);
        own.free = own.free.take().or(base.free);
        own.copy_in = own.copy_in.take().or(base.copy_in);
        own.copy_out = own.copy_out.take().or(base.copy_out);
        own.copy_within = own.copy_within.take().or(base.copy_within);
        own.doc = own.doc.take().or(base.doc);
    }

    /// Makes texts independent of the layer's folder, as a kind that extends it has them.
    pub fn settle(&mut self, layer: &Layer) -> Result<()> {
        let dir = format!("${{dir:{}}}", layer.kind);
        let text = |text: &str| strip_comments(text).replace("${dir}", &dir);
        for pipeline in self.phases.values_mut() {
            *pipeline = RawPipeline::Text(match pipeline {
                RawPipeline::Text(own) => text(own),
                RawPipeline::File(file) => text(&layer.files.read(&file.file)?),
            });
        }
        let patterns = self.pattern.iter_mut().map(|pattern| &mut pattern.schedule);
        let ops = self.op.iter_mut().map(|op| &mut op.schedule);
        for schedule in patterns.chain(ops).chain([&mut self.schedule]).flatten() {
            if let RawPipeline::File(file) = schedule.get_mut() {
                let text = layer.files.read(&file.file)?.into_owned();
                *schedule.get_mut() = RawPipeline::Text(text);
            }
        }
        for operator in &mut self.operator {
            let Some(reference) = operator.reference.as_mut().map(Spanned::get_mut) else {
                continue;
            };
            if let RawReference::File(file) = reference {
                *reference = RawReference::Text(layer.files.read(&file.file)?.into_owned());
            }
        }
        for hook in self.hooks.values_mut() {
            match hook {
                RawHook::Text(own) => *own = text(own),
                RawHook::File(file) => *hook = RawHook::Text(text(&layer.files.read(&file.file)?)),
                RawHook::Command(command) => {
                    command
                        .command
                        .iter_mut()
                        .for_each(|word| *word = word.replace("${dir}", &dir));
                }
            }
        }
        Ok(())
    }
}

impl Merged {
    /// A manifest that extends nothing yet.
    pub fn new(mut raw: RawManifest) -> Self {
        let without = left_out(&mut raw);
        Self { raw, bases: vec![], refined: vec![], without }
    }

    /// The kind that it extends.
    pub fn extends(&self) -> Option<Spanned<String>> {
        self.raw.target.as_ref()?.extends.clone()
    }

    /// Takes over what a base declares and it does not.
    pub fn extend(&mut self, mut base: RawManifest) {
        let mut keep = |name: &Spanned<String>| {
            let found = self.without.iter_mut().find(|(other, _)| other == name);
            found.map(|(_, known)| *known = true).is_none()
        };
        base.pattern.retain(|pattern| keep(&pattern.name));
        base.op.retain(|op| keep(&op.op));
        // What a base leaves out of its own base is not there for this one either.
        self.without.extend(left_out(&mut base));
        self.named(base.option, |raw| &mut raw.option);
        self.named(base.pool, |raw| &mut raw.pool);
        self.named(base.pattern, |raw| &mut raw.pattern);
        self.named(base.op, |raw| &mut raw.op);
        // One of the same name here takes its place.
        let own: Vec<_> = self.raw.operator.iter().map(operator_key).collect();
        let others = base.operator.into_iter();
        self.raw.operator.extend(others.filter(|other| !own.contains(&operator_key(other))));
        self.raw.artifact.extend(base.artifact);
        self.raw.library.extend(base.library);
        self.bases.push(base.phases);
        self.raw.tables(base.define, base.hooks, base.cost, base.capabilities);
        self.raw.region(base.region);
        self.raw.codegen.add(base.codegen);
        self.raw.device(base.memory, base.queue);
        self.raw.schedule = self.raw.schedule.take().or(base.schedule);
        if let (Some(own), Some(base)) = (&mut self.raw.target, base.target) {
            own.role = own.role.take().or(base.role);
        }
    }

    /// Declarations of a base: after new ones, in place of those that these refine.
    fn named<T: Named>(&mut self, base: Vec<T>, list: fn(&mut RawManifest) -> &mut Vec<T>) {
        let mut own = std::mem::take(list(&mut self.raw));
        for item in base {
            match own.iter().position(|known| known.name() == item.name()) {
                Some(at) => {
                    let name = format!("{} {}", T::WHAT, item.name().get_ref());
                    self.refined.push((name, item.name().span()));
                    let mut refined = own.remove(at);
                    refined.refine(item);
                    own.push(refined);
                }
                None => own.push(item),
            }
        }
        *list(&mut self.raw) = own;
    }

    /// Fails if a pattern that is left out was never there.
    pub fn check_without(&self, source: &Source) -> Result<()> {
        let unknown = self.without.iter().find(|(_, known)| !known);
        let Some((name, _)) = unknown else { return Ok(()) };
        let patterns = self.raw.pattern.iter().map(|pattern| pattern.name.get_ref().as_str());
        let known = patterns.chain(self.raw.op.iter().map(|op| op.op.get_ref().as_str()));
        let hint = suggestion(name.get_ref(), known);
        let message = format!("what this extends has no pattern '{}'{hint}", name.get_ref());
        Err(source.fault(&name.span(), message))
    }
}

fn operator_key(raw: &RawOperator) -> (String, String) {
    (raw.domain.get_ref().clone(), raw.name.get_ref().clone())
}

fn left_out(raw: &mut RawManifest) -> Vec<(Spanned<String>, bool)> {
    let names = raw.target.as_mut().map(|target| std::mem::take(&mut target.without));
    names.unwrap_or_default().into_iter().map(|name| (name, false)).collect()
}

fn front<T>(own: &mut Vec<T>, mut first: Vec<T>) {
    first.append(own);
    *own = first;
}

fn keys<T>(own: &mut BTreeMap<Spanned<String>, T>, base: BTreeMap<Spanned<String>, T>) {
    for (name, value) in base {
        own.entry(name).or_insert(value);
    }
}
