//! The C API in `capi/`.

/// Declarations that bindgen made.
#[allow(
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::allow_attributes_without_reason,
    unsafe_op_in_unsafe_fn,
    reason = "generated from C headers, whose comments are the documentation"
)]
mod raw {
    include!(concat!(env!("OUT_DIR"), "/capi.rs"));
}

pub use raw::*;
