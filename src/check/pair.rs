//! Two graphs as one, so that a device has several matches in one run: what it keeps of one call is
//! there when the next one begins.

use super::{
    contest::{Also, Outcome, Ring},
    differential::{DifferentialRun, Fate, excerpt, verdict},
    graph::shape_of,
    judge::Judge,
    report::{Note, PatternReport},
    sampler::Sampler,
};
use crate::{
    Error, Result, Session,
    ir::{
        self, Val, edit, func,
        print::{Weights, print_module},
    },
};
use melior::ir::{Module, ValueLike, operation::OperationLike};

/// Graphs of one match for each graph of two.
const SINGLES: usize = 8;

/// Number of doublings of a graph for one with many matches: queues and lists of a device have an
/// end.
const DOUBLED: usize = 4;

/// Chains for each pattern whose results may stay on the device.
const KEPT: usize = 3;

/// Random graphs of which one may take what another one gives.
const CONTINUED: usize = 200;

/// Ways to join two graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// The second has the first result of the first one for an input.
    Chain,
    /// Inputs of one type are one.
    Shared,
    /// Each has its own inputs.
    Apart,
}

impl DifferentialRun<'_> {
    /// Runs graphs with two matches: of the pattern, or of it and another one. That two do not go
    /// together is no fault.
    pub fn pairs(
        &self,
        (number, ran): (usize, &[String]),
        others: &[(usize, String)],
        sampler: &mut Sampler,
        report: &mut PatternReport,
    ) -> Result<()> {
        for place in 0..self.options.samples / SINGLES {
            let Some(partner) = self.partner((number, others), (place, ran), sampler)? else {
                continue;
            };
            self.run_pair((number, &ran[place]), partner, report)?;
            self.session.clear_diagnostics();
        }
        // The one with the least data.
        let least = ran.iter().min_by_key(|text| text.len()).cloned();
        if let Some(text) = least.filter(|_| self.options.samples >= SINGLES) {
            self.run_many(number, text, report)?;
            self.session.clear_diagnostics();
        }
        if self.options.samples >= super::THOROUGH || self.is_variation {
            self.webs((number, ran), others, sampler.random(), report)?;
            self.kept(number, sampler, report)?;
        }
        Ok(())
    }

    /// Runs chains of which the first result may stay on the device: it fills the rows of a pool that keeps results.
    fn kept(&self, number: usize, sampler: &mut Sampler, report: &mut PatternReport) -> Result<()> {
        let pattern = &self.patterns[number];
        let Some(row) = pattern.tile.as_ref().and_then(|tile| tile.kept_row()) else {
            return Ok(());
        };
        let mut chains = 0;
        for _ in 0..CONTINUED {
            if chains == KEPT {
                break;
            }
            let Some(Fate::Match(module)) = self.attempt(pattern, sampler)? else { continue };
            let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
            let signature = func::Signature::of(main)?;
            let Some((given, _)) = signature.results.first() else { continue };
            let element = ir::size::element_bytes(ir::element_type(*given)).unwrap_or(1);
            let fills = |size: &i64| *size > 0 && size * element as i64 % row == 0;
            // Which dimension is innermost is the call's to say: the second of images, or the last.
            let dims = ir::dims(*given);
            if ![dims.get(1), dims.last()].into_iter().flatten().any(fills) {
                continue;
            }
            let first = print_module(&module, Weights::Print)?;
            drop(module);
            let Some(text) = self.continued(number, &first, sampler)? else { continue };
            self.run_pair((number, &first), (number, text, Joint::Chain), report)?;
            self.session.clear_diagnostics();
            chains += 1;
        }
        Ok(())
    }

    /// Partner of one of the graphs that ran: its pattern, its text, and the way to join them.
    fn partner(
        &self,
        (number, others): (usize, &[(usize, String)]),
        (place, ran): (usize, &[String]),
        sampler: &mut Sampler,
    ) -> Result<Option<(usize, String, Joint)>> {
        let Some(first) = ran.get(place) else { return Ok(None) };
        if place % 2 == 0
            && let Some(text) = self.continued(number, first, sampler)?
        {
            return Ok(Some((number, text, Joint::Chain)));
        }
        let joint = if place % 4 < 2 { Joint::Shared } else { Joint::Apart };
        let own = ran.iter().rev().find(|other| *other != first);
        let other = (place / 2).checked_rem(others.len()).map(|at| &others[at]);
        Ok(match (own, other) {
            (own, Some((pattern, text))) if place % 2 == 1 || own.is_none() => {
                Some((*pattern, text.clone(), joint))
            }
            (Some(own), _) => Some((number, own.clone(), joint)),
            (None, _) => None,
        })
    }

    /// A graph of the pattern that takes what another one gives; none if none is found soon.
    fn continued(
        &self,
        number: usize,
        first: &str,
        sampler: &mut Sampler,
    ) -> Result<Option<String>> {
        let module = self.session.parse(first.as_bytes(), "check.mlir")?;
        let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
        let signature = func::Signature::of(main)?;
        let Some((given, _)) = signature.results.first() else { return Ok(None) };
        let end = edit::entry_block(main).and_then(|block| ir::ops(block).last().copied());
        let Some(value) = end.and_then(|end| ir::operands(end).first().copied()) else {
            return Ok(None);
        };
        sampler.begin_with(shape_of(value));
        for _ in 0..CONTINUED {
            let Some(Fate::Match(found)) = self.attempt(&self.patterns[number], sampler)? else {
                continue;
            };
            let main = func::main(ir::root(&found)).ok_or_else(func::no_main)?;
            let takes = func::Signature::of(main)?.arguments.iter().any(|(ty, _)| ty == given);
            if takes {
                return print_module(&found, Weights::Print).map(Some);
            }
        }
        Ok(None)
    }

    /// Runs a graph as often as [`DOUBLED`] says, in one.
    fn run_many(&self, number: usize, mut text: String, report: &mut PatternReport) -> Result<()> {
        for _ in 0..DOUBLED {
            let Some(module) = pair(self.session, (&text, &text), Joint::Apart)? else {
                return Ok(());
            };
            text = print_module(&module, Weights::Print)?;
        }
        let pattern = &self.patterns[number];
        let all = vec![pattern; 1 << DOUBLED];
        let mut judge = Judge::new(self.options, pattern);
        report.tried += 1;
        let fault = match self.ring().run(&text, &all, report.tried) {
            Ok(Outcome::Done(rounds)) => verdict(&mut judge, &rounds).0,
            Ok(Outcome::NotRun(_)) => None,
            Err(error) => Some(format!("does not compile or run: {error}")),
        };
        let fault = fault.map(|fault| {
            format!(
                "one graph with {} matches of '{}': {fault}, on\n{}",
                all.len(),
                pattern.name(),
                excerpt(&text)
            )
        });
        report.notes.extend(fault.map(Note::error));
        Ok(())
    }

    fn run_pair(
        &self,
        (number, first): (usize, &str),
        (second, text, joint): (usize, String, Joint),
        report: &mut PatternReport,
    ) -> Result<()> {
        let Some(module) = pair(self.session, (first, &text), joint)? else { return Ok(()) };
        let text = print_module(&module, Weights::Print)?;
        drop(module);
        let both = [&self.patterns[number], &self.patterns[second]];
        let is_chain = joint == Joint::Chain;
        let mut judge = Judge::of_both(self.options, (both[0], both[1]), is_chain);
        let ring = Ring { also: Some(Also { pattern: second, is_chain }), ..self.ring() };
        report.tried += 1;
        let fault = match ring.run(&text, &both, report.tried) {
            Ok(Outcome::Done(rounds)) => {
                report.pairs += 1;
                verdict(&mut judge, &rounds).0
            }
            Ok(Outcome::NotRun(_)) => None,
            Err(error) => Some(format!("does not compile or run: {error}")),
        };
        let fault = fault.map(|fault| {
            let names = both.map(|pattern| format!("'{}'", pattern.name())).join(" and ");
            format!("one graph with matches of {names}: {fault}, on\n{}", excerpt(&text))
        });
        report.notes.extend(fault.map(Note::error));
        Ok(())
    }
}

/// A graph that computes what two graphs compute. None if there is more in the second module than its
/// main function.
fn pair<'c>(
    session: &'c Session,
    (first, second): (&str, &str),
    joint: Joint,
) -> Result<Option<Module<'c>>> {
    let module = session.parse(first.as_bytes(), "check.mlir")?;
    let other = session.parse(second.as_bytes(), "check.mlir")?;
    if ir::ops_of(ir::root(&other)).len() != 1 {
        return Ok(None);
    }
    join(session, (&module, &other), joint)?;
    drop(other);
    if !ir::root(&module).verify() {
        return Err(Error::internal("two graphs do not make one"));
    }
    Ok(Some(module))
}

fn join<'m>(
    session: &'m Session,
    (module, other): (&'m Module<'_>, &'m Module<'_>),
    joint: Joint,
) -> Result<()> {
    let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
    let added = func::main(ir::root(other)).ok_or_else(func::no_main)?;
    let body = |main| edit::entry_block(main).ok_or_else(func::no_main);
    let (block, from) = (body(main)?, body(added)?);
    let last = |block| ir::ops(block).last().copied().ok_or_else(func::no_main);
    let (end, end_of_added) = (last(block)?, last(from)?);
    let mut results = ir::operands(end);
    let own = match joint {
        Joint::Chain => results.first().copied().into_iter().collect(),
        Joint::Shared => edit::arguments(block),
        Joint::Apart => vec![],
    };
    let mut signature = func::Signature::of(main)?;
    let of_added = func::Signature::of(added)?;
    let mut given: Vec<Val<'_>> = vec![];
    for (old, like) in edit::arguments(from).into_iter().zip(&of_added.arguments) {
        let same = own.iter().find(|own| own.r#type() == old.r#type());
        given.push(match same {
            Some(own) => *own,
            None => {
                signature.arguments.push(like.clone());
                edit::add_argument(block, old.r#type(), main.location())
            }
        });
    }
    for (old, new) in edit::arguments(from).into_iter().zip(&given) {
        edit::replace_uses(old, *new);
    }
    for op in ir::ops(from).iter().filter(|op| !edit::same(**op, end_of_added)) {
        edit::move_before(*op, end);
    }
    if joint == Joint::Chain && !results.is_empty() {
        results.remove(0);
        signature.results.remove(0);
    }
    results.extend(ir::operands(end_of_added));
    edit::replace_operands(end_of_added, &[]);
    edit::replace_operands(end, &results);
    signature.results.extend(of_added.results.iter().cloned());
    signature.set(session.context(), main);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::print::{Weights, print_module};

    const TEXT: &str = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = graph.relu %x : tensor<4xf32>
        return %0 : tensor<4xf32>
    }";

    fn paired(second: &str, joint: Joint) -> Option<String> {
        let session = Session::new();
        let module = pair(&session, (TEXT, second), joint).expect("a pair")?;
        Some(print_module(&module, Weights::Print).expect("text"))
    }

    #[test]
    fn two_graphs_are_one_beside_the_other() {
        let text = paired(&TEXT.replace("4", "8"), Joint::Shared).expect("a module");
        assert!(text.contains("%arg1: tensor<8xf32>"), "{text}");
        assert!(text.contains("return %0, %1 : tensor<4xf32>, tensor<8xf32>"), "{text}");
    }

    #[test]
    fn inputs_of_one_type_are_shared_or_not() {
        let shared = paired(TEXT, Joint::Shared).expect("a module");
        assert_eq!(shared.matches("graph.relu %arg0").count(), 2, "{shared}");
        let apart = paired(TEXT, Joint::Apart).expect("a module");
        assert!(apart.contains("graph.relu %arg1"), "{apart}");
        let chain = paired(TEXT, Joint::Chain).expect("a module");
        assert!(chain.contains("graph.relu %0"), "{chain}");
        assert!(chain.contains("return %1 : tensor<4xf32>"), "{chain}");
        let more = format!("{TEXT}\nfunc.func private @other()");
        assert_eq!(paired(&more, Joint::Apart), None);
    }
}
