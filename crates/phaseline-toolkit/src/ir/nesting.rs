//! Text that MLIR's parser would end the program on, found before it is parsed.
//!
//! The parser calls itself for each bracket, each minus and each term of an affine expression.
//! Walkers of types and attributes call themselves for each level, however short the text is that
//! aliases give them.

use std::collections::HashMap;

/// Levels within each other, of brackets, aliases, or terms of an expression.
const MAX_NESTING: usize = 256;

/// Words that what aliases stand for has, written out.
const MAX_WORDS: u64 = 1 << 24;

/// Reasons why a text is not given to the parser.
const TOO_DEEP: &str = "the text is nested too deep to be parsed";
const TOO_LONG: &str = "aliases stand for more text than can be read";
const ARRAY_OF_INDEX: &str = "has an array of index, which MLIR cannot hold: use i64";

/// Separator of two documents of a file, for tools that split files.
const SEPARATOR: &[u8] = b"// -----";

/// Fails if text (not bytecode) is such that MLIR's parser ends the program instead of refusing it:
/// nested too deep, or an array attribute of `index`. Gives the line and what is wrong.
pub fn check_text(text: &[u8]) -> Result<(), (usize, &'static str)> {
    if super::is_bytecode(text) {
        return Ok(());
    }
    Reader::default().read(text)
}

/// As [`check_text`], for tools that may read each part between two `// -----` by itself.
pub fn check_parts(text: &[u8]) -> Result<(), (usize, &'static str)> {
    check_text(text)?;
    if super::is_bytecode(text) {
        return Ok(());
    }
    let (mut rest, mut lines) = (text, 0);
    while let Some(end) = rest.windows(SEPARATOR.len()).position(|part| part == SEPARATOR) {
        check_text(&rest[..end]).map_err(|(line, what)| (lines + line, what))?;
        lines += rest[..end].iter().filter(|byte| **byte == b'\n').count();
        rest = &rest[end + SEPARATOR.len()..];
    }
    check_text(rest).map_err(|(line, what)| (lines + line, what))
}

/// Summary of the text that an alias stands for.
#[derive(Clone, Copy, Default)]
struct Alias {
    depth: usize,
    words: u64,
    /// Begins with `index`.
    is_index: bool,
}

/// An alias that is being defined.
struct Definition<'t> {
    name: &'t [u8],
    alias: Alias,
    line: usize,
}

/// A token of MLIR's lexer, without the contents of strings; comments are none.
#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t [u8]),
    String,
    Sign(u8),
}

/// The state of a pass over a text.
#[derive(Default)]
struct Reader<'t> {
    line: usize,
    /// Each open bracket, with the operators since it or the last comma.
    open: Vec<(u8, usize)>,
    aliases: HashMap<&'t [u8], Alias>,
    definition: Option<Definition<'t>>,
    /// The two tokens before, the nearer first.
    before: [Option<Token<'t>>; 2],
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$.".contains(&byte)
}

impl<'t> Reader<'t> {
    fn read(mut self, text: &'t [u8]) -> Result<(), (usize, &'static str)> {
        self.line = 1;
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let start = at;
            at += 1;
            let next = text.get(at).copied().unwrap_or_default();
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b'"' => {
                    at = self.string(text, at);
                    self.check_pipeline(&text[start + 1..at])?;
                    self.token(Token::String)?;
                }
                b'/' if next == b'/' => {
                    at += text[at..]
                        .iter()
                        .position(|byte| *byte == b'\n')
                        .unwrap_or(text.len() - at);
                }
                _ if is_word(byte) || (b"!#".contains(&byte) && is_word(next)) => {
                    at += text[at..]
                        .iter()
                        .position(|byte| !is_word(*byte))
                        .unwrap_or(text.len() - at);
                    self.token(Token::Word(&text[start..at]))?;
                }
                // Comparisons and arrows are no brackets, and an arrow is no minus.
                b'<' | b'>' if next == b'=' => at += 1,
                b'-' if next == b'>' => at += 1,
                _ => self.token(Token::Sign(byte))?,
            }
        }
        Ok(())
    }

    /// End of the string whose quote was just read.
    fn string(&mut self, text: &[u8], mut at: usize) -> usize {
        while let Some(&byte) = text.get(at) {
            at += match byte {
                b'"' => return at + 1,
                b'\\' => 2,
                _ => 1,
            };
            self.line += usize::from(byte == b'\n');
        }
        text.len()
    }

    /// The pipeline of a reproducer is parsed as well.
    fn check_pipeline(&self, string: &[u8]) -> Result<(), (usize, &'static str)> {
        match self.before {
            [Some(Token::Sign(b':')), Some(Token::Word(b"pipeline"))] => {
                check_text(string).map_err(|(_, what)| (self.line, what))
            }
            _ => Ok(()),
        }
    }

    fn token(&mut self, token: Token<'t>) -> Result<(), (usize, &'static str)> {
        self.define(token);
        let fault = match token {
            Token::Word(word) => self.word(word),
            Token::String => None,
            Token::Sign(sign) => self.sign(sign),
        };
        self.before = [Some(token), self.before[0]];
        fault.map_or(Ok(()), |what| Err((self.line, what)))
    }

    fn word(&mut self, word: &'t [u8]) -> Option<&'static str> {
        if [&b"mod"[..], b"floordiv", b"ceildiv"].contains(&word) && self.operator() {
            return Some(TOO_DEEP);
        }
        // On the line of its definition it is used only behind that.
        let current = self.definition.as_ref().filter(|definition| definition.name == word);
        let current = current.map(|definition| definition.alias);
        let known = current.or(self.aliases.get(word).copied()).unwrap_or_default();
        let is_index = known.is_index || word == b"index";
        if is_index && self.before == [Some(Token::Sign(b'<')), Some(Token::Word(b"array"))] {
            return Some(ARRAY_OF_INDEX);
        }
        let depth = self.open.len() + known.depth;
        if let Some(definition) = &mut self.definition
            && current.is_none()
        {
            definition.alias.is_index |= is_index && self.before[0] == Some(Token::Sign(b'='));
            let alias = &mut definition.alias;
            alias.depth = alias.depth.max(depth);
            alias.words = alias.words.saturating_add(known.words.max(1));
            if alias.words > MAX_WORDS {
                return Some(TOO_LONG);
            }
        }
        (depth > MAX_NESTING).then_some(TOO_DEEP)
    }

    fn sign(&mut self, sign: u8) -> Option<&'static str> {
        match sign {
            b'(' | b'[' | b'{' | b'<' => self.open.push((sign, 0)),
            b')' | b']' | b'}' | b'>' => drop(self.open.pop()),
            b',' => {
                if let Some((_, operators)) = self.open.last_mut() {
                    *operators = 0;
                }
            }
            b'+' | b'-' | b'*' if self.operator() => return Some(TOO_DEEP),
            _ => {}
        }
        (self.open.len() > MAX_NESTING).then_some(TOO_DEEP)
    }

    /// Counts an operator of an expression; true if there are too many. Regions hold none.
    fn operator(&mut self) -> bool {
        let Some((bracket, operators)) = self.open.last_mut() else { return false };
        *operators += usize::from(*bracket != b'{');
        *operators > MAX_NESTING
    }

    /// Begins the definition of an alias, or ends it: `!name = ...` outside of brackets, until
    /// something else begins on another line.
    fn define(&mut self, token: Token<'t>) {
        if !self.open.is_empty() {
            return;
        }
        let begins = match (self.before[0], token) {
            (Some(Token::Word(name)), Token::Sign(b'=')) if b"!#".contains(&name[0]) => Some(name),
            _ => None,
        };
        let ends = self.definition.as_ref().is_some_and(|definition| {
            definition.alias.words > 0
                && self.line > definition.line
                && !matches!(token, Token::Sign(sign) if !b"%@{".contains(&sign))
        });
        if begins.is_none() && !ends {
            if let Some(definition) = &mut self.definition {
                definition.line = self.line;
            }
            return;
        }
        if let Some(Definition { name, alias, .. }) = self.definition.take() {
            self.aliases.insert(name, alias);
        }
        self.definition =
            begins.map(|name| Definition { name, alias: Alias::default(), line: self.line });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(open: &str, close: &str) -> String {
        open.repeat(1000) + &close.repeat(1000)
    }

    #[test]
    fn nesting_is_counted_outside_of_strings_and_comments() {
        let line = |text: &str| check_text(text.as_bytes()).expect_err(text).0;
        assert_eq!(line(&many("[", "]")), 1);
        assert_eq!(line(&many("\n(", ")")), 258);
        for fine in [
            format!("\"{}\\\"{}\"", "(".repeat(1000), "{".repeat(1000)),
            format!("// {}", "(".repeat(1000)),
            "(d0 <= 1) -> (x)".repeat(1000),
            "[]".repeat(1000),
            many("[", "]")[900..1100].to_owned(),
        ] {
            assert_eq!(check_text(fine.as_bytes()), Ok(()), "{fine}");
        }
    }

    #[test]
    fn arrays_of_index_are_found() {
        for bad in [
            "{a = array<index: 1>}",
            "\n array < index>",
            "[array<index: 0, 2>]",
            "array // x\n < // y\n index",
            "!i = index\n!j = !i\n{a = array<!j: 1>}",
            "!i = index module attributes {a = array<!i: 1>} {}",
        ] {
            let (_, what) = check_text(bad.as_bytes()).expect_err(bad);
            assert_eq!(what, ARRAY_OF_INDEX);
        }
        for fine in ["array<i64: 1>", "\"array<index\"", "!my.array<index>", "array<indexed>"] {
            assert_eq!(check_text(fine.as_bytes()), Ok(()), "{fine}");
        }
    }

    #[test]
    fn terms_of_an_expression_are_levels() {
        for term in ["d0 + ", "- ", "d0 floordiv 3 mod ", "-\n"] {
            let text = format!("#m = affine_map<(d0) -> ({}d0)>", term.repeat(1000));
            assert_eq!(check_text(text.as_bytes()).expect_err(&text).1, TOO_DEEP);
        }
        for fine in [
            format!("dense<[{}0]>", "-1, ".repeat(1000)),
            format!("{{ {} }}", "%0 = arith.constant -1 : i32\n".repeat(1000)),
            format!("{}i32", "() -> ".repeat(1000)),
        ] {
            assert_eq!(check_text(fine.as_bytes()), Ok(()), "{fine}");
        }
    }

    /// `count` aliases, each of which stands for what `form` makes of the one before.
    fn aliases(count: usize, form: impl Fn(&str) -> String) -> String {
        let define = |index: usize| match index {
            0 => "!a0 = tuple<i32>\n".to_owned(),
            _ => format!("!a{index} = {}\n", form(&format!("!a{}", index - 1))),
        };
        (0..count).map(define).collect()
    }

    #[test]
    fn aliases_are_as_deep_and_as_long_as_what_they_stand_for() {
        let nested = |name: &str| format!("tuple<{name}>");
        let (line, what) = check_text(aliases(1000, nested).as_bytes()).expect_err("is deep");
        assert_eq!((line, what), (257, TOO_DEEP));
        let doubled = |name: &str| format!("tuple<{name},\n {name}>");
        let error = check_text(aliases(60, doubled).as_bytes()).expect_err("is long");
        assert_eq!(error.1, TOO_LONG);
        // Text behind an alias does not belong to it.
        let region = format!("\"op\"() ({{ {} }}) : () -> ()\n", many("(", ")"));
        let region = region.replace(&"(".repeat(1000), &"(".repeat(200));
        let text = format!("#a = [1]\n{region}#b = [#a]\n{region}#c = [#b]\n");
        assert_eq!(check_text(text.as_bytes()), Ok(()));
    }

    #[test]
    fn parts_are_read_by_themselves() {
        let text = format!("x = \"a\n  // -----\n{}", many("[", "]"));
        assert_eq!(check_text(text.as_bytes()), Ok(()));
        assert_eq!(check_parts(text.as_bytes()), Err((3, TOO_DEEP)));
        assert_eq!(check_parts(b"[\n// -----\n["), Ok(()));
        let reproducer =
            format!("{{-# mlir_reproducer: {{ pipeline: \"{}\" }} #-}}", many("a(", ")"));
        assert_eq!(check_text(reproducer.as_bytes()), Err((1, TOO_DEEP)));
    }
}
