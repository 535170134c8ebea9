//! Slips of the finger in C: operators, constants, bounds, conditions, statements and arguments.

use super::{
    code::{closing, functions},
    defect::{Defect, Slip},
    guards::Guards,
    token::{Kind, Token, tokens},
};
use std::{collections::BTreeSet, ops::Range};

/// All slips in the functions of a file that `wanted` names, but for checks of arguments ([`Guards`]).
pub fn slips(file: &str, text: &str, wanted: &BTreeSet<String>) -> Vec<Defect> {
    let tokens = tokens(text);
    let guards = Guards::of(&tokens);
    let mut found = vec![];
    for function in functions(&tokens) {
        if !wanted.contains(function.name) || guards.is_check(function.name) {
            continue;
        }
        let body = Body { text, tokens: &tokens, range: function.body.clone() };
        for place in function.body.clone() {
            if tokens[place].is_left_out || guards.has(place) {
                continue;
            }
            for (slip, range, new) in body.at(place) {
                let old = text.get(range.clone()).unwrap_or_default();
                if old != new {
                    let (file, function) = (file.to_owned(), function.name.to_owned());
                    let block = body.block(place);
                    found.push(Defect { slip, file, function, place: range, new, block });
                }
            }
        }
    }
    found
}

/// The body of a function.
struct Body<'t> {
    text: &'t str,
    tokens: &'t [Token<'t>],
    range: Range<usize>,
}

type Found = (Slip, Range<usize>, String);

/// Binary operators and their replacements.
const OPERATORS: [(&str, &str); 22] = [
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("==", "!="),
    ("!=", "=="),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("%", "/"),
    ("&&", "||"),
    ("||", "&&"),
    ("<<", ">>"),
    (">>", "<<"),
    ("&", "|"),
    ("|", "&"),
    ("^", "|"),
    ("+=", "="),
    ("-=", "+="),
    ("*=", "+="),
    ("|=", "="),
];

/// Words that begin what is not dropped: declarations and what directs the flow.
const STAYING: [&str; 14] = [
    "return", "if", "for", "while", "switch", "do", "case", "default", "goto", "else", "const",
    "static", "struct", "union",
];

/// Functions whose arguments may change places.
const SYMMETRIC: [&str; 10] =
    ["calloc", "fmax", "fmaxf", "fmin", "fminf", "max", "memcmp", "min", "sizeof", "strcmp"];

impl<'t> Body<'t> {
    fn token(&self, place: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(place).filter(|_| self.range.contains(&place))
    }

    fn text(&self, place: usize) -> &'t str {
        self.token(place).map_or("", |token| token.text)
    }

    fn before(&self, place: usize) -> Option<&'t Token<'t>> {
        self.token(place.checked_sub(1)?)
    }

    /// The bytes of some tokens.
    fn bytes(&self, places: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(places.start).map_or(0, |token| token.start);
        let end = places.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..end.map_or(start, Token::end)
    }

    fn words(&self, places: Range<usize>) -> &'t str {
        self.text.get(self.bytes(places)).unwrap_or_default()
    }

    /// The slips that begin at a token.
    fn at(&self, place: usize) -> Vec<Found> {
        let slips = [
            self.operator(place),
            self.constant(place),
            self.loop_end(place),
            self.loop_start(place),
            self.condition(place),
            self.choice(place),
            self.statement(place),
        ];
        slips.into_iter().flatten().chain(self.arguments(place)).collect()
    }

    fn operator(&self, place: usize) -> Option<Found> {
        let token = self.token(place).filter(|token| token.kind == Kind::Mark)?;
        let before = self.before(place).filter(|before| before.ends_operand())?;
        let (_, new) = OPERATORS.iter().find(|(old, _)| *old == token.text)?;
        // `T *name`, `(T *)` and `T **` are types.
        let follows = self.tokens.get(place + 1)?;
        let is_apart = before.end() < token.start && follows.start == token.end();
        let of_type = is_apart || follows.text == ")" || follows.text == "*";
        if ["*", "&"].contains(&token.text) && of_type || self.is_clamp(place) {
            return None;
        }
        Some((Slip::Operator, self.bytes(place..place + 1), (*new).to_owned()))
    }

    /// True for the comparison of `a < b ? b : a` or `a < b ? a : b`: it does not matter which of
    /// two equal values is taken.
    fn is_clamp(&self, place: usize) -> bool {
        if !["<", "<=", ">", ">="].contains(&self.text(place)) {
            return false;
        }
        let right = self.without_cast(place + 1..self.range.end).start;
        let end = (right..self.range.end)
            .find(|at| ["?", ";", ")", "&&", "||"].contains(&self.text(*at)));
        let Some((first, second)) = end.and_then(|end| self.choices(end)) else { return false };
        let plain = |places: Range<usize>| self.words(self.without_cast(places));
        let (first, second) = (plain(first), plain(second));
        let right_is = |text: &str| {
            let after = self.bytes(right..right + 1).start;
            self.text.get(after..).is_some_and(|rest| rest.starts_with(text))
        };
        let left_is = |text: &str| {
            let before = self.bytes(place..place + 1).start;
            let rest = self.text.get(..before).unwrap_or_default().trim_end();
            rest.strip_suffix(text).is_some_and(|rest| {
                !rest.ends_with(|c: char| c.is_alphanumeric() || "_.>".contains(c))
            })
        };
        right_is(first) && left_is(second) || right_is(second) && left_is(first)
    }

    /// Tokens behind a cast to one word, if they begin with it.
    fn without_cast(&self, places: Range<usize>) -> Range<usize> {
        let at = places.start;
        let is_cast = self.text(at) == "("
            && self.token(at + 1).is_some_and(|token| token.kind == Kind::Word)
            && self.text(at + 2) == ")"
            && at + 3 < places.end;
        if is_cast { at + 3..places.end } else { places }
    }

    fn constant(&self, place: usize) -> Option<Found> {
        let token = self.token(place).filter(|token| token.kind == Kind::Number)?;
        // Cases of a switch would be there twice; the beginning of a loop is a bound.
        if self.before(place).is_some_and(|before| before.text == "case")
            || self.loop_start(place).is_some()
        {
            return None;
        }
        let range = self.bytes(place..place + 1);
        // An array that is longer is no less right.
        let new = match self.is_length(place) {
            true => format!("({} - 1)", token.text),
            false => other_number(token.text),
        };
        Some((Slip::Constant, range, new))
    }

    /// True for a number that is the length of a declared array: `TYPE NAME[NUMBER]`.
    fn is_length(&self, place: usize) -> bool {
        let is_word = |back: usize| {
            let at = place.checked_sub(back);
            at.and_then(|at| self.token(at)).is_some_and(|token| token.kind == Kind::Word)
        };
        let of_type = is_word(3) && !STAYING.contains(&self.text(place - 3)) || {
            place > 3 && self.text(place - 3) == "*" && is_word(4)
        };
        let is_declared = ["=", ";", "[", ","].contains(&self.text(place + 2));
        place > 2
            && self.text(place - 1) == "["
            && self.text(place + 1) == "]"
            && is_word(2)
            && of_type
            && is_declared
    }

    /// The header of the loop that a place is in: its tokens between the brackets.
    fn header(&self, place: usize) -> Option<Range<usize>> {
        let start = (self.range.start..place).rev().find(|at| self.text(*at) == "for")?;
        let header = start + 2..closing(self.tokens, start + 1);
        header.contains(&place).then_some(header)
    }

    /// The end of a loop: the operand behind `<` in the second part of its header.
    fn loop_end(&self, place: usize) -> Option<Found> {
        if !["<", "<=", ">", ">=", "!="].contains(&self.text(place)) {
            return None;
        }
        let header = self.header(place)?;
        let parts: Vec<usize> = header.clone().filter(|at| self.text(*at) == ";").collect();
        let [first, second] = parts[..] else { return None };
        (first..second).contains(&place).then_some(())?;
        let end =
            (place + 1..second).find(|at| ["&&", "||"].contains(&self.text(*at))).unwrap_or(second);
        let range = self.bytes(place + 1..end);
        Some((Slip::Bound, range.end..range.end, " - 1".to_owned()))
    }

    /// The beginning of a loop: the number that its variable is set to.
    fn loop_start(&self, place: usize) -> Option<Found> {
        let token = self.token(place).filter(|token| token.kind == Kind::Number)?;
        let header = self.header(place)?;
        let first = header.clone().find(|at| self.text(*at) == ";")?;
        (place < first && self.before(place)?.text == "=").then_some(())?;
        Some((Slip::Bound, self.bytes(place..place + 1), other_number(token.text)))
    }

    /// The condition of an `if` or a `while`.
    fn condition(&self, place: usize) -> Option<Found> {
        if !["if", "while"].contains(&self.text(place)) || self.text(place + 1) != "(" {
            return None;
        }
        let end = closing(self.tokens, place + 1);
        let range = self.bytes(place + 2..end);
        let new = format!("!({})", self.text.get(range.clone())?);
        Some((Slip::Condition, range, new))
    }

    /// The two values behind a `?` change places.
    fn choice(&self, place: usize) -> Option<Found> {
        let (first, second) = self.choices(place)?;
        let range = self.bytes(first.start..second.end);
        Some((Slip::Condition, range, format!("{} : {}", self.words(second), self.words(first))))
    }

    /// The two values behind a `?`.
    fn choices(&self, place: usize) -> Option<(Range<usize>, Range<usize>)> {
        (self.text(place) == "?").then_some(())?;
        let end_of = |from: usize, stop: &[&str]| {
            let mut at = from;
            while self.range.contains(&at) && !stop.contains(&self.text(at)) {
                let opens = ["(", "[", "{"].contains(&self.text(at));
                at = if opens { closing(self.tokens, at) + 1 } else { at + 1 };
            }
            at
        };
        let middle = end_of(place + 1, &[":", "?", ";"]);
        (self.text(middle) == ":").then_some(())?;
        let end = end_of(middle + 1, &[":", "?", ";", ",", ")", "]", "}"]);
        Some((place + 1..middle, middle + 1..end))
    }

    /// A statement that computes something or calls a function, and no declaration.
    fn statement(&self, place: usize) -> Option<Found> {
        let before = self.before(place).map_or("{", |before| before.text);
        if ![";", "{", "}", ")", "else", ":"].contains(&before) || self.header(place).is_some() {
            return None;
        }
        let token = self.token(place)?;
        let next = self.text(place + 1);
        const DOING: [&str; 14] =
            ["=", "+=", "-=", "*=", "/=", "|=", "&=", "[", "->", ".", "(", "++", "--", ";"];
        let begins = match token.kind {
            Kind::Word => !STAYING.contains(&token.text) && DOING.contains(&next),
            _ => ["*", "++", "--"].contains(&token.text) && before != ")",
        };
        if !begins {
            return None;
        }
        let end = (place..self.range.end).find(|at| self.text(*at) == ";")?;
        Some((Slip::Statement, self.bytes(place..end), "(void)0".to_owned()))
    }

    /// Neighbouring arguments of a call.
    fn arguments(&self, place: usize) -> Vec<Found> {
        let is_call = self.token(place).is_some_and(|token| token.kind == Kind::Word)
            && self.text(place + 1) == "("
            && !STAYING.contains(&self.text(place))
            && !SYMMETRIC.contains(&self.text(place));
        if !is_call {
            return vec![];
        }
        let end = closing(self.tokens, place + 1);
        let mut parts = vec![place + 2];
        let mut at = place + 2;
        while at < end {
            match self.text(at) {
                "(" | "[" | "{" => at = closing(self.tokens, at),
                "," => parts.push(at + 1),
                _ => {}
            }
            at += 1;
        }
        let ends = parts.iter().skip(1).map(|start| start - 1).chain([end]);
        let parts: Vec<_> =
            parts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
        let pairs = parts.windows(2);
        let exchange = |pair: &[Range<usize>]| {
            let new = format!("{}, {}", self.words(pair[1].clone()), self.words(pair[0].clone()));
            (Slip::Arguments, self.bytes(pair[0].start..pair[1].end), new)
        };
        pairs.map(exchange).collect()
    }

    /// The byte behind the brace that opens the innermost block around a place.
    fn block(&self, place: usize) -> usize {
        let mut depth = 0_usize;
        for at in (self.range.start..place).rev() {
            match self.text(at) {
                "}" => depth += 1,
                // Braces behind `=` and `)` of a cast hold values.
                "{" if depth == 0 && !self.holds_values(at) => return self.tokens[at].end(),
                "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.range.start.checked_sub(1).map_or(0, |brace| self.tokens[brace].end())
    }

    fn holds_values(&self, brace: usize) -> bool {
        let end = closing(self.tokens, brace);
        let before = self.before(brace).map_or("", |token| token.text);
        ["=", ",", "{", "("].contains(&before)
            || [";", ",", ")", "}"].contains(&self.text(end + 1)) && before == ")"
    }
}

/// A number for another.
fn other_number(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    if lower.contains('.') || !is_hex && lower.contains(['e', 'f']) {
        let digits = lower.trim_end_matches(['f', 'l']);
        return if digits.parse::<f64>().is_ok_and(|value| value == 0.0) {
            text.replacen('0', "1", 1)
        } else {
            format!("({text} * 2)")
        };
    }
    match lower.trim_end_matches(['u', 'l']) {
        "0" => text.replacen('0', "1", 1),
        "1" => text.replacen('1', "0", 1),
        _ => format!("({text} + 1)"),
    }
}

#[cfg(test)]
mod tests;
