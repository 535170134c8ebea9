//! Selection of the matching graphs to run: a few have to cover much.
//!
//! Graphs are queued until there are many. Of eight choices, four take the graph with the most new
//! features, unseen operations before all else. Features are operand counts, words and numbers of
//! attributes, kinds of dimension sizes (alone and next to these operations) and comparisons of
//! operand sizes. Two of eight take such a graph among those whose sums are nearly the stored
//! results. One takes the rarest form regardless of sizes, and one the smallest graph: a loop that
//! ends too early, by whatever width, has no iterations left there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The graphs of a pattern that wait, and what was chosen before.
#[derive(Default)]
pub struct Choice {
    waiting: VecDeque<Graph>,
    /// Signatures of the graphs that were chosen or wait.
    known: BTreeSet<String>,
    /// Operations, types' ranks and attributes of those that were chosen, with how often.
    forms: BTreeMap<String, usize>,
    /// Features of the chosen graphs.
    features: BTreeSet<String>,
    chosen: usize,
}

/// A graph that waits.
struct Graph {
    text: String,
    form: String,
    features: BTreeSet<String>,
    /// True if an accumulator that is off by one changes the stored result.
    is_plain: bool,
    /// Elements of all that its operations read and write.
    elements: u64,
}

impl Choice {
    /// Has a graph wait, unless there is one that differs in data only.
    pub fn add(&mut self, text: String, is_plain: bool) {
        let signature = signature(&text);
        if self.known.contains(&signature) {
            return;
        }
        let (form, features, elements) = (form(&signature), features(&text), elements(&text));
        self.known.insert(signature);
        self.waiting.push_back(Graph { text, form, features, is_plain, elements });
    }

    /// The next graph to be run.
    pub fn next(&mut self) -> Option<String> {
        let place = match self.chosen % 8 {
            1 | 5 => self.newest(|graph| graph.is_plain).or_else(|| self.rarest()),
            3 => self.rarest(),
            7 => self.smallest(),
            _ => self.newest(|_| true),
        };
        let graph = self.waiting.remove(place?)?;
        self.chosen += 1;
        *self.forms.entry(graph.form).or_default() += 1;
        self.features.extend(graph.features);
        Some(graph.text)
    }

    /// The first of some with most that is new, operations before all else: a pattern may have one of several,
    /// which the device computes by different code.
    fn newest(&self, is_one: impl Fn(&Graph) -> bool) -> Option<usize> {
        let new = |graph: &Graph| {
            let found = || graph.features.difference(&self.features);
            (found().filter(|feature| feature.starts_with(OPERATION)).count(), found().count())
        };
        let all = self.waiting.iter().enumerate().filter(|(_, graph)| is_one(graph));
        all.max_by_key(|(place, graph)| (new(graph), usize::MAX - place)).map(|(place, _)| place)
    }

    /// The first of those with fewest elements.
    fn smallest(&self) -> Option<usize> {
        let all = self.waiting.iter().enumerate();
        all.min_by_key(|(place, graph)| (graph.elements, *place)).map(|(place, _)| place)
    }

    /// The first whose form was chosen least.
    fn rarest(&self) -> Option<usize> {
        let count = |graph: &Graph| self.forms.get(&graph.form).copied().unwrap_or(0);
        let all = self.waiting.iter().enumerate();
        all.min_by_key(|(place, graph)| (count(graph), *place)).map(|(place, _)| place)
    }
}

/// Identity of a graph: everything but the data.
fn signature(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("{-#"))
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(" loc(").next().unwrap_or_default())
        .collect()
}

/// A graph's operations and attributes, with each number as one of few kinds.
fn form(signature: &str) -> String {
    let mut form = String::new();
    for line in signature.split('%') {
        let kept = line.split_once("<{").map_or(line, |(_, rest)| rest);
        let mut number = String::new();
        for c in kept.chars().chain(['.']) {
            if c.is_ascii_digit() {
                number.push(c);
                continue;
            }
            if !number.is_empty() {
                form.push_str(if number.len() > 1 { "n" } else { &number });
                number.clear();
            }
            form.push(c);
        }
    }
    form
}

/// Prefix of features that name an operation.
const OPERATION: &str = "operation ";

/// The lines of a graph that have operations, without places.
fn operations(text: &str) -> Vec<&str> {
    let lines = text.lines().take_while(|line| !line.starts_with("{-#"));
    let lines = lines.filter(|line| line.contains("graph.") && !line.contains("graph.constant"));
    lines.map(|line| line.split(" loc(").next().unwrap_or(line)).collect()
}

/// The elements of a tensor, by what stands in its type.
fn elements_of(parts: &[&str]) -> u64 {
    let sizes = parts.iter().map_while(|size| size.parse::<u64>().ok());
    sizes.fold(1, u64::wrapping_mul)
}

/// The elements of all tensors of a graph's operations.
fn elements(text: &str) -> u64 {
    let types = operations(text).into_iter().flat_map(|line| line.split("tensor<").skip(1));
    let sizes = types.map(|ty| {
        let parts: Vec<&str> = ty.split('>').next().unwrap_or_default().split('x').collect();
        elements_of(&parts)
    });
    sizes.fold(0, u64::wrapping_add)
}

/// Features of a graph's operations that may matter to a device, each by itself.
fn features(text: &str) -> BTreeSet<String> {
    let lines = operations(text);
    let name = |line: &str| -> String {
        let words = line.split_whitespace();
        words.filter(|word| word.starts_with("graph.")).take(1).collect()
    };
    let names: Vec<String> = lines.iter().map(|line| name(line)).collect();
    let all = names.join(" ");
    let mut found = BTreeSet::from([all.clone()]);
    for (line, name) in lines.iter().zip(&names) {
        let (said, types) = line.split_once(" : ").unwrap_or((line, ""));
        let said = said.split_once(name.as_str()).map_or("", |(_, said)| said);
        let operands = said.matches('%').count();
        // What is constant may take another way through a device's compiler.
        let of = if said.contains("%cst") { "constants" } else { "values" };
        found.insert(format!("{OPERATION}{name} of {of}"));
        found.insert(format!("{name} of {operands}"));
        let words: Vec<_> = said.split_whitespace().filter(|w| !w.starts_with('%')).collect();
        found.extend(words.windows(2).map(|pair| format!("{name} {}", pair.join(" "))));
        found.extend(words.iter().map(|word| format!("{name} {word}")));
        let mut first: Vec<u64> = vec![];
        for (at, ty) in types.split("tensor<").skip(1).enumerate() {
            let ty = ty.split('>').next().unwrap_or_default();
            let mut parts: Vec<&str> = ty.split('x').collect();
            let element = parts.pop().unwrap_or_default();
            found.insert(format!("{name} {at} {element} of rank {}", parts.len()));
            // What is left over of vectors.
            found.insert(format!("{name} {at}: {} over eights", elements_of(&parts) % 8));
            // A window that is larger than its image, one row for all.
            let sizes: Vec<u64> = parts.iter().filter_map(|size| size.parse().ok()).collect();
            for (dim, (one, other)) in first.iter().zip(&sizes).enumerate() {
                found.insert(format!("{name} {at} {dim} {:?}", one.cmp(other)));
            }
            if at == 0 {
                first = sizes;
            }
            for (dim, size) in parts.iter().enumerate() {
                let size = kind_of_size(size);
                found.insert(format!("{name} {at} {dim} {size}"));
                found.insert(format!("{all}: {name} {at} {dim} {size}"));
            }
        }
    }
    found
}

/// Sizes that devices treat alike as a rule.
fn kind_of_size(size: &str) -> &'static str {
    match size.parse::<u64>() {
        Ok(..=1) => "one",
        Ok(..=4) => "few",
        Ok(..=8) => "some",
        Ok(..=16) => "many",
        _ => "most",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(rows: usize, attribute: &str) -> String {
        format!(
            "func.func @main() {{\n  %0 = graph.gemm %a, %b {attribute} : (tensor<{rows}x4xf32>, \
             tensor<4x2xf32>) -> tensor<{rows}x2xf32> loc(\"x\")\n}}"
        )
    }

    #[test]
    fn what_is_new_comes_first_and_nothing_twice() {
        let mut choice = Choice::default();
        let usual = [graph(2, ""), graph(3, ""), graph(2, ""), graph(4, "")];
        usual.into_iter().for_each(|text| choice.add(text, false));
        choice.add(graph(2, "trans_a = true"), false);
        choice.add(graph(32, ""), false);
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).collect();
        // The first has most, then comes what has another form, then another size.
        assert_eq!(all[0], graph(2, "trans_a = true"));
        assert_eq!(all[1], graph(2, ""));
        assert_eq!(all[2], graph(32, ""));
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn the_second_of_four_has_sums_that_are_nearly_stored() {
        let mut choice = Choice::default();
        (2..6).for_each(|rows| choice.add(graph(rows, ""), rows == 5));
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).collect();
        assert_eq!(all[1], graph(5, ""));
    }

    #[test]
    fn one_of_eight_is_the_smallest() {
        let mut choice = Choice::default();
        (2..20).rev().for_each(|rows| choice.add(graph(rows, "alpha = 2.0"), rows < 5));
        (2..20).rev().for_each(|rows| choice.add(graph(rows, ""), false));
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).collect();
        let rows = |text: &String| elements(text);
        let least = all[7..].iter().map(rows).min();
        assert_eq!(least, Some(rows(&all[7])));
        assert_eq!(elements(&graph(3, "")), 12 + 8 + 6);
    }

    #[test]
    fn sizes_count_beside_their_operations() {
        let features = features(&graph(9, "trans_a = true"));
        for wanted in [
            "graph.gemm of 2",
            "graph.gemm = true",
            "graph.gemm 0 0 many",
            "graph.gemm: graph.gemm 2 1 few",
            "graph.gemm 1 f32 of rank 2",
            "graph.gemm 0: 4 over eights",
            "graph.gemm 1 0 Greater",
            "graph.gemm 2 0 Equal",
        ] {
            assert!(features.contains(wanted), "{wanted} in {features:?}");
        }
    }

    #[test]
    fn every_operation_comes_before_every_size() {
        let unary = |name: &str, sizes: &str| {
            format!("  %0 = graph.{name} %a : tensor<{sizes}xf32> loc(\"x\")\n")
        };
        let mut choice = Choice::default();
        for sizes in ["2x3", "2x30x4x5", "1x2x3x4x5", "9x8x7", "5"] {
            choice.add(unary("neg", sizes), true);
        }
        choice.add(unary("relu", "4"), true);
        choice.add(unary("abs", "4"), true);
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).take(3).collect();
        assert!(
            ["neg", "relu", "abs"]
                .iter()
                .all(|name| { all.iter().any(|text| text.contains(&format!("graph.{name} "))) }),
            "{all:?}"
        );
    }
}
