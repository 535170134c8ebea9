//! The input of the language server, message by message.

use super::documents::{self, MAX_MESSAGE};
use serde_json::Value;
use std::{
    ffi::OsString,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

/// Bytes of a line of a header.
const MAX_HEADER: u64 = 1 << 12;

/// Framing of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A header with the length before each.
    Headers,
    /// Lines `// -----` between them, for tests.
    Lines,
}

impl Style {
    /// Reads the framing off the server's arguments.
    pub fn of(arguments: &[OsString]) -> Self {
        let words: Vec<_> = arguments.iter().map(|text| text.to_string_lossy()).collect();
        let is_lines = words.iter().enumerate().any(|(index, word)| {
            match word.trim_start_matches('-').split_once('=') {
                Some((name, value)) => name == "input-style" && value == "delimited",
                None => match word.trim_start_matches('-') {
                    "lit-test" => true,
                    "input-style" => words.get(index + 1).is_some_and(|next| next == "delimited"),
                    _ => false,
                },
            }
        });
        if is_lines { Self::Lines } else { Self::Headers }
    }
}

/// Puts a pipe in the place of standard input, which gets what is read there as the server can stand
/// it.
pub fn check_input(style: Style) -> io::Result<()> {
    let mut ends = [0; 2];
    // SAFETY: the calls take descriptors that are open and own what they return; whoever reads
    // standard input from here on reads the pipe.
    let (input, output) = unsafe {
        let input = libc::dup(libc::STDIN_FILENO);
        if input < 0 || libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        let [from, to] = ends.map(|end| OwnedFd::from_raw_fd(end));
        if libc::dup2(from.as_raw_fd(), libc::STDIN_FILENO) < 0 {
            return Err(io::Error::last_os_error());
        }
        (File::from_raw_fd(input), File::from(to))
    };
    // It ends with the process, or with the input.
    std::thread::Builder::new()
        .name("messages".to_owned())
        .spawn(move || drop(pass_on(style, BufReader::new(input), output)))
        .map(drop)
}

/// Passes messages on until there are no more, or nobody reads them.
fn pass_on(style: Style, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    loop {
        let message = match style {
            Style::Headers => with_header(&mut input)?,
            Style::Lines => until_line(&mut input)?,
        };
        let Some(message) = message else { return Ok(()) };
        let message = match message {
            Message::Whole(message) => documents::checked(&message),
            Message::TooLong => {
                let reason = format!("the message is longer than {MAX_MESSAGE} bytes");
                documents::refused(Value::Null, &reason).to_string().into_bytes()
            }
        };
        match style {
            Style::Headers => write!(output, "Content-Length: {}\r\n\r\n", message.len())?,
            Style::Lines => {}
        }
        output.write_all(&message)?;
        if style == Style::Lines {
            output.write_all(b"\n// -----\n")?;
        }
        output.flush()?;
    }
}

/// A message as it was read.
#[derive(Debug, PartialEq)]
enum Message {
    Whole(Vec<u8>),
    TooLong,
}

/// The next message with a header; none at the end. Headers without a length have no message.
fn with_header(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut length = 0_u64;
    loop {
        let mut line = vec![];
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_ascii();
        if let Some(number) = line.strip_prefix(b"Content-Length:") {
            let number = str::from_utf8(number.trim_ascii()).unwrap_or_default();
            length = number.parse().unwrap_or(0);
        } else if line.is_empty() && length > 0 {
            break;
        }
    }
    let mut content = input.take(length);
    if length > MAX_MESSAGE as u64 {
        io::copy(&mut content, &mut io::sink())?;
        return Ok(Some(Message::TooLong));
    }
    let mut message = vec![];
    content.read_to_end(&mut message)?;
    let is_whole = message.len() as u64 == length;
    Ok(is_whole.then_some(Message::Whole(message)))
}

/// The next message before a line `// -----`, or before the end; none if there is nothing more.
fn until_line(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let (mut message, mut line) = (vec![], vec![]);
    while input.read_until(b'\n', &mut line)? > 0 {
        let is_end = line.trim_ascii() == b"// -----";
        if is_end && !message.trim_ascii().is_empty() {
            break;
        }
        if !line.trim_ascii_start().starts_with(b"//") {
            message.extend_from_slice(&line);
        }
        line.clear();
    }
    Ok(match message.trim_ascii().len() {
        0 => None,
        length if length > MAX_MESSAGE => Some(Message::TooLong),
        _ => Some(Message::Whole(message)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed_on(style: Style, input: &str) -> String {
        let mut output = vec![];
        pass_on(style, input.as_bytes(), &mut output).expect("is written");
        String::from_utf8(output).expect("is text")
    }

    const SHUTDOWN: &str = r#"{"id":1,"jsonrpc":"2.0","method":"shutdown"}"#;

    #[test]
    fn the_style_is_an_argument() {
        let style = |words: &[&str]| {
            Style::of(&words.iter().map(|word| OsString::from(*word)).collect::<Vec<_>>())
        };
        for words in [&["lsp"][..], &["lsp", "--input-style=standard"], &["lsp", "--pretty"]] {
            assert_eq!(style(words), Style::Headers);
        }
        for words in [
            &["lsp", "-lit-test"][..],
            &["l", "--input-style=delimited"],
            &["l", "-input-style", "delimited"],
        ] {
            assert_eq!(style(words), Style::Lines);
        }
    }

    #[test]
    fn messages_have_right_headers() {
        let wanted = format!("Content-Length: {}\r\n\r\n{SHUTDOWN}", SHUTDOWN.len());
        let given =
            format!("Content-Type: x\r\nContent-Length: {}\r\n\r\n{SHUTDOWN}", SHUTDOWN.len());
        assert_eq!(passed_on(Style::Headers, &given), wanted);
        // Headers without a length are passed over, and what is cut short is not passed on.
        assert_eq!(passed_on(Style::Headers, &format!("\r\n\r\nx: y\r\n\r\n{given}")), wanted);
        assert_eq!(passed_on(Style::Headers, "Content-Length: 5\r\n\r\n{}"), "");
        assert_eq!(passed_on(Style::Headers, "Content-Length: -1\r\n\r\n"), "");
        let long = passed_on(Style::Headers, "Content-Length: 99999999999\r\n\r\n{}");
        assert!(long.contains("longer than"), "{long}");
    }

    #[test]
    fn messages_of_tests_end_at_lines() {
        let given = format!("// RUN: x\n{SHUTDOWN}\n// -----\n// -----\n{SHUTDOWN}");
        let wanted = format!("{SHUTDOWN}\n// -----\n").repeat(2);
        assert_eq!(passed_on(Style::Lines, &given), wanted);
    }
}
