//! Words and signs of ONNX's text.

use super::Read;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// A name, which may have dots in it.
    Name(String),
    /// A text in quotes.
    Text(String),
    Int(i64),
    Float(f64),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 13] = ["=>", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "@"];

/// The words of a text, with their lines.
pub(super) struct Words {
    all: Vec<(Word, usize)>,
    at: usize,
}

impl Words {
    pub(super) fn new(text: &str) -> Read<Self> {
        let mut all = vec![];
        let mut last = 1;
        for (index, line) in text.lines().enumerate() {
            last = index + 1;
            let mut rest = line.trim_start();
            while !rest.is_empty() && !rest.starts_with('#') {
                let (word, after) = word(rest).map_err(|e| format!("line {last}: {e}"))?;
                all.push((word, last));
                rest = after.trim_start();
            }
        }
        all.push((Word::End, last));
        Ok(Self { all, at: 0 })
    }

    pub(super) fn peek(&self) -> &Word {
        // The end is never taken.
        &self.all[self.at.min(self.all.len() - 1)].0
    }

    pub(super) fn take(&mut self) -> Word {
        let word = self.peek().clone();
        self.at = (self.at + 1).min(self.all.len() - 1);
        word
    }

    /// Takes a sign if it comes next.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Word::Sign(next) if *next == sign);
        if is_next {
            self.take();
        }
        is_next
    }

    pub(super) fn expect(&mut self, sign: &str) -> Read<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Reads a comma between elements, unless the list ends here with this sign.
    pub(super) fn separator(&mut self, end: &str) -> Read<()> {
        match self.peek() {
            Word::Sign(next) if *next == end => Ok(()),
            _ => self.expect(","),
        }
    }

    pub(super) fn expect_end(&self) -> Read<()> {
        if *self.peek() == Word::End { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    pub(super) fn name(&mut self, what: &str) -> Read<String> {
        match self.peek() {
            Word::Name(name) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Read<String> {
        match self.peek() {
            Word::Text(text) => {
                let text = text.clone();
                self.take();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn int(&mut self, what: &str) -> Read<i64> {
        match *self.peek() {
            Word::Int(value) => {
                self.take();
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn expected(&self, what: &str) -> String {
        let found = match self.peek() {
            Word::Name(name) => format!("`{name}`"),
            Word::Text(text) => format!("{text:?}"),
            Word::Int(value) => value.to_string(),
            Word::Float(value) => value.to_string(),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// A message with the line that the reader is at.
    pub(super) fn error(&self, message: String) -> String {
        let line = self.all[self.at.min(self.all.len() - 1)].1;
        format!("line {line}: {message}")
    }
}

/// The first word of a text that begins with one, and what follows.
fn word(text: &str) -> Read<(Word, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        return quoted(rest);
    }
    let is_number = |text: &str| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    if is_number(text) {
        let signed = usize::from(text.starts_with(['-', '+']));
        let end = number_end(text, signed);
        let (number, rest) = text.split_at(end);
        let int = number.trim_start_matches('+').parse().map(Word::Int);
        let word = int.or_else(|_| number.parse().map(Word::Float));
        return word.map(|word| (word, rest)).map_err(|_| format!("`{number}` is no number"));
    }
    let part_of_name = |c: char| c.is_alphanumeric() || "_./".contains(c);
    let end = text.find(|c| !part_of_name(c)).unwrap_or(text.len());
    if end > 0 {
        return Ok((Word::Name(text[..end].to_owned()), &text[end..]));
    }
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return Ok((Word::Sign(sign), &text[sign.len()..]));
    }
    let sign: String = text.chars().take(1).collect();
    Err(format!("`{sign}` is no sign of ONNX's text"))
}

/// End of a number: digits, a point, and an exponent with its sign.
fn number_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = from;
    while end < bytes.len() {
        let sign = b"+-".contains(&bytes[end]) && b"eE".contains(&bytes[end - 1]);
        if !(bytes[end].is_ascii_alphanumeric() || bytes[end] == b'.' || sign) {
            break;
        }
        end += 1;
    }
    end
}

fn quoted(text: &str) -> Read<(Word, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Word::Text(out), &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, escaped)) => out.push(escaped),
                None => break,
            },
            c => out.push(c),
        }
    }
    Err("a text without closing quotation mark".to_owned())
}
