//! Arguments that say how much working memory a network may take.

use clap::Args;

/// Options for less working memory.
#[derive(Args, Clone, Debug)]
pub struct MemoryArgs {
    /// Compute stages of a convolutional network in patches, at most N, where that takes less
    /// memory [default without N: 16]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "16", value_parser = clap::value_parser!(i64).range(2..=1024),
        conflicts_with = "pipeline")]
    pub patches: Option<i64>,
    /// Compute in patches until the arena has no more than this, by estimate, and fail if it has
    /// more in the end
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, conflicts_with = "pipeline")]
    pub arena_limit: Option<u64>,
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let bytes = crate::targets::parse_size(text).and_then(|bytes| u64::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "expected a size such as 32768 or 32k".to_owned())
}
