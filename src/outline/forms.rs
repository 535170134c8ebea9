//! Tries forms of quantized layers that more patterns describe, and keeps those that devices take.
//!
//! A form is tried on a copy of the function, so that operations that no device takes stay as they
//! are to the byte. A layer of integers becomes one of real numbers between dequantizations and a
//! quantization ([`rules::FORMS`]); reshapes leave the places between those
//! ([`rules::NEXT_TO_LAYERS`]).

use super::{DivideOptions, PartitionedFunction, divide_with};
use crate::{
    Error, Result,
    ir::{
        self, Op, context_of, edit, graph,
        names::{FORM, PATTERN, TAKEN, TARGET},
        op_name,
        rewrite::{self, Rule},
        view::OpView,
    },
    partition::{DeviceVerdict, Verdict},
    rules,
    targets::TargetInstance,
};
use melior::ir::{
    Attribute, attribute::IntegerAttribute, operation::OperationLike, r#type::IntegerType,
};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons of devices against the form of an operation, which stays as it is.
pub struct Refused<'c> {
    op: Op<'c>,
    verdicts: Vec<DeviceVerdict>,
}

impl<'c> Refused<'c> {
    /// Adds to the report the reasons why a device takes neither an operation nor its form.
    pub fn tell(&self, partitioned: &mut PartitionedFunction<'c>) {
        let at = partitioned.view.ops.iter().position(|op| edit::same(*op, self.op));
        let Some(report) = at.and_then(|at| partitioned.report.ops.get_mut(at)) else { return };
        for verdict in &mut report.verdicts {
            let form = self.verdicts.iter().find(|form| form.target == verdict.target);
            let form = form.filter(|form| !matches!(form.verdict, Verdict::NoPattern));
            if let (Verdict::NoPattern, Some(form)) = (&verdict.verdict, form) {
                let reason = match &form.verdict {
                    Verdict::Chosen { pattern, .. } => {
                        format!("'{pattern}' takes real numbers, not the integers")
                    }
                    _ => form.text.clone(),
                };
                verdict.text = format!("as a layer of dequantized tensors: {reason}");
            }
        }
    }
}

/// An operation that a form may take the place of.
struct Candidate<'c> {
    op: Op<'c>,
    /// The device that takes it as it is.
    device: Option<usize>,
}

/// The partition of a copy in another form.
#[derive(Default)]
struct Trial {
    /// The candidates that have a form that a device takes, before the one that took them as they are.
    useful: BTreeSet<usize>,
    /// The layers that devices take.
    layers: usize,
    /// The reasons against the others.
    refused: BTreeMap<usize, Vec<DeviceVerdict>>,
    /// True if rules moved something next to layers.
    moved: bool,
}

/// Changes functions to the forms that devices take; true if there was something to change. Adds to
/// `refused` the operations that stay.
pub fn take_forms<'c>(
    all: &[(Op<'c>, PartitionedFunction<'c>)],
    targets: &[TargetInstance],
    options: &DivideOptions,
    refused: &mut Vec<Refused<'c>>,
) -> Result<bool> {
    let mut changes = 0;
    for (function, partitioned) in all {
        let candidates = candidates(partitioned);
        if candidates.is_empty() && !has_more(partitioned) {
            continue;
        }
        let forms = Forms { function: *function, candidates, targets, options };
        changes += forms.take(layers(partitioned), refused)?;
    }
    Ok(changes > 0)
}

struct Forms<'t, 'c> {
    function: Op<'c>,
    candidates: Vec<Candidate<'c>>,
    targets: &'t [TargetInstance],
    options: &'t DivideOptions<'t>,
}

impl<'c> Forms<'_, 'c> {
    /// Takes the forms that are worth it, if any, of so many layers that devices take without. Gives the number of changes.
    fn take(&self, mut layers: usize, refused: &mut Vec<Refused<'c>>) -> Result<u64> {
        let all: BTreeSet<usize> = (0..self.candidates.len()).collect();
        let mut reasons = BTreeMap::new();
        let (mut kept, mut moves) = (BTreeSet::new(), false);
        if !all.is_empty() {
            let trial = self.settle(&all, false, &mut reasons)?;
            if !trial.useful.is_empty() {
                (kept, layers) = (trial.useful, trial.layers);
            }
        }
        let trial = self.settle(&all, true, &mut reasons)?;
        if trial.moved && trial.layers > layers {
            (kept, moves) = (trial.useful, true);
        }
        for (number, candidate) in self.candidates.iter().enumerate() {
            if let Some(verdicts) = reasons.remove(&number).filter(|_| !kept.contains(&number)) {
                refused.push(Refused { op: candidate.op, verdicts });
            }
        }
        let changes = self.rewrite(self.function, &kept)?;
        let moved = if moves { apply(self.function, rules::NEXT_TO_LAYERS, &[TARGET])? } else { 0 };
        Ok(changes + moved)
    }

    /// Tries forms of these candidates, then of those among them that devices took, until they take all.
    fn settle(
        &self,
        numbers: &BTreeSet<usize>,
        moves: bool,
        reasons: &mut BTreeMap<usize, Vec<DeviceVerdict>>,
    ) -> Result<Trial> {
        let mut numbers = numbers.clone();
        loop {
            let trial = self.trial(&numbers, moves)?;
            for (number, verdicts) in &trial.refused {
                reasons.entry(*number).or_insert_with(|| verdicts.clone());
            }
            let in_vain = if moves { !trial.moved } else { trial.useful.is_empty() };
            if in_vain || trial.useful.len() == numbers.len() {
                return Ok(trial);
            }
            numbers = trial.useful;
        }
    }

    fn trial(&self, numbers: &BTreeSet<usize>, moves: bool) -> Result<Trial> {
        self.number(numbers);
        let copy = edit::clone_before(self.function, self.function);
        self.candidates.iter().for_each(|candidate| {
            edit::remove_attr(candidate.op, FORM);
        });
        let trial = self.divided(copy, moves);
        edit::erase(copy);
        trial
    }

    fn divided(&self, copy: Op<'c>, moves: bool) -> Result<Trial> {
        self.expand(copy)?;
        let moved = moves && apply(copy, rules::NEXT_TO_LAYERS, &[TARGET])? > 0;
        if moves && !moved {
            return Ok(Trial::default());
        }
        let options = DivideOptions { placement: None, ..*self.options };
        let partitioned = divide_with(copy, self.targets, &options)?;
        let (mut useful, mut refused) = (BTreeSet::new(), BTreeMap::new());
        for (index, op) in partitioned.view.ops.iter().enumerate() {
            let number = ir::attr_i64(*op, FORM).and_then(|number| usize::try_from(number).ok());
            let Some(number) = number else { continue };
            let Some(candidate) = self.candidates.get(number) else { continue };
            let device = device(&partitioned, index);
            // An operation that no rule has another form for is as it was.
            let is_form = op_name(*op) != op_name(candidate.op);
            let comes_first = |device: usize| candidate.device.is_none_or(|own| device < own);
            if is_form && device.is_some_and(comes_first) && takes_integers(&partitioned, index) {
                useful.insert(number);
            } else if is_form && let Some(report) = partitioned.report.ops.get(index) {
                refused.insert(number, report.verdicts.clone());
            }
        }
        Ok(Trial { useful, layers: layers(&partitioned), refused, moved })
    }

    /// Gives the forms of these candidates to a function, which is not a copy.
    fn rewrite(&self, function: Op<'c>, numbers: &BTreeSet<usize>) -> Result<u64> {
        if numbers.is_empty() {
            return Ok(0);
        }
        self.number(numbers);
        let changes = self.expand(function);
        for op in edit::walk(function) {
            edit::remove_attr(op, FORM);
        }
        changes
    }

    /// Numbers these candidates.
    fn number(&self, numbers: &BTreeSet<usize>) {
        for (number, candidate) in self.candidates.iter().enumerate() {
            if numbers.contains(&number) {
                let word = IntegerType::new(context_of(candidate.op), 64).into();
                let value = IntegerAttribute::new(word, number as i64);
                edit::set_attr(candidate.op, FORM, value.into());
            }
        }
    }

    /// Gives numbered operations of a function another form.
    fn expand(&self, function: Op<'c>) -> Result<u64> {
        let unit = Attribute::unit(context_of(function));
        let others = edit::walk(function).into_iter();
        let others: Vec<_> = others.filter(|op| !op.has_attribute(FORM)).collect();
        others.iter().for_each(|op| edit::set_attr(*op, TAKEN, unit));
        let changes = apply(function, rules::FORMS, &[TAKEN, TARGET]);
        for op in edit::walk(function) {
            edit::remove_attr(op, TAKEN);
        }
        changes
    }
}

fn apply(function: Op<'_>, rules: &[Rule], except: &[&str]) -> Result<u64> {
    rewrite::apply_except(function, rules, except)
        .map_err(|error| Error::invalid(format!("{}: {}", error.location, error.message)))
}

/// The device that an operation is on.
fn device(partitioned: &PartitionedFunction<'_>, index: usize) -> Option<usize> {
    let region = partitioned.partition.region_of.get(index).copied().flatten()?;
    Some(partitioned.partition.regions[region].device)
}

/// True if the match with a layer has the dequantization of an operand too. A device that computes real numbers alone is
/// none for integers.
fn takes_integers(partitioned: &PartitionedFunction<'_>, index: usize) -> bool {
    let ops = &partitioned.view.ops;
    let Some(layer) = ops.get(index) else { return false };
    let used: Vec<_> = ir::operands(*layer).into_iter().filter_map(edit::defining_op).collect();
    let mut composites = partitioned.partition.regions.iter().flat_map(|region| &region.composites);
    let found = composites.find(|one| one.found.ops.iter().any(|op| op.index() == index));
    found.is_some_and(|one| {
        let mut taken = one.found.ops.iter().filter_map(|op| ops.get(op.index()));
        taken.any(|op| {
            graph::DequantizeLinear::is(*op) && used.iter().any(|other| edit::same(*other, *op))
        })
    })
}

/// Operations with another form that no device takes, or not the first one. Operations that a user
/// demands a place for are none.
fn candidates<'c>(partitioned: &PartitionedFunction<'c>) -> Vec<Candidate<'c>> {
    let ops = partitioned.view.ops.iter().enumerate();
    let known = ops.filter(|(_, op)| rules::FORMS.iter().any(|rule| rule.root == op_name(**op)));
    let free = known.filter(|(_, op)| !op.has_attribute(TARGET) && !op.has_attribute(PATTERN));
    let found = free.map(|(index, op)| Candidate { op: *op, device: device(partitioned, index) });
    found.filter(|candidate| candidate.device != Some(0)).collect()
}

/// True if something stands between quantized tensors that no device takes.
fn has_more(partitioned: &PartitionedFunction<'_>) -> bool {
    let ops = partitioned.view.ops.iter().enumerate();
    let mut left = ops.filter(|(index, _)| device(partitioned, *index).is_none());
    left.any(|(_, op)| graph::DequantizeLinear::is(*op))
}

/// The operations that devices take and that compute something of real numbers.
fn layers(partitioned: &PartitionedFunction<'_>) -> usize {
    const AROUND: &[&str] = &[
        graph::DequantizeLinear::NAME,
        graph::QuantizeLinear::NAME,
        graph::Reshape::NAME,
        graph::Flatten::NAME,
        graph::Transpose::NAME,
        graph::Squeeze::NAME,
        graph::Unsqueeze::NAME,
    ];
    let ops = partitioned.view.ops.iter().enumerate();
    let taken = ops.filter(|(index, _)| device(partitioned, *index).is_some());
    taken.filter(|(_, op)| !AROUND.contains(&op_name(**op))).count()
}
