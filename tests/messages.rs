//! Messages of the program: `tests/messages/*.txt` are tables of command lines that fail, with the
//! text of each failure. All run in one process, each table in a folder of its own:
//!
//! ```text
//! A line of prose.
//! --- net.mlir                      a file, up to the line ---
//! $ cp -r $ROOT/targets/vanilla .   a command of the shell, which succeeds
//! $ phaseline compile net.mlir      a command line, which fails with the lines that follow
//! | error: ...
//! ```
//!
//! `[..]` stands for any text of a line. `PHASELINE_BLESS=1 cargo test --test all messages::` writes
//! into the tables what differs from them.
//!
//! A command line fails with code 1 and one error, prints nothing to standard output, and leaves the
//! files of its folder as they were.

#![allow(clippy::disallowed_methods, reason = "a test is told by the environment to bless")]

use crate::alone;
use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Seek, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::SystemTime,
};

/// A part of a table, with the number of its first line.
#[derive(Debug, PartialEq)]
enum Item<'t> {
    Prose,
    File { name: &'t str, text: String },
    Shell { line: usize, command: &'t str },
    Fails { line: usize, command: &'t str, message: Vec<&'t str> },
}

/// The parts of a table, each with its lines as they stand.
fn parse(table: &str) -> Vec<(Item<'_>, String)> {
    let mut lines = table.lines().enumerate().peekable();
    let mut items = vec![];
    while let Some((number, line)) = lines.next() {
        let mut own = format!("{line}\n");
        let item = if let Some(name) = line.strip_prefix("--- ") {
            let mut text = String::new();
            for (_, line) in lines.by_ref() {
                own += &format!("{line}\n");
                if line == "---" {
                    break;
                }
                text += &format!("{line}\n");
            }
            Item::File { name, text }
        } else if line.starts_with("$ phaseline ") {
            let mut message = vec![];
            while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with('|')) {
                own += &format!("{line}\n");
                message.push(line.strip_prefix("| ").unwrap_or(&line[1..]));
            }
            Item::Fails { line: number + 1, command: &line[2..], message }
        } else if let Some(command) = line.strip_prefix("$ ") {
            Item::Shell { line: number + 1, command }
        } else {
            assert!(!line.starts_with('|'), "line {}: belongs to no command line", number + 1);
            Item::Prose
        };
        items.push((item, own));
    }
    items
}

/// The words of a command line; quotes of either kind hold spaces.
fn words(command: &str) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (vec![], None::<String>, None);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take().map(OsString::from)),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "{command}: a quote is open");
    words.extend(word.map(OsString::from));
    words
}

/// True if a line is as expected, where `[..]` stands for any text.
fn fits(expected: &str, line: &str) -> bool {
    let Some((start, expected)) = expected.split_once("[..]") else { return expected == line };
    let Some(mut rest) = line.strip_prefix(start) else { return false };
    let (middle, end) = expected.rsplit_once("[..]").unwrap_or(("", expected));
    for part in middle.split("[..]") {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

/// The files below a folder, with what tells that they have changed.
fn listing(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, facts) = (entry.path(), entry.metadata().expect("a file"));
        if facts.is_dir() {
            found.extend(listing(&path));
        }
        found.insert(path, (facts.len(), facts.modified().expect("Linux has it")));
    }
    found
}

/// A standard stream that goes to a file for as long as this lives.
struct Capture {
    stream: i32,
    saved: i32,
    file: File,
}

impl Capture {
    fn new(stream: i32) -> Self {
        let file = tempfile::tempfile().expect("a file");
        // SAFETY: both descriptors are open; this process runs nothing else that writes to the stream.
        let saved = unsafe { libc::dup(stream) };
        // SAFETY: as above.
        let code = unsafe { libc::dup2(file.as_raw_fd(), stream) };
        assert!(saved >= 0 && code >= 0, "{}", io::Error::last_os_error());
        Self { stream, saved, file }
    }

    /// The text since the start.
    fn text(mut self) -> String {
        let mut text = String::new();
        self.file.rewind().expect("is a file");
        self.file.read_to_string(&mut text).expect("UTF-8");
        text
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        // SAFETY: the saved descriptor is open, and closed once.
        unsafe {
            libc::dup2(self.saved, self.stream);
            libc::close(self.saved);
        }
    }
}

/// The text of a command line on standard error, and the fault in the way that it fails.
fn run(command: &str, folder: &Path) -> (String, Option<String>) {
    let before = listing(folder);
    let (output, errors) = (Capture::new(1), Capture::new(2));
    let code = phaseline::cli::run_line(words(command).into_iter());
    let (errors, output) = (errors.text(), output.text());
    let mut fault = None;
    if code != ExitCode::FAILURE {
        fault = Some(format!("ends with {code:?}"));
    } else if !output.is_empty() {
        fault = Some(format!("prints to standard output: {output}"));
    } else if errors.lines().filter(|line| line.starts_with("error: ")).count() != 1 {
        fault = Some(format!("is not one error: {errors}"));
    } else if listing(folder) != before {
        fault = Some("changes files of its folder".to_owned());
    }
    let folder = folder.to_str().expect("UTF-8");
    (errors.replace(folder, "$PWD").replace(root(), "$ROOT"), fault)
}

fn root() -> &'static str {
    env!("CARGO_MANIFEST_DIR")
}

fn shell(command: &str) -> Result<(), String> {
    let inputs = format!("{}/tests/lit/cli/Inputs", root());
    let python = format!("{}/.venv/bin/python", root());
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", command]);
    bash.envs([("ROOT", root()), ("INPUTS", &inputs), ("PYTHON", &python)]);
    let output = bash.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{}: {text}", output.status)) }
}

/// Runs a table. The faults, and the table as it is to be.
fn check(path: &Path) -> (Vec<String>, String) {
    let table = fs::read_to_string(path).expect("UTF-8");
    let folder = tempfile::tempdir().expect("a folder");
    env::set_current_dir(folder.path()).expect("is there");
    let (mut faults, mut blessed) = (vec![], String::new());
    let name = path.file_name().expect("is a file").to_string_lossy();
    for (item, own) in parse(&table) {
        match item {
            Item::Prose => {}
            Item::File { name, text } => {
                let file = folder.path().join(name);
                fs::create_dir_all(file.parent().expect("is in a folder")).expect("is writable");
                fs::write(file, text).expect("is writable");
            }
            Item::Shell { line, command } => {
                if let Err(fault) = shell(command) {
                    faults.push(format!("{name}:{line}: {command}\n{fault}"));
                }
            }
            Item::Fails { line, command, message } => {
                let (text, fault) = run(command, folder.path());
                faults.extend(fault.map(|fault| format!("{name}:{line}: {command}\n{fault}")));
                let lines: Vec<_> = text.lines().map(str::trim_end).collect();
                let fit = message.len() == lines.len()
                    && message.iter().zip(&lines).all(|(expected, line)| fits(expected, line));
                if !fit {
                    let expected = message.join("\n");
                    faults.push(format!("{name}:{line}: {command}\n{text}expected:\n{expected}"));
                    blessed += &format!("$ {command}\n");
                    for (at, line) in lines.iter().enumerate() {
                        let kept = message.get(at).filter(|expected| fits(expected, line));
                        blessed += format!("| {}", kept.unwrap_or(line)).trim_end();
                        blessed += "\n";
                    }
                    continue;
                }
            }
        }
        blessed += &own;
    }
    (faults, blessed)
}

/// The tables, each with the number of its command lines that fail.
fn tables() -> Vec<(PathBuf, usize)> {
    let folder = Path::new(root()).join("tests/messages");
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let count = |path: &Path| {
        let table = fs::read_to_string(path).expect("UTF-8");
        parse(&table).iter().filter(|(item, _)| matches!(item, Item::Fails { .. })).count()
    };
    paths.into_iter().map(|path| (path.clone(), count(&path))).collect()
}

#[test]
fn command_lines_fail_with_the_messages_of_the_tables() {
    let tables = tables();
    let empty: Vec<_> = tables.iter().filter(|(_, count)| *count == 0).collect();
    assert!(tables.len() >= 5 && empty.is_empty(), "{} tables, empty: {empty:?}", tables.len());
    alone::run("messages::tables_fit");
}

#[test]
#[ignore = "changes the folder and the streams of its process; runs in one of its own"]
fn tables_fit() {
    let bless = env::var("PHASELINE_BLESS").is_ok_and(|value| value == "1");
    let mut all = vec![];
    for (path, _) in tables() {
        let (faults, blessed) = check(&path);
        if bless {
            fs::write(path, blessed).expect("is writable");
        }
        all.extend(faults);
    }
    env::set_current_dir(root()).expect("is there");
    let hint = "PHASELINE_BLESS=1 cargo test --test all messages:: writes what is said now";
    assert!(bless || all.is_empty(), "{}\n{hint}", all.join("\n\n"));
}

#[test]
fn tables_are_read_as_they_are_written() {
    let table = "Prose.\n--- a/b\nx\n---\n$ cp a b\n$ phaseline run 'a b'\n| error: c\n|\n| d\n\n";
    let items: Vec<_> = parse(table).into_iter().map(|(item, _)| item).collect();
    assert_eq!(
        items,
        [
            Item::Prose,
            Item::File { name: "a/b", text: "x\n".to_owned() },
            Item::Shell { line: 5, command: "cp a b" },
            Item::Fails {
                line: 6,
                command: "phaseline run 'a b'",
                message: vec!["error: c", "", "d"]
            },
            Item::Prose,
        ]
    );
    let again: String = parse(table).into_iter().map(|(_, own)| own).collect();
    assert_eq!(again, table);
    assert_eq!(words("a 'b \"c' \"\" d=\"e f\""), ["a", "b \"c", "", "d=e f"]);
    assert!(fits("a[..]d", "abcd") && fits("[..]", "") && fits("a[..]b[..]c", "a.b.b.c"));
    assert!(!fits("a", "ab") && !fits("a[..]c", "ab") && !fits("ab[..]b", "ab"));
}
