//! The main functions of the MLIR tools, which upstream provides, with what they read checked first:
//! their parsers end the program on some of it.

#[cfg(feature = "driver")]
mod compile;
mod documents;
mod messages;
mod reduce;

#[cfg(feature = "driver")]
pub use compile::{Compiler, compile_main};
pub use reduce::{is_asked, reduce_main};

use crate::{
    ffi,
    ir::{context::Statistic, nesting, print},
};
use melior::{StringRef, dialect::DialectRegistry};
use std::{
    ffi::{CString, OsString, c_char, c_int},
    ops::Range,
    process::ExitCode,
};

/// Runs the pass driver with a process's arguments; `title` is the first line of its help.
pub fn opt_main(title: &str, registry: &DialectRegistry, arguments: Vec<OsString>) -> ExitCode {
    // A pipeline that is nested too deep; LLVM says what else is wrong with arguments.
    let fault = arguments.iter().find_map(|text| {
        let (_, reason) = nesting::check_text(text.as_encoded_bytes()).err()?;
        Some(format!("an argument: {reason}"))
    });
    if let Some(fault) = fault {
        return refuse(&fault);
    }
    if let Some(fault) = plugin_fault(&arguments) {
        return refuse(&fault);
    }
    call(arguments, |count, arguments| {
        let title = StringRef::new(title);
        // SAFETY: an argv of live strings, and a function that keeps nothing of what it is given.
        unsafe { ffi::phlOptMain(count, arguments, title.to_raw(), registry.to_raw(), Some(check)) }
    })
}

/// A plugin that arguments name.
pub struct Named {
    /// The file.
    pub path: String,
    /// The arguments that name it, one or two.
    pub at: Range<usize>,
    /// It is asked for dialects, not for passes.
    of_dialects: bool,
}

/// The plugins that arguments name.
pub fn plugins(arguments: &[OsString]) -> Vec<Named> {
    let mut named = vec![];
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let begin = at;
        at += 1;
        let text = argument.to_string_lossy();
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (&*text, None),
        };
        let of_dialects = match option.trim_start_matches('-') {
            "load-dialect-plugin" if option.starts_with('-') => true,
            "load-pass-plugin" if option.starts_with('-') => false,
            _ => continue,
        };
        let next = || Some(arguments.get(begin + 1)?.to_string_lossy().into_owned());
        at += usize::from(value.is_none());
        if let Some(path) = value.or_else(next) {
            named.push(Named { path, at: begin..at, of_dialects });
        }
    }
    named
}

/// Faults of plugins in C++ that arguments name: MLIR goes on without those that it cannot load.
fn plugin_fault(arguments: &[OsString]) -> Option<String> {
    plugins(arguments).into_iter().find_map(|Named { path, of_dialects, .. }| {
        let reason = print::collect(|callback, user| {
            let path = StringRef::new(&path);
            // SAFETY: the text, the callback and its place outlive the call.
            unsafe { ffi::phlPluginLoads(path.to_raw(), of_dialects, callback, user) };
        });
        (!reason.is_empty()).then(|| {
            format!(
                "the plugin '{path}' cannot be loaded: {}\nA plugin is built with the headers of LLVM {}, and its host is linked \
                 with -rdynamic",
                String::from_utf8_lossy(&reason).trim(),
                env!("PHASELINE_LLVM_VERSION"),
            )
        })
    })
}

/// Runs the language server with a process's arguments.
pub fn lsp_main(_: &str, registry: &DialectRegistry, arguments: Vec<OsString>) -> ExitCode {
    if let Err(error) = messages::check_input(messages::Style::of(&arguments)) {
        return refuse(&format!("cannot read standard input: {error}"));
    }
    call(arguments, |count, arguments| {
        // SAFETY: an argv of live strings.
        unsafe { ffi::phlLspMain(count, arguments, registry.to_raw()) }
    })
}

/// Prints an error on standard error, for the main function of a program; gives the exit code of a failure.
pub fn report(error: &crate::Error) -> ExitCode {
    refuse(&error.to_string())
}

/// Prints what passes counted, in MLIR's form. Releases of LLVM have no statistics themselves.
pub fn print_statistics(statistics: &[Statistic]) {
    use std::io::Write;
    let mut pass = "";
    for one in statistics {
        if one.pass != pass {
            pass = one.pass;
            let _ = writeln!(std::io::stderr(), "{pass}");
        }
        let _ = writeln!(std::io::stderr(), "  (S) {} {} - {}", one.value, one.name, one.about);
    }
}

/// Ends a tool that has not begun.
fn refuse(fault: &str) -> ExitCode {
    use std::io::Write;
    // Nobody can be told that standard error is closed.
    let _ = writeln!(std::io::stderr(), "error: {fault}");
    ExitCode::FAILURE
}

/// Tells C++ whether a text may be parsed.
unsafe extern "C" fn check(
    text: mlir_sys::MlirStringRef,
    line: *mut usize,
    reason: *mut mlir_sys::MlirStringRef,
) -> bool {
    // SAFETY: the caller gives a live text and two places to write to.
    unsafe {
        let Err((at, what)) = nesting::check_parts(crate::ir::bytes(text)) else { return true };
        *line = at;
        *reason = mlir_sys::MlirStringRef { data: what.as_ptr().cast(), length: what.len() };
    }
    false
}

fn call(arguments: Vec<OsString>, main: impl FnOnce(c_int, *mut *mut c_char) -> c_int) -> ExitCode {
    let owned: Vec<CString> = arguments
        .into_iter()
        .map(|argument| CString::new(argument.into_encoded_bytes()).unwrap_or_default())
        .collect();
    let mut pointers: Vec<_> = owned.iter().map(|text| text.as_ptr().cast_mut()).collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    pointers.push(std::ptr::null_mut());
    // A reader that has gone ends them quietly, as it ends other tools of LLVM; Rust ignores the
    // signal, and LLVM would abort.
    // SAFETY: the default action replaces an ignored one; a thread that writes is ended with the rest.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    let code = main(count, pointers.as_mut_ptr());
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
