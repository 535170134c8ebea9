//! Registration of Rust passes in MLIR's pass registry.

use super::{OptionKind, OptionSpec, OptionValues, Pass, PassError, PassOp};
use crate::{
    ffi,
    ir::context::{panic_text, run_on},
};
use melior::ir::{Location, OperationRef, operation::OperationLike};
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

/// Names already given to MLIR, whose registry aborts the process on a second registration.
static REGISTERED: Mutex<BTreeMap<String, Registered>> = Mutex::new(BTreeMap::new());

/// A member of the registry.
enum Registered {
    Pass(&'static Pass),
    /// A pipeline of these passes.
    Pipeline(String),
}

/// Registers a pipeline, by a list of passes on `builtin.module`. Registering a name again is an error, unless it is the
/// same pipeline.
pub fn register_pipeline(name: &str, summary: &str, passes: &str) -> crate::Result<()> {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    match registered.get(name) {
        Some(Registered::Pipeline(known)) if known == passes => return Ok(()),
        Some(_) => return Err(taken(name)),
        None => {}
    }
    registered.insert(name.to_owned(), Registered::Pipeline(passes.to_owned()));
    let [name, summary, passes] = [name, summary, passes].map(melior::StringRef::new);
    // SAFETY: the strings outlive the call, which copies them.
    unsafe { ffi::phlRegisterPipeline(name.to_raw(), summary.to_raw(), passes.to_raw()) };
    Ok(())
}

fn taken(name: &str) -> crate::Error {
    crate::Error::invalid(format!(
        "a pass named '{name}' is registered already; choose another name"
    ))
}

/// Registers a pass in MLIR's registry, for the whole process. Registering a name again is an
/// error, unless it is the same pass.
pub fn register(pass: &'static Pass) -> crate::Result<()> {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    match registered.get(pass.name) {
        Some(Registered::Pass(other)) if is_same(pass, other) => return Ok(()),
        Some(_) => return Err(taken(pass.name)),
        None => {}
    }
    registered.insert(pass.name.to_owned(), Registered::Pass(pass));
    let options: Vec<_> = pass
        .options
        .iter()
        .map(|option| ffi::PhlOptionDesc {
            name: leak(&option.name.replace('_', "-")),
            description: leak(&help(option)),
            default_value: leak(option.default),
            choices: match option.kind {
                OptionKind::Choice(words) => {
                    words.iter().map(|word| leak(word)).collect::<Vec<_>>().leak().as_ptr()
                }
                _ => std::ptr::null(),
            },
            num_choices: match option.kind {
                OptionKind::Choice(words) => words.len(),
                _ => 0,
            },
            kind: match option.kind {
                OptionKind::Text | OptionKind::Choice(_) => ffi::PhlOptionKind::PHL_OPTION_STRING,
                OptionKind::Int => ffi::PhlOptionKind::PHL_OPTION_INT,
                OptionKind::Bool => ffi::PhlOptionKind::PHL_OPTION_BOOL,
            },
        })
        .collect();
    let dialects: Vec<_> = pass.dialects.iter().map(|name| leak(name)).collect();
    // MLIR's registry keeps the descriptor until the process ends, so it is leaked.
    let desc = Box::leak(Box::new(ffi::PhlPassDesc {
        argument: leak(pass.name),
        description: leak(pass.summary),
        op_name: leak(pass.anchor),
        num_options: options.len(),
        options: Vec::leak(options).as_ptr(),
        num_dialects: dialects.len(),
        dialects: Vec::leak(dialects).as_ptr(),
        run: Some(run_callback),
        user: std::ptr::from_ref(pass).cast(),
    }));
    // SAFETY: the descriptor and all it points to live forever.
    unsafe { ffi::phlRegisterPass(desc) };
    Ok(())
}

/// True if two declarations are one: a constant may be at several addresses.
fn is_same(a: &Pass, b: &Pass) -> bool {
    let texts = |pass: &Pass| (pass.name, pass.summary, pass.anchor);
    std::ptr::eq(a, b)
        || (texts(a) == texts(b)
            && a.dialects == b.dialects
            && a.options
                .iter()
                .map(|option| option.name)
                .eq(b.options.iter().map(|option| option.name))
            && std::ptr::fn_addr_eq(a.run, b.run))
}

/// What `--help` says of an option.
fn help(option: &OptionSpec) -> String {
    match option.kind {
        OptionKind::Choice(words) => format!("{}: {}", option.help, words.join(", ")),
        _ => option.help.to_owned(),
    }
}

fn leak(text: &str) -> *const c_char {
    CString::new(text.replace('\0', "")).unwrap_or_default().into_raw()
}

/// The bridge from MLIR: turns `Err` and panics into a diagnostic.
unsafe extern "C" fn run_callback(
    op: mlir_sys::MlirOperation,
    values: *const *const c_char,
    count: usize,
    user: *const c_void,
) -> bool {
    // SAFETY: `user` is the `&'static Pass` that was registered; MLIR passes a live operation and
    // `count` NUL-terminated strings.
    let (pass, op, values) = unsafe {
        let values = (0..count)
            .map(|i| CStr::from_ptr(*values.add(i)).to_string_lossy().into_owned())
            .collect();
        (&*user.cast::<Pass>(), OperationRef::from_raw(op), OptionValues(values))
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| run_on(op, || (pass.run)(op, &values))));
    let error = match outcome {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => error,
        Err(payload) => PassError::new(format!(
            "internal error: the pass panicked: {} (please report this)",
            panic_text(payload.as_ref())
        )),
    };
    let location = error.location.unwrap_or_else(|| op.location());
    emit_error(location, &format!("{} [{}]", error.message, pass.name));
    false
}

/// Says that something about an operation is likely not meant ([`crate::Session::take_diagnostics`]).
pub fn warn(op: PassOp<'_>, message: impl std::fmt::Display) {
    let text = format!("'{}' op {message}", crate::ir::op_name(op));
    // SAFETY: the location is live; the text is copied.
    unsafe {
        let text = melior::StringRef::new(&text);
        ffi::phlEmitWarning(op.location().to_raw(), text.to_raw());
    }
}

/// Says something of interest about an operation: what was done, or could not be.
pub fn remark(op: PassOp<'_>, message: impl std::fmt::Display) {
    let text = format!("'{}' op {message}", crate::ir::op_name(op));
    // SAFETY: the location is live; the text is copied.
    unsafe {
        let text = melior::StringRef::new(&text);
        ffi::phlEmitRemark(op.location().to_raw(), text.to_raw());
    }
}

/// Emits an error diagnostic.
pub fn emit_error(location: Location<'_>, message: &str) {
    let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the location is live and the text NUL-terminated.
    unsafe { mlir_sys::mlirEmitError(location.to_raw(), text.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Toolkit,
        pass::{PassError, PassOp},
    };

    fn panics<'c>(_: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
        panic!("on purpose")
    }

    static PANICS: Pass = Pass {
        name: "test-panic",
        summary: "Panic",
        anchor: "func.func",
        options: &[],
        dialects: &[],
        run: panics,
    };

    fn passes<'c>(_: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
        Ok(())
    }

    #[test]
    fn a_name_is_registered_for_one_pass() {
        static FIRST: Pass = Pass { name: "test-twice", run: passes, ..PANICS };
        static OTHER: Pass = Pass { name: "test-twice", summary: "Do other things", ..PANICS };
        register(&FIRST).expect("is new");
        register(&FIRST).expect("is the same");
        let error = register(&OTHER).expect_err("is another").to_string();
        assert!(error.contains("'test-twice' is registered already"), "{error}");
    }

    #[test]
    fn panic_becomes_a_diagnostic_with_place() {
        register(&PANICS).expect("is new");
        let session = Toolkit::new("test").all_upstream().session();
        let text = b"func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n";
        let mut module = session.parse(text, "t.mlir").expect("parses");
        let outcome = session.run_pipeline(&mut module, "builtin.module(func.func(test-panic))");
        let error = outcome.expect_err("the pass panics").to_string();
        let wanted = "internal error: the pass panicked: on purpose";
        assert!(error.contains(wanted) && error.contains("[test-panic]"), "{error}");
        assert!(error.contains("t.mlir:1:1") || error.contains("t.mlir:4:1"), "{error}");
        // The session is as usable as before.
        session.run_pipeline(&mut module, "builtin.module(func.func(cse))").expect("runs");
    }
}
