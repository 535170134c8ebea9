//! Diagnostics that a file expects, in the syntax of `mlir-opt --verify-diagnostics`.

use crate::{Diagnostic, Error, Result, Toolkit};
use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// The line between two inputs of a file.
const SPLIT: &str = "// -----";

/// Runs a pipeline on each input of a file (between lines `// -----`), and compares the diagnostics with those that the file
/// expects: `expected-error {{text}}` on their line, `@+1`, `@-1`, `@above`, `@below` or `@12` beside the word, or `@unknown`;
/// `expected-warning`, `expected-remark` and `expected-note` likewise. The text is a part of a message. Without a pipeline
/// the inputs are parsed and verified.
///
/// ```
/// # use phaseline_toolkit::{Toolkit, testing::expected_diagnostics, upstream};
/// # fn main() -> phaseline_toolkit::Result<()> {
/// let toolkit = Toolkit::new("my tool").upstream([upstream::arith(), upstream::func()]);
/// let folder = std::env::temp_dir().join(format!("expected-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).expect("writes");
/// let file = folder.join("errors.mlir");
/// let text = "func.func @f(%x: i32) -> i64 {
///   // expected-error@+1 {{doesn't match function result type}}
///   return %x : i32
/// }";
/// # std::fs::write(&file, text).expect("writes");
/// expected_diagnostics(&toolkit, &file, None)?;
/// # std::fs::write(&file, text.replace("doesn't", "does")).expect("writes");
/// assert!(expected_diagnostics(&toolkit, &file, None).is_err());
/// # std::fs::remove_dir_all(folder).expect("removes");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A diagnostic is not expected, or one that is expected is missing: all of them are in the message, with their lines.
pub fn expected_diagnostics(toolkit: &Toolkit, file: &Path, pipeline: Option<&str>) -> Result<()> {
    let bytes = crate::io::read_regular(file).map_err(|e| Error::io("cannot read", file, e))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::invalid(format!("{} is not UTF-8", file.display())))?;
    let name = file.to_string_lossy();
    let mut wrong = vec![];
    let (mut first, mut input) = (1, String::new());
    for (number, line) in (1_usize..).zip(text.lines().chain([SPLIT])) {
        if line.trim_end() == SPLIT {
            let found = check(toolkit, (&name, first), &input, pipeline)?;
            wrong.extend(found.iter().map(|wrong| format!("{name}:{wrong}")));
            (first, input) = (number + 1, String::new());
        } else {
            input += line;
            input.push('\n');
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid(wrong.join("\n"))),
    }
}

/// A diagnostic or a note, wanted or said; line 0 is an unknown one.
struct Said {
    line: usize,
    kind: String,
    text: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.kind, self.text)
    }
}

/// Compares one input, whose first line is at `first` of its file.
fn check(
    toolkit: &Toolkit,
    (name, first): (&str, usize),
    input: &str,
    pipeline: Option<&str>,
) -> Result<Vec<String>> {
    let mut wanted = vec![];
    let lines: Vec<_> = input.lines().collect();
    for (number, line) in (1_usize..).zip(&lines) {
        read(line, (number, &lines), &mut wanted)
            .map_err(|what| Error::invalid(format!("{name}:{}: {what}", first + number - 1)))?;
    }
    let heard = Arc::new(Mutex::new(Vec::<Diagnostic>::new()));
    let session = toolkit.session();
    let kept = heard.clone();
    session.on_diagnostic(move |diagnostic| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic.clone());
    });
    let outcome = session.parse(input.as_bytes(), name).and_then(|mut module| match pipeline {
        Some(pipeline) => session.run_pipeline(&mut module, pipeline),
        None => Ok(()),
    });
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = vec![];
    if let Err(error) = &outcome
        && heard.is_empty()
    {
        // Text that is refused before MLIR sees it, and pipelines that are not valid.
        return Err(Error::invalid(error.to_string()));
    }
    let at = |line: usize| match line {
        0 => "unknown".to_owned(),
        line => (first + line - 1).to_string(),
    };
    for said in heard.iter().flat_map(lines_of) {
        let fits = |wanted: &Said| {
            wanted.line == said.line && wanted.kind == said.kind && said.text.contains(&wanted.text)
        };
        match wanted.iter().position(fits) {
            Some(index) => drop(wanted.remove(index)),
            None => wrong.push(format!("{}: unexpected {said}", at(said.line))),
        }
    }
    wrong.extend(wanted.iter().map(|one| format!("{}: expected {one} was not said", at(one.line))));
    Ok(wrong)
}

/// A diagnostic with its notes.
fn lines_of(diagnostic: &Diagnostic) -> Vec<Said> {
    let line = diagnostic.line as usize;
    let kind = diagnostic.severity.to_string();
    let mut all = vec![Said { line, kind, text: diagnostic.text.clone() }];
    all.extend(diagnostic.notes.iter().map(|note| {
        let mut from_end = note.place.rsplit(':').skip(1);
        let own = from_end.next().and_then(|text| text.parse().ok());
        let line = if note.place.is_empty() { line } else { own.unwrap_or(0) };
        Said { line, kind: "note".to_owned(), text: note.text.clone() }
    }));
    all
}

/// Reads what a line expects.
///
/// `@above` and `@below` are the nearest lines that expect nothing themselves.
fn read(
    line: &str,
    (number, lines): (usize, &[&str]),
    wanted: &mut Vec<Said>,
) -> std::result::Result<(), String> {
    let expects_nothing =
        |number: &usize| lines.get(number - 1).is_none_or(|line| !line.contains("expected-"));
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("expected-") {
        rest = after;
        let kinds = ["error", "warning", "remark", "note"];
        let Some(kind) = kinds.into_iter().find(|kind| after.starts_with(kind)) else { continue };
        let Some((place, text)) = after[kind.len()..].split_once("{{") else {
            return Err(format!("expected-{kind} without {{{{text}}}}"));
        };
        let (text, after) =
            text.split_once("}}").ok_or_else(|| format!("expected-{kind} without }}}}"))?;
        rest = after;
        let place = place.trim();
        let line = match place.strip_prefix('@') {
            None if place.is_empty() => number,
            Some("above") => (1..number).rev().find(expects_nothing).unwrap_or(0),
            Some("below") => (number + 1..).find(expects_nothing).unwrap_or(0),
            Some("unknown") => 0,
            Some(place) => match (place.strip_prefix('+'), place.strip_prefix('-')) {
                (Some(more), _) => number + whole(more, line)?,
                (_, Some(less)) => number.saturating_sub(whole(less, line)?),
                _ => whole(place, line)?,
            },
            None => {
                return Err(format!(
                    "expected-{kind}{place}: a place is @+1, @-1, @above, @below, @unknown or a line"
                ));
            }
        };
        wanted.push(Said { line, kind: kind.to_owned(), text: text.to_owned() });
    }
    Ok(())
}

fn whole(text: &str, line: &str) -> std::result::Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is no number of lines: {}", line.trim()))
}
