//! Mutations of text, word by word.

use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// The words of texts of one kind.
pub struct Dictionary {
    all: Vec<String>,
    /// Successors of each word.
    after: BTreeMap<String, Vec<String>>,
}

impl Dictionary {
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all = BTreeSet::new();
        let mut after: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for text in texts {
            let words: Vec<_> = words(text).into_iter().filter(|word| !is_blank(word)).collect();
            for pair in words.windows(2) {
                after.entry(pair[0].to_owned()).or_default().insert(pair[1].to_owned());
            }
            all.extend(words.into_iter().map(str::to_owned));
        }
        let list = |set: BTreeSet<String>| set.into_iter().collect();
        let after = after.into_iter().map(|(word, next)| (word, list(next))).collect();
        Self { all: list(all), after }
    }

    fn any(&self, random: &mut Random) -> String {
        random.pick(&self.all).clone()
    }

    /// A name that stands after `before` somewhere.
    fn fitting(&self, random: &mut Random, before: &str) -> String {
        let words = self.after.get(before).into_iter().flatten();
        let names: Vec<_> = words.filter(|word| is_name(word)).collect();
        if names.is_empty() { self.any(random) } else { (*random.pick(&names)).clone() }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn is_blank(word: &str) -> bool {
    word.trim().is_empty()
}

/// The words of a text: names, numbers, runs of blanks, and single other characters.
pub fn words(text: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Name,
        Number,
        Blank,
        Other,
    }
    let class = |c: char| match c {
        '0'..='9' => Class::Number,
        'a'..='z' | 'A'..='Z' | '_' | '.' => Class::Name,
        ' ' | '\n' | '\t' => Class::Blank,
        _ => Class::Other,
    };
    let mut found: Vec<&str> = vec![];
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        // Digits within a name belong to it, but not those of a shape such as 1x3x8.
        let goes_on = match (last, now) {
            (Some(Class::Other) | None, _) => false,
            (Some(Class::Name), Class::Number) => &text[start..at] != "x",
            (Some(before), now) => before == now,
        };
        if !goes_on && at > start {
            found.push(&text[start..at]);
            start = at;
        }
        if !goes_on {
            last = Some(now);
        }
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

/// A mutation, or three; `dictionary` has words of texts of the same kind, and `donor` is another
/// such text.
pub fn mutate(random: &mut Random, text: &str, dictionary: &Dictionary, donor: &str) -> Vec<u8> {
    let mut words: Vec<String> = words(text).into_iter().map(str::to_owned).collect();
    for _ in 0..=random.below(3) / 2 * 2 {
        // A word that is not blank, since blanks mean little.
        let mut at = random.below(words.len());
        while words.get(at).is_some_and(|word| is_blank(word)) {
            at += 1;
        }
        if at >= words.len() {
            words.push(dictionary.any(random));
        } else if random.chance(75) {
            replace(random, &mut words, at, dictionary);
        } else {
            rearrange(random, &mut words, at, dictionary, donor);
        }
    }
    let text = words.concat().into_bytes();
    if random.chance(6) { random.noise(&text) } else { text }
}

/// Replaces a word by one of its kind, sometimes wherever it stands.
fn replace(random: &mut Random, words: &mut [String], at: usize, dictionary: &Dictionary) {
    // Another sign than the one that stands somewhere is hardly ever right.
    let has_kind = |word: &String| is_name(word) || word.parse::<i64>().is_ok();
    let Some(at) = (at..words.len()).find(|at| has_kind(&words[*at])) else { return };
    let before = words[..at].iter().rev().find(|word| !is_blank(word)).cloned();
    let old = words[at].clone();
    let new = match old.parse::<i64>() {
        Ok(number) if random.chance(90) => random.number(number).to_string(),
        _ => dictionary.fitting(random, &before.unwrap_or_default()),
    };
    if random.chance(40) && old.chars().all(char::is_alphanumeric) {
        words.iter_mut().filter(|word| **word == old).for_each(|word| word.clone_from(&new));
    } else {
        words[at] = new;
    }
}

/// Deletes, repeats, moves or inserts words.
fn rearrange(
    random: &mut Random,
    words: &mut Vec<String>,
    at: usize,
    dictionary: &Dictionary,
    donor: &str,
) {
    let other = random.below(words.len());
    let end = (at + 1 + random.below(12)).min(words.len());
    match random.below(9) {
        0 => drop(words.remove(at)),
        1 => drop(words.drain(at..end)),
        2 => words.insert(other, words[at].clone()),
        3 => {
            let part = words[at..end].to_vec();
            words.splice(other..other, part);
        }
        4 => words.swap(at, other),
        5 if random.chance(20) => {
            let times = *random.pick(&[2, 20, 300, 3000]);
            words[at] = words[at..end].concat().repeat(times);
        }
        6 => words.insert(at, dictionary.any(random)),
        7 => {
            let lines: Vec<_> = donor.lines().collect();
            let line = if lines.is_empty() { "" } else { *random.pick(&lines) };
            // Where a line starts, so that it can be one.
            let start = (at..words.len()).find(|at| words[*at].contains('\n')).map_or(0, |n| n + 1);
            words.insert(start, format!("{line}\n"));
        }
        _ => words[at] = dictionary.any(random),
    }
}
