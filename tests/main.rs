//! The tests of the library and of the program, one module for each subject; `cargo test --test all MODULE::`
//! runs those of a module.

mod alone;
mod architecture;
mod backend;
mod check_targets;
mod constants;
mod cross;
mod examples;
mod gathers;
mod integers;
mod kernels;
mod libraries;
mod maxima;
mod messages;
mod numerics;
mod onnx;
mod package;
mod patches;
mod quantized;
mod runtime;
mod safe_code;
mod scatters;
mod session;
mod spans;
mod strict;
mod sums;
mod transposes;
mod upstream;
mod vanilla;
mod views;
mod words;
