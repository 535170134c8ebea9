//! Functions of a C file, and their call graph.

use super::token::{Kind, Token};
use std::{collections::BTreeSet, ops::Range};

/// A function with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function<'t> {
    /// Name of the function.
    pub name: &'t str,
    /// The tokens between its braces.
    pub body: Range<usize>,
}

/// The functions that are defined in a file.
pub fn functions<'t>(tokens: &[Token<'t>]) -> Vec<Function<'t>> {
    let mut found = vec![];
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text != "{" {
            at += 1;
            continue;
        }
        let end = closing(tokens, at);
        let header =
            (at > 0 && tokens[at - 1].text == ")").then(|| opening(tokens, at - 1)).flatten();
        if let Some(open) = header.filter(|open| *open > 0)
            && tokens[open - 1].kind == Kind::Word
        {
            found.push(Function { name: tokens[open - 1].text, body: at + 1..end });
        }
        at = end + 1;
    }
    found
}

/// The bracket that closes the one at `at`; the end of the tokens if there is none.
pub fn closing(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" if token.kind == Kind::Mark => depth += 1,
            ")" | "]" | "}" if token.kind == Kind::Mark => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    tokens.len()
}

/// The bracket that the one at `at` closes.
fn opening(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for place in (0..=at).rev() {
        match tokens[place].text {
            ")" | "]" | "}" if tokens[place].kind == Kind::Mark => depth += 1,
            "(" | "[" | "{" if tokens[place].kind == Kind::Mark => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// Functions by name with the functions that each mentions.
#[derive(Debug, Default)]
pub struct Calls(Vec<(String, BTreeSet<String>)>);

impl Calls {
    /// Adds the functions of a file.
    pub fn add(&mut self, tokens: &[Token<'_>]) {
        for function in functions(tokens) {
            let body = tokens.get(function.body).unwrap_or_default();
            let words = body.iter().filter(|token| token.kind == Kind::Word);
            let words = words.map(|token| token.text.to_owned()).collect();
            self.0.push((function.name.to_owned(), words));
        }
    }

    /// The functions, in the order of their files.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The functions that `roots` lead to, themselves included.
    pub fn reached<'n>(&self, roots: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
        let is_function = |name: &str| self.0.iter().any(|(known, _)| known == name);
        let mut waiting: Vec<String> =
            roots.filter(|name| is_function(name)).map(str::to_owned).collect();
        let mut reached = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if !reached.insert(name.clone()) {
                continue;
            }
            let words =
                self.0.iter().filter(|(known, _)| *known == name).flat_map(|(_, words)| words);
            waiting.extend(words.filter(|word| is_function(word)).cloned());
        }
        reached
    }

    /// The functions that a text names.
    pub fn named_in(&self, text: &str) -> BTreeSet<&str> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut words: BTreeSet<&str> = text.split(|c: char| !is_part(c)).collect();
        // Code of the host calls an instance's functions by names of the instance.
        let own: Vec<_> = words
            .iter()
            .flat_map(|word| word.match_indices("__").map(|(at, mark)| &word[at + mark.len()..]))
            .collect();
        words.extend(own);
        self.0.iter().map(|(name, _)| name.as_str()).filter(|name| words.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    const TEXT: &str = "struct s { int a; };\nstatic int two(int x) { return x; }\n\
        int one(struct s *p) {\n  if (p) { return two(1); }\n  return 0;\n}\n\
        const int table[] = {1, 2};\nint other(void) { return table[0]; }\n";

    #[test]
    fn functions_are_found_among_other_braces() {
        let tokens = tokens(TEXT);
        let names: Vec<_> = functions(&tokens).iter().map(|function| function.name).collect();
        assert_eq!(names, ["two", "one", "other"]);
    }

    #[test]
    fn calls_lead_on() {
        let mut calls = Calls::default();
        calls.add(&tokens(TEXT));
        let reached = calls.reached(["one", "nothing"].into_iter());
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(
            calls.named_in("call @other() : another").into_iter().collect::<Vec<_>>(),
            ["other"]
        );
        let own = calls.named_in("llvm.call @net_a__two(%0)");
        assert_eq!(own.into_iter().collect::<Vec<_>>(), ["two"]);
    }

    #[test]
    fn damaged_c_has_an_end() {
        for text in ["{", "int f(", "int f() {", "}}}", ") {"] {
            functions(&tokens(text));
        }
    }
}
