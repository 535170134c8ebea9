//! The C API in `dialects/capi`, and what of it needs no IR as functions that are safe.

use std::ffi::c_void;

pub use raw::*;

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

/// A function that calls another with each name of a kind.
type Each =
    unsafe extern "C" fn(mlir_sys::MlirStringRef, mlir_sys::MlirStringCallback, *mut c_void);

/// The CPUs of a triple that LLVM knows.
pub fn cpus(triple: &str) -> Vec<String> {
    // SAFETY: a function of this type.
    unsafe { names(triple, raw::phlForEachCpu) }
}

/// The CPU features of a triple that LLVM knows.
pub fn cpu_features(triple: &str) -> Vec<String> {
    // SAFETY: a function of this type.
    unsafe { names(triple, raw::phlForEachCpuFeature) }
}

/// # Safety
/// `each` gives live strings to what it is given, during its call, and keeps nothing.
unsafe fn names(triple: &str, each: Each) -> Vec<String> {
    unsafe extern "C" fn push(name: mlir_sys::MlirStringRef, user: *mut c_void) {
        // SAFETY: `user` is the list below, and the name is live; an empty one may have no address.
        unsafe {
            let bytes = match name.length {
                0 => &[][..],
                length => std::slice::from_raw_parts(name.data.cast::<u8>(), length),
            };
            (*user.cast::<Vec<String>>()).push(String::from_utf8_lossy(bytes).into_owned());
        }
    }
    let mut found: Vec<String> = vec![];
    let triple = melior::StringRef::new(triple);
    // SAFETY: the triple and the list outlive the call.
    unsafe { each(triple.to_raw(), Some(push), (&raw mut found).cast()) };
    found
}

/// True if the code of a machine, given by triple, CPU and features, may use a CPU feature.
pub fn cpu_has_feature(machine: [&str; 3], feature: &str) -> bool {
    let [triple, cpu, features] = machine.map(melior::StringRef::new);
    let feature = melior::StringRef::new(feature);
    // SAFETY: the strings outlive the call.
    unsafe {
        raw::phlCpuHasFeature(triple.to_raw(), cpu.to_raw(), features.to_raw(), feature.to_raw())
    }
}
