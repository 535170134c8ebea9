//! Cutting the module of a host into parts, which LLVM compiles at the same time.
//!
//! The cut goes by the module alone, never by the number of processors, so that the same model
//! gives the same objects everywhere. Parts are modules of their own, with what they call of other
//! parts declared. An internal function that is called across parts becomes a hidden symbol, which
//! needs the model's name in front. One without that name stays in one part with its callers.

use crate::{
    Result,
    ir::{
        self, Builder, Op, OpSpec, edit, func,
        names::{VECTORIZED, model_name, symbol_name},
    },
};
use melior::ir::{Location, Module, Region, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet};

/// About as many operations as a part has: LLVM takes a tenth of a second for them.
const PART: usize = 2_000;
/// A module has no more parts, as each costs LLVM its preparations.
const MOST_PARTS: usize = 16;
/// A function of fewer operations stays with what it calls.
const SMALL: usize = 64;
/// Visibility of a hidden symbol in the LLVM dialect.
const HIDDEN: i64 = 1;

/// A part: a module of its own.
pub(super) struct Part<'c> {
    pub(super) module: Module<'c>,
    /// True for a part of kernels that are written in vectors.
    pub(super) vectorized: bool,
}

/// The parts of a module in the LLVM dialect; none if it is to be compiled as a whole.
pub(super) fn parts<'c>(module: Op<'c>) -> Result<Vec<Part<'c>>> {
    let Some(symbols) = Symbols::of(module) else { return Ok(vec![]) };
    let cut = partition(&symbols.items);
    if cut.len() < 2 {
        return Ok(vec![]);
    }
    let mut home = vec![None; symbols.items.len()];
    for (part, (_, members)) in cut.iter().enumerate() {
        for member in members {
            if let Some(place) = home.get_mut(*member) {
                *place = Some(part);
            }
        }
    }
    let crossing = symbols.crossing(&home);
    let build = |(part, (vectorized, _)): (usize, &(bool, _))| {
        let module = symbols.build(module, part, &home, &crossing)?;
        Ok(Part { module, vectorized: *vectorized })
    };
    cut.iter().enumerate().map(build).collect()
}

/// Treatment of a symbol by the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A definition that any part may have, and others call.
    Free,
    /// A definition that is in one part with all that use it.
    Tied,
    /// A definition that is in one part with the first definition that it uses.
    Small,
    /// A symbol that is copied to each part that uses it: declarations, private constants, small
    /// functions.
    Copied,
}

#[derive(Clone, Debug)]
struct Item {
    kind: Kind,
    weight: usize,
    /// True for a kernel that is written in vectors.
    vectorized: bool,
    /// The items that it uses, in the order of use.
    uses: Vec<usize>,
}

/// Items in one part.
#[derive(Default)]
struct Unit {
    weight: usize,
    members: Vec<usize>,
    /// Weight of the kernels among them that are written in vectors, and of functions that are small.
    vectorized: usize,
}

/// The items of each part, in their order in the module, without those that are copied, and whether it is of kernels that
/// are written in vectors.
fn partition(items: &[Item]) -> Vec<(bool, Vec<usize>)> {
    let mut units = Units((0..items.len()).collect());
    let is_copied = |index: usize| items.get(index).is_none_or(|item| item.kind == Kind::Copied);
    for (index, item) in items.iter().enumerate().filter(|(index, _)| !is_copied(*index)) {
        let mut defined = item.uses.iter().filter(|used| !is_copied(**used));
        if let (Kind::Small, Some(first)) = (item.kind, defined.next()) {
            units.unite(index, *first);
        }
        let tied = |used: &&usize| items.get(**used).is_some_and(|used| used.kind == Kind::Tied);
        item.uses.iter().filter(tied).for_each(|used| units.unite(index, *used));
    }
    let mut members: BTreeMap<usize, Unit> = BTreeMap::new();
    for (index, item) in items.iter().enumerate().filter(|(index, _)| !is_copied(*index)) {
        let unit = members.entry(units.of(index)).or_default();
        unit.weight += item.weight;
        unit.members.push(index);
        if item.vectorized || item.kind == Kind::Small {
            unit.vectorized += item.weight;
        }
    }
    let is_vectorized = |unit: &Unit| {
        unit.vectorized == unit.weight
            && unit.members.iter().any(|index| items.get(*index).is_some_and(|it| it.vectorized))
    };
    let (kernels, others): (Vec<_>, Vec<_>) = members.into_values().partition(is_vectorized);
    let weight = |units: &[Unit]| units.iter().map(|unit| unit.weight).sum::<usize>();
    if weight(&kernels) < PART / 2 && weight(&kernels) + weight(&others) < 2 * PART {
        return distribute(kernels.into_iter().chain(others).collect(), false);
    }
    [distribute(kernels, true), distribute(others, false)].concat()
}

/// Units in parts of about the same weight.
fn distribute(mut units: Vec<Unit>, vectorized: bool) -> Vec<(bool, Vec<usize>)> {
    let total: usize = units.iter().map(|unit| unit.weight).sum();
    let count = (total / PART).clamp(1, MOST_PARTS).min(units.len());
    // The heaviest first, each to the part that has least.
    units.sort_by_key(|unit| (std::cmp::Reverse(unit.weight), unit.members.first().copied()));
    let mut parts = vec![(0, vec![]); count];
    for unit in units {
        if let Some(lightest) = parts.iter_mut().min_by_key(|(weight, _)| *weight) {
            lightest.0 += unit.weight;
            lightest.1.extend(unit.members);
        }
    }
    parts.iter_mut().for_each(|(_, members)| members.sort_unstable());
    parts.into_iter().map(|(_, members)| (vectorized, members)).collect()
}

/// Union-find over the items of a part: each knows one before it, and the first of them itself.
struct Units(Vec<usize>);

impl Units {
    fn of(&self, mut index: usize) -> usize {
        while let Some(next) = self.0.get(index).filter(|next| **next != index) {
            index = *next;
        }
        index
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        if let Some(later) = self.0.get_mut(a.max(b)) {
            *later = a.min(b);
        }
    }
}

/// The symbols of a module, and how they use each other.
struct Symbols<'c> {
    ops: Vec<Op<'c>>,
    items: Vec<Item>,
}

impl<'c> Symbols<'c> {
    /// `None` if the module has something that is not known to be as good in a part.
    fn of(module: Op<'c>) -> Option<Self> {
        let ops = ir::ops_of(module);
        let known = |op: &Op<'_>| {
            matches!(ir::op_name(*op), "llvm.func" | "llvm.mlir.global")
                && !["comdat", "personality"].iter().any(|name| op.has_attribute(name))
        };
        if !ops.iter().all(known) {
            return None;
        }
        let numbers: BTreeMap<String, usize> =
            ops.iter().enumerate().map(|(index, op)| (func::symbol(*op), index)).collect();
        let prefix = symbol_name(&model_name(module), "");
        let mut items = vec![];
        for op in &ops {
            let body = edit::walk(*op);
            let mut uses = vec![];
            for (used, attribute) in body.iter().filter_map(|op| Some((op, using(*op)?))) {
                // A call of an address names no symbol.
                let Some(name) = func::symbol_ref(*used, attribute) else { continue };
                let number = *numbers.get(&name)?;
                if !uses.contains(&number) {
                    uses.push(number);
                }
            }
            let (kind, weight) = (kind(*op, body.len(), &prefix), body.len());
            items.push(Item { kind, weight, vectorized: op.has_attribute(VECTORIZED), uses });
        }
        // A small function that uses no definition is copied, as one that uses some stays there.
        let leaf = |item: &Item| {
            item.uses.iter().all(|used| items.get(*used).is_some_and(|it| it.kind == Kind::Copied))
        };
        let leaves: Vec<bool> =
            items.iter().map(|item| item.kind == Kind::Small && leaf(item)).collect();
        for ((item, leaf), op) in items.iter_mut().zip(leaves).zip(&ops) {
            item.kind = match item.kind {
                Kind::Small if leaf => Kind::Copied,
                Kind::Small if !func::symbol(*op).starts_with(&prefix) => Kind::Tied,
                kind => kind,
            };
        }
        Some(Self { ops, items })
    }

    /// Internal functions that other parts use.
    fn crossing(&self, home: &[Option<usize>]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for (item, from) in self.items.iter().zip(home) {
            for used in item.uses.iter().filter(|_| from.is_some()) {
                let to = home.get(*used).copied().flatten();
                let op = self.ops.get(*used);
                if to.is_some() && to != *from && op.is_some_and(|op| is_internal(*op)) {
                    found.insert(*used);
                }
            }
        }
        found
    }

    /// A module of what is in a part and of what that uses.
    fn build(
        &self,
        module: Op<'c>,
        part: usize,
        home: &[Option<usize>],
        crossing: &BTreeSet<usize>,
    ) -> Result<Module<'c>> {
        let context = ir::context_of(module);
        let made = Module::new(Location::unknown(context));
        let top = ir::root(&made);
        let body = edit::entry_block(top);
        let body = body.ok_or_else(|| crate::Error::internal("a module without a body"))?;
        let at = Builder::at_end(context, body, module.location());
        for (name, value) in module.attributes() {
            let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
            if name.starts_with("llvm.") || name.starts_with("dlti.") {
                edit::set_attr(top, &name, value);
            }
        }
        let external = at.parse_attr("#llvm.linkage<external>")?;
        for index in self.needed(part, home) {
            let Some(op) = self.ops.get(index).copied() else { continue };
            let exported = crossing.contains(&index);
            let there = match home.get(index).copied().flatten() {
                Some(other) if other != part => {
                    let mut spec = OpSpec { regions: vec![Region::new()], ..Default::default() };
                    for name in ["sym_name", "function_type", "arg_attrs", "res_attrs"] {
                        spec.attributes.extend(op.attribute(name).ok().map(|value| (name, value)));
                    }
                    spec.attributes.push(("linkage", external));
                    at.create("llvm.func", spec)?
                }
                _ => at.insert_clone(op),
            };
            if exported {
                edit::set_attr(there, "linkage", external);
                edit::set_attr(there, "visibility_", at.i64_attr(HIDDEN));
            }
        }
        Ok(made)
    }

    /// The items of a part and what they use, in the order of the module.
    fn needed(&self, part: usize, home: &[Option<usize>]) -> BTreeSet<usize> {
        let own = |index: usize| home.get(index).copied().flatten() == Some(part);
        let mut open: Vec<usize> = (0..home.len()).filter(|index| own(*index)).collect();
        let mut found = BTreeSet::new();
        while let Some(index) = open.pop() {
            let declared = home.get(index).copied().flatten().is_some_and(|home| home != part);
            if found.insert(index) && !declared {
                open.extend(self.items.get(index).into_iter().flat_map(|item| &item.uses));
            }
        }
        found
    }
}

/// The attribute with the symbol that an operation uses.
fn using(op: Op<'_>) -> Option<&'static str> {
    match ir::op_name(op) {
        "llvm.call" => Some("callee"),
        "llvm.mlir.addressof" => Some("global_name"),
        _ => None,
    }
}

fn kind(op: Op<'_>, weight: usize, prefix: &str) -> Kind {
    let defines = edit::entry_block(op).is_some() || op.has_attribute("value");
    if !defines {
        return Kind::Copied;
    }
    if ir::op_name(op) == "llvm.mlir.global" {
        let copied = is_internal(op) && op.has_attribute("constant") && op.has_attribute("value");
        return if copied { Kind::Copied } else { Kind::Tied };
    }
    match is_internal(op) {
        true if op.has_attribute("always_inline") => Kind::Tied,
        true if weight < SMALL => Kind::Small,
        true if !func::symbol(op).starts_with(prefix) => Kind::Tied,
        _ => Kind::Free,
    }
}

/// True for a symbol that only the module itself sees.
fn is_internal(op: Op<'_>) -> bool {
    let linkage = linkage(op);
    ["internal", "private"].iter().any(|name| linkage.contains(name))
}

fn linkage(op: Op<'_>) -> String {
    op.attribute("linkage").map(|linkage| linkage.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
