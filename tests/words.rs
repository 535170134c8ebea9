//! The prose of comments and documents, counted: openings with question words, and long sentences.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that promise a clause where a reader looks for the subject.
const OPENINGS: [&str; 13] = [
    "what", "whether", "how", "which", "where", "who", "whose", "that", "if", "so that", "because",
    "when", "why",
];

/// Words of a sentence at most.
const SENTENCE: usize = 30;

/// A comment or a paragraph, with the place where it begins.
struct Block {
    place: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Adds the files of a folder with one of the endings, without what is built or was frozen.
fn add_files(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().expect("UTF-8"));
        let is_left_out = ["target", "build", "generated", "compat"].contains(&name.as_str());
        if name.starts_with('.') || is_left_out {
            continue;
        }
        if path.is_dir() {
            add_files(&path, endings, files);
        } else if endings.iter().any(|end| name.ends_with(end)) {
            files.push(path);
        }
    }
}

fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut files = vec![];
    add_files(root(), endings, &mut files);
    files.sort();
    files
}

/// The documentation comments of a source: runs of `///` or `//!`.
fn comments(file: &str, source: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let mut open = false;
    for (number, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        match text.filter(|text| !text.starts_with('/')) {
            Some(text) if open => {
                let block = blocks.last_mut().expect("an open block");
                block.text.push('\n');
                block.text.push_str(text.trim());
            }
            Some(text) => {
                let place = format!("{file}:{}", number + 1);
                blocks.push(Block { place, text: text.trim().to_owned() });
                open = true;
            }
            None => open = false,
        }
    }
    blocks
}

/// Headings and paragraphs of a Markdown text, without tables and blocks of code.
fn paragraphs(file: &str, source: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let (mut open, mut in_code) = (false, false);
    for (number, line) in source.lines().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            (open, in_code) = (false, !in_code);
        } else if in_code || text.is_empty() || text.starts_with(['|', '<']) {
            open = false;
        } else if open && !text.starts_with(['#', '-', '*']) {
            let block = blocks.last_mut().expect("an open block");
            block.text.push(' ');
            block.text.push_str(text);
        } else {
            let place = format!("{file}:{}", number + 1);
            let text = text.trim_start_matches(['#', '-', '*', ' ']);
            blocks.push(Block { place, text: text.to_owned() });
            open = !line.starts_with('#');
        }
    }
    blocks
}

fn opens_with_question(text: &str) -> bool {
    let text = text.to_lowercase();
    OPENINGS.iter().any(|word| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })
}

/// The sentences of a text with more words than [`SENTENCE`]. A span of code is one word.
fn long_sentences(text: &str) -> Vec<String> {
    let prose: Vec<_> = text.split("```").step_by(2).collect();
    let spans: Vec<_> = prose.join(" ").split('`').map(str::to_owned).collect();
    let words = spans
        .iter()
        .enumerate()
        .flat_map(|(at, span)| if at % 2 == 1 { vec!["X".to_owned()] } else { words(span) });
    let mut sentences = vec![vec![]];
    for word in words {
        let is_end = word.ends_with(['.', '!', '?', ':', ';']);
        sentences.last_mut().expect("a sentence").push(word);
        if is_end {
            sentences.push(vec![]);
        }
    }
    let long = sentences.into_iter().filter(|sentence| sentence.len() > SENTENCE);
    long.map(|sentence| sentence.join(" ")).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Fails if more than `limit` per mille of the blocks are `found`.
fn check(kind: &str, count: usize, found: &[String], limit: usize) {
    let share = found.len() * 1000 / count.max(1);
    assert!(
        share <= limit,
        "{} of {count} {kind}, more than {limit} in a thousand:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn blocks_of(endings: &[&str], split: fn(&str, &str) -> Vec<Block>) -> Vec<Block> {
    let split_file = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("a path of the root").display().to_string();
        split(&name, &fs::read_to_string(&path).expect("a text file"))
    };
    files(endings).into_iter().flat_map(split_file).collect()
}

fn openings(blocks: &[Block]) -> Vec<String> {
    let opening = blocks.iter().filter(|block| opens_with_question(&block.text));
    opening.map(|block| format!("{}: {}", block.place, block.text.replace('\n', " "))).collect()
}

fn too_long(blocks: &[Block]) -> Vec<String> {
    let long = |block: &Block| {
        let place = block.place.clone();
        long_sentences(&block.text).into_iter().map(move |text| format!("{place}: {text}"))
    };
    blocks.iter().flat_map(long).collect()
}

#[test]
fn comments_open_with_their_subject() {
    let blocks = blocks_of(&[".rs"], comments);
    assert!(blocks.len() > 10_000, "{} comments", blocks.len());
    check("comments open with a question word", blocks.len(), &openings(&blocks), 5);
    check("comments have a long sentence", blocks.len(), &too_long(&blocks), 5);
}

#[test]
fn documents_open_with_their_subject() {
    let blocks = blocks_of(&[".md"], paragraphs);
    assert!(blocks.len() > 1_000, "{} paragraphs", blocks.len());
    check("paragraphs open with a question word", blocks.len(), &openings(&blocks), 20);
    check("paragraphs have a long sentence", blocks.len(), &too_long(&blocks), 50);
}

#[test]
fn counting_sees_what_it_counts() {
    let source =
        "/// Whether x is.\nfn a() {}\n//! The whole,\n//! of two lines.\n//// no\n/// Howl.\n";
    let blocks = comments("a.rs", source);
    let places: Vec<_> = blocks.iter().map(|block| block.place.as_str()).collect();
    assert_eq!(places, ["a.rs:1", "a.rs:3", "a.rs:6"]);
    assert_eq!(blocks[1].text, "The whole,\nof two lines.");
    assert_eq!(openings(&blocks), ["a.rs:1: Whether x is."]);

    let text = "# How to\n\nWhat it is\nand more\n- if so\n\n```sh\nwhat\n```\n| where |\n";
    let blocks = paragraphs("a.md", text);
    assert_eq!(
        openings(&blocks),
        ["a.md:1: How to", "a.md:3: What it is and more", "a.md:5: if so"]
    );

    let longest = vec!["word"; SENTENCE].join(" ");
    assert!(long_sentences(&longest).is_empty());
    assert_eq!(long_sentences(&format!("{longest}. {longest} `code of many words`.")).len(), 1);
}
