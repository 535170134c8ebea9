//! docs/reference/patterns.md says all that the parsers know, and its examples are right.

use super::super::{check::FUNCTIONS, parse::RESERVED};
use super::*;
use crate::{expr::functions::NUMERIC, graph::eval::VALUE_FIELDS};

const PAGE: &str = include_str!("../../../../../docs/reference/patterns.md");

/// The lines of the page's blocks in a language.
fn examples(language: &str) -> Vec<&'static str> {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect();
    assert!(!lines.is_empty(), "no examples of {language}");
    lines
}

#[test]
fn the_page_has_all_words() {
    let mut words: Vec<&str> = FUNCTIONS.to_vec();
    words.extend(NUMERIC.iter().map(|(name, ..)| *name));
    for name in words {
        assert!(PAGE.contains(&format!("`{name}(")), "function {name}");
    }
    let mut words = VALUE_FIELDS.to_vec();
    words.extend(RESERVED);
    words.extend(Alias::all().iter().map(|alias| alias.name));
    for word in words {
        assert!(PAGE.contains(&format!("`{word}`")), "{word}");
    }
}

#[test]
fn the_grammar_is_that_of_the_parser() {
    let source = include_str!("../parse.rs");
    let grammar = source.split("```").nth(1).expect("has a grammar");
    for line in grammar.lines().filter_map(|line| line.strip_prefix("//! ")) {
        assert!(line == "text" || PAGE.contains(line), "{line}");
    }
}

#[test]
fn the_examples_are_accepted() {
    for text in examples("match") {
        MatchExpr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let conv = || PatternSpec::new("p", "conv2d(x, w: const, b?: const)").lower("default");
    let whole = |spec: PatternSpec, text: &str| {
        let loaded = Pattern::new(spec, &test_table(), &options());
        loaded.unwrap_or_else(|error| panic!("{text}: {error}"));
    };
    examples("where").into_iter().for_each(|text| whole(conv().clause(text), text));
    examples("call").into_iter().for_each(|text| whole(conv().call(text), text));
    examples("cost").into_iter().for_each(|text| whole(conv().cost(text), text));
}
