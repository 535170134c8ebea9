//! Tests of a compiler in Rust: round trips of operations, and diagnostics that a file expects.

mod expected;
mod round_trips;

pub use expected::expected_diagnostics;
pub use round_trips::RoundTrips;
