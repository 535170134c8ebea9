//! Values of the environment and conversions shared by commands.

#![allow(clippy::disallowed_methods, reason = "the only place that reads the environment")]

use crate::Cache;
use std::path::PathBuf;

/// Directories with targets as data: those given, then the environment's.
pub fn target_path(given: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = given.to_vec();
    if let Some(paths) = std::env::var_os("PHASELINE_TARGET_PATH") {
        all.extend(std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()));
    }
    all
}

/// The variable that says what is logged.
pub const LOG: &str = "PHASELINE_LOG";

/// Log levels of the environment.
pub fn log() -> Option<String> {
    std::env::var(LOG).ok().filter(|log| !log.trim().is_empty())
}

/// The cache of compiled models: that given, else the environment's.
pub fn cache(given: Option<&PathBuf>) -> Option<Cache> {
    let named = std::env::var_os("PHASELINE_CACHE").filter(|path| !path.is_empty());
    given.cloned().or_else(|| named.map(PathBuf::from)).map(Cache::new)
}

/// The C compiler that the environment names, else `cc`.
pub fn c_compiler() -> String {
    let named = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
    named.unwrap_or_else(|| "cc".to_owned())
}

/// Peak resident memory of this process in KiB; 0 where the system does not say.
pub fn peak_rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
