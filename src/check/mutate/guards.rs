//! Checks of arguments: `if (CONDITION) return STATUS;`, and functions that only such conditions call.
//! With arguments that are right they do nothing, so that no result tells whether they are. A status
//! is a number other than 0 or a name in capitals. What stands behind `if (status == OK) return status;` is
//! for failures, too.

use super::{
    code::{Function, closing, functions},
    token::{Kind, Token},
};
use std::{collections::BTreeSet, ops::Range};

/// The checks of a file.
pub struct Guards<'t> {
    places: Vec<Range<usize>>,
    functions: BTreeSet<&'t str>,
}

impl<'t> Guards<'t> {
    /// Finds them.
    pub fn of(tokens: &[Token<'t>]) -> Self {
        let all = functions(tokens);
        let bodies = || all.iter().map(|function| function.body.clone());
        let found = |at| [guard(tokens, at), after_success(tokens, at)].into_iter().flatten();
        let places = bodies().flat_map(|body| body.flat_map(found)).collect();
        let mut guards = Self { places, functions: BTreeSet::new() };
        guards.add_calls(tokens, &all);
        loop {
            let (places, functions) = (guards.places.len(), guards.functions.len());
            guards.add_values(tokens, &all);
            guards.add_functions(tokens, &all);
            if (places, functions) == (guards.places.len(), guards.functions.len()) {
                return guards;
            }
        }
    }

    /// Adds statements that only call what comments leave out.
    fn add_calls(&mut self, tokens: &[Token<'t>], all: &[Function<'t>]) {
        let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
        let is_left_out = |name: &str| {
            let mut same = all.iter().filter(|function| function.name == name);
            same.any(|function| tokens.get(function.body.start).is_some_and(|t| t.is_left_out))
        };
        for at in all.iter().flat_map(|function| function.body.clone()) {
            let end = closing(tokens, at + 1);
            if text(at + 1) == "(" && text(end + 1) == ";" && is_left_out(text(at)) {
                let begins =
                    at.checked_sub(1).is_some_and(|at| [";", "{", "}"].contains(&text(at)));
                self.places.extend(begins.then_some(at..end + 2));
            }
        }
    }

    /// Adds declarations of values that only checks read: `const size_t bytes = 4 * count;`.
    fn add_values(&mut self, tokens: &[Token<'t>], all: &[Function<'t>]) {
        let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
        for body in all.iter().map(|function| function.body.clone()) {
            for at in
                body.clone().filter(|at| text(at + 1) == "=" && tokens[*at].kind == Kind::Word)
            {
                let start = (body.start..at).rev().find(|at| [";", "{", "}"].contains(&text(*at)));
                let start = start.map_or(body.start, |before| before + 1);
                let end = (at..body.end).find(|at| text(*at) == ";").unwrap_or(body.end);
                // Words only before the name: a declaration of one value.
                let is_declared = start < at && (start..at).all(|at| tokens[at].kind == Kind::Word);
                let calls = |at: usize| {
                    text(at + 1) == "(" && tokens[at].kind == Kind::Word && text(at) != "sizeof"
                };
                let has_others = (at..end).any(|at| text(at) == "," || calls(at));
                let mut uses =
                    body.clone().filter(|use_| *use_ != at && text(*use_) == text(at)).peekable();
                let is_read = uses.peek().is_some() && uses.all(|at| self.has(at));
                if is_declared && !has_others && is_read && !self.has(at) {
                    self.places.push(start..end + 1);
                }
            }
        }
    }

    /// Adds functions that only checks call.
    fn add_functions(&mut self, tokens: &[Token<'t>], all: &[Function<'t>]) {
        let owner = |at: usize| all.iter().find(|function| function.body.contains(&at));
        for function in all {
            let is_use =
                |at: &usize| tokens[*at].kind == Kind::Word && tokens[*at].text == function.name;
            let bodies = all.iter().map(|function| function.body.clone());
            let uses: Vec<usize> = bodies.flat_map(|body| body.filter(is_use)).collect();
            let inside = |at: &usize| {
                self.has(*at) || owner(*at).is_some_and(|owner| self.is_check(owner.name))
            };
            if !uses.is_empty() && uses.iter().all(inside) {
                self.functions.insert(function.name);
            }
        }
    }

    /// True for a token that is part of a check.
    pub fn has(&self, place: usize) -> bool {
        self.places.iter().any(|range| range.contains(&place))
    }

    /// True for a function that only checks call.
    pub fn is_check(&self, name: &str) -> bool {
        self.functions.contains(name)
    }
}

/// The tokens of a check that begins at a place: what is returned is a status other than 0.
fn guard(tokens: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    (text(at) == "if" && text(at + 1) == "(").then_some(())?;
    let mut place = closing(tokens, at + 1) + 1;
    place += usize::from(text(place) == "{");
    (text(place) == "return").then_some(())?;
    place += usize::from(text(place + 1) == "-");
    let value = tokens.get(place + 1)?;
    let is_status = match value.kind {
        Kind::Word => {
            value.text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        }
        Kind::Number => value.text != "0",
        _ => false,
    };
    (is_status && text(place + 2) == ";").then_some(at..place + 3)
}

/// The tokens from behind `if (STATUS == ..OK) return ..;` to the end of the block around it.
fn after_success(tokens: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    let is_good = |name: &str| ["OK", "SUCCESS"].iter().any(|end| name.ends_with(end));
    (text(at) == "if" && text(at + 1) == "(" && text(at + 3) == "==").then_some(())?;
    let (status, good) = (text(at + 2), text(at + 4));
    (is_good(good) && text(at + 5) == ")").then_some(())?;
    let in_braces = usize::from(text(at + 6) == "{");
    let returns = at + 6 + in_braces;
    let is_end = text(returns) == "return"
        && [status, good].contains(&text(returns + 1))
        && text(returns + 2) == ";";
    is_end.then_some(())?;
    let start = returns + 3 + in_braces;
    let mut place = start;
    while place < tokens.len() && text(place) != "}" {
        let opens = ["(", "[", "{"].contains(&text(place));
        place = if opens { closing(tokens, place) + 1 } else { place + 1 };
    }
    Some(start..place)
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    #[test]
    fn checks_are_told_from_work() {
        let text = "static int inside(int x) { return x < 4; }\n\
            static int both(int x) { return inside(x) && x; }\n\
            static int used(int x) { return x + 1; }\n\
            int f(int x) { if (!both(x)) return BAD; if (used(x)) { return -1; } \
            if (x) return 0; if (x) return x; return used(x); }";
        let tokens = tokens(text);
        let guards = Guards::of(&tokens);
        let is_check = |name: &str| guards.is_check(name);
        assert!(is_check("inside") && is_check("both"));
        assert!(!is_check("used") && !is_check("f"));
        assert_eq!(guards.places.len(), 2);
    }

    #[test]
    fn what_is_behind_a_success_is_for_failures() {
        let text = "int f(int x) { int s = g(x); if (s == NPU_OK) return s; clear(x); \
            for (;;) { again(x); } return s; } int h(int x) { return work(x); }";
        let tokens = tokens(text);
        let guards = Guards::of(&tokens);
        let is_part = |text: &str| guards.has(tokens.iter().position(|t| t.text == text).unwrap());
        assert!(is_part("clear") && is_part("again"));
        assert!(!is_part("g") && !is_part("work"));
    }

    #[test]
    fn values_that_only_checks_read_are_part_of_them() {
        let text = "int f(int x) { const int most = (4 * x); int two = most + 1; int y = x; \
            if (two > 9) return BAD; if (x > most) return BAD; return y; }";
        let tokens = tokens(text);
        let guards = Guards::of(&tokens);
        let is_part = |text: &str| guards.has(tokens.iter().position(|t| t.text == text).unwrap());
        assert!(is_part("most") && is_part("two") && !is_part("y"));
    }
}
