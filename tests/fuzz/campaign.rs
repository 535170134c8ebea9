//! Runs cases from seeds and keeps what ended badly.

use crate::{judge::Case, random::Random};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Kinds of input, which share the time.
const KINDS: u64 = 11;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A number in the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries cases that `make` makes: `count` of them, or, with `PHASELINE_FUZZ_SECONDS`, for the
/// kind's share of that time. Every eighth is run twice and has to give the same.
///
/// # Panics
/// If one ended badly. The message has a command for each that repeats it.
pub fn campaign(kind: &str, count: u64, make: impl Fn(&mut Random) -> Case) {
    let first = setting("PHASELINE_FUZZ_SEED").unwrap_or(0);
    let time = setting("PHASELINE_FUZZ_SECONDS").map(|all| Duration::from_secs(all / KINDS));
    let start = Instant::now();
    let mut bad = vec![];
    let (mut tried, mut accepted) = (0, 0);
    while time.map_or(tried < count, |time| start.elapsed() < time) {
        let seed = first + tried;
        let spread = kind.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
        let case = make(&mut Random::new(spread));
        let judged = case.judge(tried % 8 == 7);
        accepted += u64::from(judged == Ok(true));
        if let Err(how) = judged {
            let folder = keep(kind, seed, &case, &how);
            let how: String = how.chars().take(600).collect();
            bad.push(format!(
                "seed {seed}: {how}\n  cd {} && {}",
                folder.display(),
                case.command()
            ));
            println!("{kind}: {}", bad.last().expect("one"));
        }
        tried += 1;
    }
    let seconds = start.elapsed().as_secs();
    println!(
        "{kind}: {tried} inputs from seed {first} in {seconds} s, {accepted} accepted, {} findings",
        bad.len()
    );
    assert!(bad.is_empty(), "{kind}: {} findings\n{}", bad.len(), bad.join("\n"));
}

/// Keeps the files of a finding in `build/fuzz`.
fn keep(kind: &str, seed: u64, case: &Case, how: &str) -> PathBuf {
    let folder = root().join("build/fuzz").join(format!("{kind}-{seed}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("creates a folder");
    case.write(&folder);
    fs::write(folder.join("COMMAND"), format!("{}\n\n{how}\n", case.command())).expect("writes");
    folder
}

/// The files below a folder whose name ends so, of at most `limit` bytes, sorted.
pub fn corpus(folder: &str, end: &str, limit: u64) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut open = vec![root().join(folder)];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(data) = fs::metadata(&path) else { continue };
            if data.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(end) && data.len() <= limit {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {end} in {folder}; `make data` makes build/test-data");
    found
}
