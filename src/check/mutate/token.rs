//! C as tokens: as much of the language as it takes to plant defects in it.

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A text or a character.
    Text,
    /// An operator or a bracket.
    Mark,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// The byte that it begins at.
    pub start: usize,
    /// True where comments exclude defects.
    pub is_left_out: bool,
}

impl Token<'_> {
    /// The byte behind it.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// True if it can end an operand, so that an operator behind it is binary.
    pub fn ends_operand(&self) -> bool {
        match self.kind {
            Kind::Word => !["return", "case", "else", "sizeof"].contains(&self.text),
            Kind::Number | Kind::Text => true,
            Kind::Mark => self.text == ")" || self.text == "]",
        }
    }
}

/// Operators of more than one character, the longest first.
const LONG: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// A comment with this leaves out what follows, until one with [`GO_ON`].
const LEAVE_OUT: &str = "check-target: no defects";
const GO_ON: &str = "check-target: defects";

/// The tokens of a text, without comments and without lines of the preprocessor.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut all = vec![];
    let (mut at, mut is_left_out, mut line_begins) = (0, false, true);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if c == '\n' {
            line_begins = true;
            at += 1;
            continue;
        } else if c.is_whitespace() {
            c.len_utf8()
        } else if let Some(length) = comment(rest) {
            let said = &rest[..length];
            is_left_out = said.contains(LEAVE_OUT) || is_left_out && !said.contains(GO_ON);
            length
        } else if c == '#' && line_begins {
            directive(rest)
        } else {
            let (kind, length) = token(rest, c);
            all.push(Token { kind, text: &rest[..length], start: at, is_left_out });
            line_begins = false;
            length
        };
        at += length;
    }
    all
}

/// The length of the comment at the start.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("/*") {
        return Some(text.find("*/").map_or(text.len(), |end| end + 2));
    }
    text.starts_with("//").then(|| text.find('\n').unwrap_or(text.len()))
}

/// The length of a line of the preprocessor, with those that continue it.
fn directive(text: &str) -> usize {
    let mut from = 0;
    while let Some(end) = text[from..].find('\n') {
        if !text[from..from + end].ends_with('\\') {
            return from + end;
        }
        from += end + 1;
    }
    text.len()
}

fn token(text: &str, c: char) -> (Kind, usize) {
    let until = |stop: &dyn Fn(char) -> bool| text.find(stop).unwrap_or(text.len());
    if c.is_alphabetic() || c == '_' {
        return (Kind::Word, until(&|c| !c.is_alphanumeric() && c != '_'));
    }
    let digit_follows = text[1.min(text.len())..].starts_with(|c: char| c.is_ascii_digit());
    if c.is_ascii_digit() || c == '.' && digit_follows {
        return (Kind::Number, number(text));
    }
    if c == '"' || c == '\'' {
        return (Kind::Text, quoted(text, c));
    }
    let long = LONG.iter().find(|mark| text.starts_with(**mark));
    (Kind::Mark, long.map_or(c.len_utf8(), |mark| mark.len()))
}

/// The length of a number: digits, letters, dots, and signs of exponents.
fn number(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    for (place, c) in text.char_indices() {
        let exponent = if is_hex { ['p', 'P'] } else { ['e', 'E'] };
        let is_sign = (c == '+' || c == '-') && exponent.contains(&before);
        if !c.is_alphanumeric() && c != '.' && c != '_' && !is_sign {
            return place;
        }
        before = c;
    }
    text.len()
}

/// The length of a text in quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        if !escaped && (c == quote || c == '\n') {
            return place + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn c_falls_into_tokens() {
        assert_eq!(texts("a<<=b->c+1.5e-3f;"), ["a", "<<=", "b", "->", "c", "+", "1.5e-3f", ";"]);
        assert_eq!(texts("x = \"a\\\"b\" '\\''"), ["x", "=", "\"a\\\"b\"", "'\\''"]);
        assert_eq!(texts("#define A \\\n 1\nb /* c */ d // e\nf"), ["b", "d", "f"]);
        assert_eq!(texts("0x1Fp-2+.5"), ["0x1Fp-2", "+", ".5"]);
        assert_eq!(texts("/* open"), Vec::<&str>::new());
        assert_eq!(texts("é + \"é"), ["é", "+", "\"é"]);
    }

    #[test]
    fn comments_leave_parts_out() {
        let text = "a; /* check-target: no defects */ b; /* check-target: defects */ c;";
        let left_out: Vec<_> =
            tokens(text).iter().filter(|t| t.is_left_out).map(|t| t.text).collect();
        assert_eq!(left_out, ["b", ";"]);
    }
}
