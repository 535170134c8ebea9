//! Tokens of match expressions, predicates and prototypes.

use super::{PatternError, PatternResult, Span};

/// A token's kind and content.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name.
    Name(String),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A quoted text.
    Text(String),
    /// An operator or bracket.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    /// Text for it in messages.
    pub fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("'{name}'"),
            Token::Int(value) => format!("'{value}'"),
            Token::Float(value) => format!("'{value}'"),
            Token::Text(text) => format!("the text '{text}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// Longest first, so that `==` is not read as two `=`.
const SYMBOLS: [&str; 30] = [
    "...", "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", "{", "}", ",", ":", ";", "?", "|",
    "#", "~", ".", "<", ">", "+", "-", "*", "/", "%", "=", "&", "!",
];

/// The tokens of a text and a place among them.
pub struct Tokens<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    next: usize,
}

/// Greatest nesting of brackets; deeper text would only exhaust the stack.
const MAX_DEPTH: usize = 64;

/// The most tokens of one text, for the same reason.
const MAX_TOKENS: usize = 2048;

impl<'t> Tokens<'t> {
    /// Splits a text.
    pub fn new(text: &'t str) -> PatternResult<Self> {
        let mut tokens = vec![];
        let mut at = 0;
        let mut depth = 0_usize;
        while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
            if first.is_whitespace() {
                at += first.len_utf8();
                continue;
            }
            let (token, length) = scan(text, at)?;
            let span = Span { start: at, end: at + length };
            match token {
                Token::Symbol("(" | "[" | "{") => depth += 1,
                Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                let message = format!("brackets nest more than {MAX_DEPTH} deep");
                return Err(PatternError::new(text, span, message));
            }
            if tokens.len() == MAX_TOKENS {
                let message = format!("the text has more than {MAX_TOKENS} words and signs");
                return Err(PatternError::new(text, span, message));
            }
            tokens.push((token, span));
            at += length;
        }
        tokens.push((Token::End, Span { start: text.len(), end: text.len() }));
        Ok(Self { text, tokens, next: 0 })
    }

    /// The token `ahead` places from here.
    pub fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.next + ahead).map_or(&Token::End, |(token, _)| token)
    }

    /// The next token.
    pub fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// Place of the next token.
    pub fn span(&self) -> Span {
        let end = Span { start: self.text.len(), end: self.text.len() };
        self.tokens.get(self.next).map_or(end, |(_, span)| *span)
    }

    /// Place of the token before.
    pub fn last_span(&self) -> Span {
        let before = self.next.checked_sub(1).and_then(|index| self.tokens.get(index));
        before.map_or(Span::default(), |(_, span)| *span)
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// True if the token `ahead` places from here is this symbol.
    pub fn is_at(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Symbol(s) if *s == symbol)
    }

    /// Takes the next token if it is this symbol.
    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_at(0, symbol);
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it is this word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.take();
        }
        found
    }

    /// Takes this symbol or fails.
    pub fn expect(&mut self, symbol: &str, why: &str) -> PatternResult<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        Err(self.error(format!("expected '{symbol}' {why}, found {}", self.peek().describe())))
    }

    /// Takes a name or fails.
    pub fn expect_name(&mut self, what: &str) -> PatternResult<(String, Span)> {
        let span = self.span();
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.take();
                Ok((name, span))
            }
            other => Err(self.error(format!("expected {what}, found {}", other.describe()))),
        }
    }

    /// Fails unless all has been taken.
    pub fn expect_end(&self) -> PatternResult<()> {
        match self.peek() {
            Token::End => Ok(()),
            other => Err(self.error(format!("did not expect {} here", other.describe()))),
        }
    }

    /// A fault at the next token.
    pub fn error(&self, message: impl Into<String>) -> PatternError {
        self.error_at(self.span(), message)
    }

    /// A fault at a place.
    pub fn error_at(&self, span: Span, message: impl Into<String>) -> PatternError {
        PatternError::new(self.text, span, message)
    }
}

/// The token at byte `at`, which is not white space, and its length.
fn scan(text: &str, at: usize) -> PatternResult<(Token, usize)> {
    let rest = text.get(at..).unwrap_or_default();
    let fault = |length: usize, message: String| {
        Err(PatternError::new(text, Span { start: at, end: at + length }, message))
    };
    let Some(first) = rest.chars().next() else { return Ok((Token::End, 0)) };
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((Token::Name(rest.get(..length).unwrap_or_default().to_owned()), length));
    }
    if first.is_ascii_digit() {
        return scan_number(text, at);
    }
    if first == '\'' || first == '"' {
        let body = rest.get(1..).unwrap_or_default();
        return match body.find(first) {
            Some(end) => Ok((Token::Text(body.get(..end).unwrap_or_default().to_owned()), end + 2)),
            None => fault(rest.len(), format!("the text that starts with {first} does not end")),
        };
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None => fault(first.len_utf8(), format!("the character '{first}' means nothing here")),
    }
}

/// A decimal integer or float, or a hexadecimal integer.
fn scan_number(text: &str, at: usize) -> PatternResult<(Token, usize)> {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    let digits =
        |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let is = |place: usize, set: &[u8]| bytes.get(place).is_some_and(|byte| set.contains(byte));
    let mut length = digits(0);
    let mut float = false;
    if bytes.starts_with(b"0x") {
        length = 2 + bytes.iter().skip(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
    } else {
        if is(length, b".") && digits(length + 1) > 0 {
            length += 1 + digits(length + 1);
            float = true;
        }
        if is(length, b"eE") {
            let sign = usize::from(is(length + 1, b"+-"));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
                float = true;
            }
        }
    }
    let tail = bytes.iter().skip(length).take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = text.get(at..at + length).unwrap_or_default();
    let number = if tail > 0 {
        None
    } else if float {
        word.parse().ok().filter(|value: &f64| value.is_finite()).map(Token::Float)
    } else if let Some(hex) = word.strip_prefix("0x") {
        i64::from_str_radix(hex, 16).ok().map(Token::Int)
    } else {
        word.parse().ok().map(Token::Int)
    };
    number.map(|token| (token, length)).ok_or_else(|| {
        let span = Span { start: at, end: at + length + tail };
        let word = text.get(span.start..span.end).unwrap_or_default();
        PatternError::new(text, span, format!("'{word}' is not a number (64 bits at most)"))
    })
}
