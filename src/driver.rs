//! The main functions of the MLIR tools, which upstream provides.

use crate::{ffi, passes};
use std::{
    ffi::{CString, OsString, c_char, c_int},
    process::ExitCode,
};

type ToolMain = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

/// Runs the pass driver with a process's arguments.
pub fn opt_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    passes::register_all();
    call(arguments, ffi::phlOptMain)
}

/// Runs the language server with a process's arguments.
pub fn lsp_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    call(arguments, ffi::phlLspMain)
}

fn call(arguments: impl Iterator<Item = OsString>, main: ToolMain) -> ExitCode {
    let owned: Vec<CString> = arguments
        .map(|argument| CString::new(argument.into_encoded_bytes()).unwrap_or_default())
        .collect();
    let mut pointers: Vec<_> = owned.iter().map(|text| text.as_ptr().cast_mut()).collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    pointers.push(std::ptr::null_mut());
    // A reader that has gone ends them quietly, as it ends other tools of LLVM; Rust ignores the
    // signal, and LLVM would abort.
    // SAFETY: the default action replaces an ignored one before there are other threads.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    // SAFETY: `pointers` is a NULL-terminated argv of live strings, which the tools only read.
    let code = unsafe { main(count, pointers.as_mut_ptr()) };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
