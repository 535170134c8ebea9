//! Many graphs as one: values that several matches read, and results that meet again in another match or on the
//! host. Queues, tickets and compilers of regions have their work with those.

use super::{
    contest::{Outcome, Ring},
    differential::{DifferentialRun, excerpt, verdict},
    draws::Draws,
    judge::Judge,
    report::{Note, PatternReport},
};
use crate::{
    Error, Result, Session,
    ir::{
        self, Builder, OpSpec, Val, edit, func,
        print::{Weights, print_module},
    },
    pattern::Pattern,
};
use melior::ir::{Module, Type, ValueLike, operation::OperationLike};
use std::collections::BTreeSet;

/// Numbers of matches in graphs: regions are of few and of many.
const MATCHES: [usize; 6] = [3, 5, 8, 4, 12, 24];

/// Webs for each pattern.
const WEBS: usize = 2;

/// Matches one after the other at most, so that differences do not grow beyond what can be judged.
const DEEPEST: usize = 3;

/// Most bytes of the text of a graph that is a part of another.
const SHORT: usize = 40_000;

/// A graph of which a web has several.
pub struct Part<'a> {
    /// The number of its pattern.
    pub pattern: usize,
    pub text: &'a str,
}

impl DifferentialRun<'_> {
    /// Runs webs: of a pattern's own graphs, and of those of all patterns.
    pub fn webs(
        &self,
        (number, own): (usize, &[String]),
        others: &[(usize, String)],
        seed: u64,
        report: &mut PatternReport,
    ) -> Result<()> {
        let mut draws = Draws::new(seed);
        let own = own.iter().map(|text| Part { pattern: number, text });
        let own: Vec<Part<'_>> = own.filter(|part| part.text.len() < SHORT).take(12).collect();
        if own.is_empty() {
            return Ok(());
        }
        let others = others.iter().map(|(pattern, text)| Part { pattern: *pattern, text });
        let others: Vec<Part<'_>> = others.filter(|part| part.text.len() < SHORT).collect();
        // One suffices for other options.
        let first = usize::from(self.is_variation && !others.is_empty());
        for place in first..if self.is_variation { first + 1 } else { WEBS } {
            // What depends on options shows with few matches.
            let sizes = if self.is_variation { &MATCHES[..2] } else { &MATCHES[..] };
            let count = sizes[(WEBS * number + place) % sizes.len()];
            let more: &[Part<'_>] = if place % 2 == 1 { &others } else { &[] };
            self.run_web((&own, more), count, &mut draws, report)?;
            self.session.clear_diagnostics();
        }
        Ok(())
    }

    fn run_web(
        &self,
        (own, others): (&[Part<'_>], &[Part<'_>]),
        count: usize,
        draws: &mut Draws,
        report: &mut PatternReport,
    ) -> Result<()> {
        let Some((text, numbers, depth)) = web(self.session, (own, others), count, draws)? else {
            return Ok(());
        };
        let all: Vec<&Pattern> = numbers.iter().map(|number| &self.patterns[*number]).collect();
        let Some(first) = all.first() else { return Ok(()) };
        let mut judge = Judge::of_many(self.options, first, &all, depth);
        report.tried += 1;
        let ring = Ring { records: None, ..self.ring() };
        let mut outcome = ring.run(&text, &all, report.tried);
        if matches!(outcome, Ok(Outcome::NotRun(_))) {
            // That all run on the device cannot be demanded: then as a compile would have it.
            outcome = ring.run(&text, &[], report.tried);
        }
        let fault = match outcome {
            Ok(Outcome::Done(rounds)) => {
                report.webs.push(all.len());
                verdict(&mut judge, &rounds).0
            }
            Ok(Outcome::NotRun(_)) => None,
            Err(error) => Some(format!("does not compile or run: {error}")),
        };
        let fault = fault.map(|fault| {
            let names: BTreeSet<_> = all.iter().map(|pattern| pattern.name()).collect();
            let names = names.into_iter().collect::<Vec<_>>().join("', '");
            format!(
                "one graph with {} matches of '{names}': {fault}, on\n{}",
                all.len(),
                excerpt(&text)
            )
        });
        report.notes.extend(fault.map(Note::error));
        Ok(())
    }
}

/// A value that a graph may go on with.
#[derive(Clone)]
struct Value<'m> {
    value: Val<'m>,
    like: (Type<'m>, func::Attributes<'m>),
    /// Matches on the way to it.
    depth: usize,
    is_argument: bool,
    is_read: bool,
}

/// The text of a web of so many matches, the numbers of their patterns, and how many follow one another.
fn web(
    session: &Session,
    (own, others): (&[Part<'_>], &[Part<'_>]),
    count: usize,
    draws: &mut Draws,
) -> Result<Option<(String, Vec<usize>, usize)>> {
    let mut numbers = vec![];
    let start = &own[draws.below(own.len())];
    numbers.push(start.pattern);
    let module = session.parse(start.text.as_bytes(), "check.mlir")?;
    if ir::ops_of(ir::root(&module)).len() != 1 {
        return Ok(None);
    }
    let mut added = vec![];
    for _ in 1..count * 2 {
        let is_other = !others.is_empty() && draws.chance(60);
        let list = if is_other { others } else { own };
        let part = &list[draws.below(list.len())];
        let other = session.parse(part.text.as_bytes(), "check.mlir")?;
        if ir::ops_of(ir::root(&other)).len() == 1 {
            added.push((part.pattern, other));
        }
    }
    let depth = {
        let mut values = values(&module)?;
        let mut next = added.iter();
        while numbers.len() < count
            && let Some((number, other)) = next.next()
        {
            add(session, (&module, other), &mut values, draws)?;
            numbers.push(*number);
            if draws.chance(30) {
                meet(session, &module, &mut values, draws)?;
            }
        }
        meet(session, &module, &mut values, draws)?;
        end(session, &module, &values, draws)?
    };
    drop(added);
    if !ir::root(&module).verify() {
        return Err(Error::internal("some graphs do not make one"));
    }
    Ok(Some((print_module(&module, Weights::Print)?, numbers, depth)))
}

/// The values that the first graph takes and gives.
fn values<'m>(module: &'m Module<'_>) -> Result<Vec<Value<'m>>> {
    let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
    let block = edit::entry_block(main).ok_or_else(func::no_main)?;
    let signature = func::Signature::of(main)?;
    let arguments = edit::arguments(block).into_iter().zip(signature.arguments);
    let arguments = arguments.map(|(value, like)| Value::new(value, like, 0, true));
    let end = ir::ops(block).last().copied().ok_or_else(func::no_main)?;
    let results = ir::operands(end).into_iter().zip(signature.results);
    let results = results.map(|(value, like)| Value::new(value, like, 1, false));
    Ok(arguments.chain(results).collect())
}

impl<'m> Value<'m> {
    fn new(
        value: Val<'m>,
        like: (Type<'m>, func::Attributes<'m>),
        depth: usize,
        is_argument: bool,
    ) -> Self {
        Self { value, like, depth, is_argument, is_read: false }
    }
}

/// Adds a graph that takes values that are there, as far as types allow: rather results than arguments.
fn add<'m>(
    session: &'m Session,
    (module, other): (&'m Module<'_>, &'m Module<'_>),
    values: &mut Vec<Value<'m>>,
    draws: &mut Draws,
) -> Result<()> {
    let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
    let added = func::main(ir::root(other)).ok_or_else(func::no_main)?;
    let body = |main| edit::entry_block(main).ok_or_else(func::no_main);
    let (block, from) = (body(main)?, body(added)?);
    let last = |block| ir::ops(block).last().copied().ok_or_else(func::no_main);
    let (end, end_of_added) = (last(block)?, last(from)?);
    let mut signature = func::Signature::of(main)?;
    let of_added = func::Signature::of(added)?;
    let mut depth = 0;
    for (old, like) in edit::arguments(from).into_iter().zip(&of_added.arguments) {
        let fits =
            |value: &&mut Value<'m>| value.depth < DEEPEST && value.value.r#type() == old.r#type();
        let mut fitting: Vec<_> = values.iter_mut().filter(fits).collect();
        let place = draws.below(fitting.len().max(1));
        let new = match fitting.get_mut(place).filter(|_| draws.chance(85)) {
            Some(found) => {
                found.is_read = true;
                depth = depth.max(found.depth);
                found.value
            }
            None => {
                signature.arguments.push(like.clone());
                let value = edit::add_argument(block, old.r#type(), main.location());
                values.push(Value::new(value, like.clone(), 0, true));
                value
            }
        };
        edit::replace_uses(old, new);
    }
    for op in ir::ops(from).iter().filter(|op| !edit::same(**op, end_of_added)) {
        edit::move_before(*op, end);
    }
    let results = ir::operands(end_of_added).into_iter().zip(&of_added.results);
    values.extend(results.map(|(value, like)| Value::new(value, like.clone(), depth + 1, false)));
    edit::replace_operands(end_of_added, &[]);
    signature.set(session.context(), main);
    Ok(())
}

/// Has two results meet on the host: their sum, or of integers the greater ones.
fn meet<'m>(
    session: &'m Session,
    module: &'m Module<'_>,
    values: &mut Vec<Value<'m>>,
    draws: &mut Draws,
) -> Result<()> {
    let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
    let block = edit::entry_block(main).ok_or_else(func::no_main)?;
    let end = ir::ops(block).last().copied().ok_or_else(func::no_main)?;
    let mut pairs = vec![];
    for (place, one) in values.iter().enumerate() {
        let others = values.iter().enumerate().skip(place + 1);
        let meets = |other: &Value<'m>| {
            let is_same = one.value == other.value || one.value.r#type() != other.value.r#type();
            !is_same && !one.is_argument && one.depth.max(other.depth) < DEEPEST
        };
        pairs.extend(others.filter(|(_, other)| meets(other)).map(|(second, _)| (place, second)));
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let (first, second) = pairs[draws.below(pairs.len())];
    let like = values[first].like.clone();
    let element = ir::element_type(like.0).to_string();
    let name = match element.as_str() {
        "i1" => "graph.or",
        float if float.starts_with('f') || float == "bf16" => "graph.add",
        _ => "graph.max",
    };
    let operands = [values[first].value, values[second].value];
    let b = Builder::before(end)?;
    let spec = OpSpec { operands: &operands, infer: true, ..Default::default() };
    let made = b.create(name, spec);
    let Some(made) = made.ok().and_then(|op| ir::results(op).first().copied()) else {
        let _ = session.failure("");
        return Ok(());
    };
    let depth = values[first].depth.max(values[second].depth) + 1;
    values[first].is_read = true;
    values[second].is_read = true;
    values.push(Value::new(made, like, depth, false));
    Ok(())
}

/// Returns what nobody reads, and some of what is read; gives the greatest depth.
fn end<'m>(
    session: &'m Session,
    module: &'m Module<'_>,
    values: &[Value<'m>],
    draws: &mut Draws,
) -> Result<usize> {
    let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
    let block = edit::entry_block(main).ok_or_else(func::no_main)?;
    let end = ir::ops(block).last().copied().ok_or_else(func::no_main)?;
    let kept = values.iter().filter(|value| !value.is_argument);
    let kept: Vec<&Value<'m>> = kept.filter(|value| !value.is_read || draws.chance(30)).collect();
    let mut signature = func::Signature::of(main)?;
    signature.results = kept.iter().map(|value| value.like.clone()).collect();
    let results: Vec<Val<'m>> = kept.iter().map(|value| value.value).collect();
    edit::replace_operands(end, &results);
    signature.set(session.context(), main);
    Ok(values.iter().map(|value| value.depth).max().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_again_and_meet() {
        let text = |name: &str| {
            format!(
                "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
                %0 = graph.{name} %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
                return %0 : tensor<4xf32>
            }}"
            )
        };
        let texts = [text("sub"), text("mul")];
        let parts: Vec<Part<'_>> =
            texts.iter().enumerate().map(|(pattern, text)| Part { pattern, text }).collect();
        let session = Session::new();
        let mut draws = Draws::new(7);
        let (web, numbers, depth) =
            web(&session, (&parts[..1], &parts[1..]), 12, &mut draws).unwrap().unwrap();
        assert_eq!(numbers.len(), 12);
        assert!((2..=DEEPEST).contains(&depth), "{web}");
        assert!(web.contains("graph.add %"), "{web}");
        assert!(web.matches("graph.mul").count() > 2, "{web}");
    }
}
