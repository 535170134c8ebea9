//! Registration of Rust passes in MLIR's pass registry.

use super::{
    OptionKind, OptionSpec, OptionValues, Pass, PassCx, PassError, PassOp, PassOptions, RunPass,
};
use crate::{
    ffi,
    ir::{
        Op,
        context::{is_cancelled, panic_text, run_on},
        shared::{self, thread},
    },
};
use melior::ir::{Location, OperationRef, operation::OperationLike};
use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError, RwLock},
};

/// MLIR's registry of passes, which a process has once.
#[derive(Default)]
struct Registry {
    /// Names already given to MLIR, which aborts the process on a second registration.
    names: Mutex<BTreeMap<String, Registered>>,
    /// MLIR reads the registry where a pipeline is parsed, and writes it without a lock of its own.
    lock: RwLock<()>,
}

fn registry() -> &'static Registry {
    // SAFETY: nobody else asks for the place.
    unsafe { shared::value(ffi::PhlShared::PHL_SHARED_PASSES, Registry::default) }
}

/// The names that are given.
fn names() -> MutexGuard<'static, BTreeMap<String, Registered>> {
    registry().names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parses a pipeline, in `parse`.
pub(crate) fn reading<T>(parse: impl FnOnce() -> T) -> T {
    // An option may hold a pipeline.
    if thread(|state| state.reads) {
        return parse();
    }
    let _guard = registry().lock.read().unwrap_or_else(PoisonError::into_inner);
    thread(|state| state.reads = true);
    let parsed = parse();
    thread(|state| state.reads = false);
    parsed
}

/// Registers passes or pipelines, in `register`.
pub(crate) fn writing<T>(register: impl FnOnce() -> T) -> T {
    let _guard = registry().lock.write().unwrap_or_else(PoisonError::into_inner);
    register()
}

/// A member of the registry.
enum Registered {
    Pass(&'static Pass),
    /// A type of a copy of this crate.
    Type(TypeId, usize),
    /// A pipeline of these passes.
    Pipeline(String),
}

/// Registers a pipeline, by a list of passes on `builtin.module`. Registering a name again is an error, unless it is the
/// same pipeline.
pub fn register_pipeline(name: &str, summary: &str, passes: &str) -> crate::Result<()> {
    let mut registered = names();
    match registered.get(name) {
        Some(Registered::Pipeline(known)) if known == passes => return Ok(()),
        Some(_) => return Err(taken(name)),
        None => {}
    }
    if let Some(way) = way_to(name, passes, &registered) {
        return Err(crate::Error::invalid(format!("the pipeline '{name}' runs itself: {way}")));
    }
    registered.insert(name.to_owned(), Registered::Pipeline(passes.to_owned()));
    let [name, summary, passes] = [name, summary, passes].map(melior::StringRef::new);
    // SAFETY: the strings outlive the call, which copies them.
    writing(|| unsafe {
        ffi::phlRegisterPipeline(name.to_raw(), summary.to_raw(), passes.to_raw());
    });
    Ok(())
}

/// The pipelines by which a text runs the one of a name. MLIR would read it without an end.
fn way_to(name: &str, passes: &str, known: &BTreeMap<String, Registered>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut work = vec![(name.to_owned(), passes)];
    while let Some((way, passes)) = work.pop() {
        // Options are no passes, but may have some: words behind a bracket or a comma.
        let words = passes.split(['(', ')', ',', '{', '}']).map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            if word == name {
                return Some(format!("{way} -> {name}"));
            }
            if let Some(Registered::Pipeline(inner)) = known.get(word)
                && seen.insert(word)
            {
                work.push((format!("{way} -> {word}"), inner));
            }
        }
    }
    None
}

fn taken(name: &str) -> crate::Error {
    crate::Error::invalid(format!(
        "a pass named '{name}' is registered already; choose another name"
    ))
}

/// Registers a pass in MLIR's registry, for the whole process. Registering a name again is an
/// error, unless it is the same pass.
pub fn register(pass: &'static Pass) -> crate::Result<()> {
    let mut registered = names();
    match registered.get(pass.name) {
        Some(Registered::Pass(other)) if is_same(pass, other) => return Ok(()),
        Some(_) => return Err(taken(pass.name)),
        None => {}
    }
    registered.insert(pass.name.to_owned(), Registered::Pass(pass));
    let declared = Declared {
        name: pass.name,
        options: pass.options,
        statistics: &[],
        run: Body::Plain(pass.run),
    };
    give(declared, pass.summary, pass.anchor, pass.dialects, None);
    Ok(())
}

/// As [`register`], for a pass that is a type.
pub fn register_type<T: RunPass>() -> crate::Result<()> {
    let mut registered = names();
    match registered.get(T::NAME) {
        Some(Registered::Type(other, copy))
            if (*other, *copy) == (TypeId::of::<T>(), shared::copy()) =>
        {
            return Ok(());
        }
        Some(_) => return Err(taken(T::NAME)),
        None => {}
    }
    registered.insert(T::NAME.to_owned(), Registered::Type(TypeId::of::<T>(), shared::copy()));
    let run: fn(&mut PassCx<'_, '_>, *mut c_void) -> bool = run_type::<T>;
    let declared = Declared {
        name: T::NAME,
        options: T::Options::SPECS,
        statistics: T::STATISTICS,
        run: Body::Type(run),
    };
    let state = (make_state::<T> as Make, release_state::<T> as Release);
    give(declared, T::SUMMARY, T::ANCHOR, T::DIALECTS, Some(state));
    Ok(())
}

type Make = unsafe extern "C" fn(
    mlir_sys::MlirContext,
    *const *const c_char,
    usize,
    *const c_void,
) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void, *const c_void);

/// The part of a pass that MLIR's registry keeps.
struct Declared {
    name: &'static str,
    options: &'static [OptionSpec],
    statistics: &'static [(&'static str, &'static str)],
    run: Body,
}

/// The body of a pass.
enum Body {
    Plain(for<'c> fn(PassOp<'c>, &OptionValues) -> Result<(), PassError<'c>>),
    /// A pass that is a type; false after an error.
    Type(fn(&mut PassCx<'_, '_>, *mut c_void) -> bool),
}

/// Gives a pass to MLIR.
fn give(
    declared: Declared,
    summary: &str,
    anchor: &str,
    dialects: &[&str],
    state: Option<(Make, Release)>,
) {
    let options: Vec<_> = declared
        .options
        .iter()
        .map(|option| ffi::PhlOptionDesc {
            name: leak(&option.name.replace('_', "-")),
            description: leak(&help(option)),
            default_value: leak(option.default),
            kind: match option.kind {
                OptionKind::Int => ffi::PhlOptionKind::PHL_OPTION_INT,
                OptionKind::Bool => ffi::PhlOptionKind::PHL_OPTION_BOOL,
                _ => ffi::PhlOptionKind::PHL_OPTION_STRING,
            },
        })
        .collect();
    let dialects: Vec<_> = dialects.iter().map(|name| leak(name)).collect();
    // MLIR's registry keeps the descriptor until the process ends, so it is leaked.
    let desc = Box::leak(Box::new(ffi::PhlPassDesc {
        argument: leak(declared.name),
        description: leak(summary),
        op_name: leak(anchor),
        num_options: options.len(),
        options: Vec::leak(options).as_ptr(),
        num_dialects: dialects.len(),
        dialects: Vec::leak(dialects).as_ptr(),
        check: Some(check_option),
        make: state.map(|(make, _)| make),
        release: state.map(|(_, release)| release),
        run: Some(run_callback),
        user: std::ptr::from_ref(Box::leak(Box::new(declared))).cast(),
    }));
    // SAFETY: the descriptor and all it points to live forever.
    writing(|| unsafe { ffi::phlRegisterPass(desc) });
}

/// Checks the value of an option; the default is right.
unsafe extern "C" fn check_option(
    index: usize,
    value: *const c_char,
    fault: mlir_sys::MlirStringCallback,
    fault_user: *mut c_void,
    user: *const c_void,
) -> bool {
    // SAFETY: `user` is what was declared; MLIR passes a NUL-terminated string.
    let (declared, value) =
        unsafe { (&*user.cast::<Declared>(), CStr::from_ptr(value).to_string_lossy()) };
    let Some(option) = declared.options.get(index) else { return true };
    if value == option.default {
        return true;
    }
    let Err(reason) = option.kind.check(&value) else { return true };
    let (option, pass) = (option.name.replace('_', "-"), declared.name);
    let text = format!("option '{option}' of {pass}: {reason}");
    // SAFETY: the callback and its place are live during the call, which copies the text.
    fault.inspect(|fault| unsafe {
        fault(melior::StringRef::new(&text).to_raw(), fault_user);
    });
    false
}

/// The texts of options, as MLIR passes them.
///
/// # Safety
/// There are `count` NUL-terminated strings.
unsafe fn option_values(values: *const *const c_char, count: usize) -> OptionValues {
    let text = |index| {
        // SAFETY: the caller's contract.
        unsafe { CStr::from_ptr(*values.add(index)) }.to_string_lossy().into_owned()
    };
    OptionValues((0..count).map(text).collect())
}

unsafe extern "C" fn make_state<T: RunPass>(
    context: mlir_sys::MlirContext,
    values: *const *const c_char,
    count: usize,
    _: *const c_void,
) -> *mut c_void {
    // SAFETY: MLIR passes a live context and `count` strings.
    let (context, values) =
        unsafe { (melior::ContextRef::from_raw(context), option_values(values, count)) };
    // SAFETY: the context lives during the call.
    let context = unsafe { context.to_ref() };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let options = values.parse::<T::Options>().map_err(crate::Error::invalid)?;
        T::new(options, context)
    }));
    let reason = match made {
        Ok(Ok(pass)) => return Box::into_raw(Box::new(pass)).cast(),
        Ok(Err(error)) => error.to_string(),
        Err(payload) => panicked(payload.as_ref()),
    };
    emit_error(Location::unknown(context), &format!("{reason} [{}]", T::NAME));
    std::ptr::null_mut()
}

unsafe extern "C" fn release_state<T: RunPass>(state: *mut c_void, _: *const c_void) {
    // SAFETY: `make_state` made it, and it is released once.
    let state = unsafe { Box::from_raw(state.cast::<T>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

/// Runs a pass on what its context has. Errors, and panics, are emitted before this returns.
fn run_type<T: RunPass>(cx: &mut PassCx<'_, '_>, state: *mut c_void) -> bool {
    // SAFETY: `make_state` made it; passes share it.
    let pass = unsafe { &*state.cast::<T>() };
    let (op, name) = (cx.raw_op(), cx.name());
    let outcome = catch_unwind(AssertUnwindSafe(|| run_on(op, || pass.run(cx))));
    cx.finish();
    report(op, name, outcome)
}

/// Emits the error of a pass; true if there is none.
fn report<'c>(
    op: Op<'c>,
    name: &str,
    outcome: std::thread::Result<Result<(), PassError<'c>>>,
) -> bool {
    let error = match outcome {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => error,
        Err(payload) => PassError::new(panicked(payload.as_ref())),
    };
    let location = error.location.unwrap_or_else(|| op.location());
    emit_error(location, &format!("{} [{name}]", error.message));
    false
}

fn panicked(payload: &(dyn Any + Send)) -> String {
    let reason = panic_text(payload);
    format!("internal error: the pass panicked: {reason} (please report this)")
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

/// The line of an option in `--help`.
fn help(option: &OptionSpec) -> String {
    match option.kind {
        OptionKind::Choice(words) => format!("{}: {}", option.help, words.join(", ")),
        OptionKind::List(OptionKind::Choice(words)) => {
            format!("{}: some of {}", option.help, words.join(", "))
        }
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
    run: ffi::PhlPassRun,
    state: *mut c_void,
    user: *const c_void,
) -> bool {
    // SAFETY: `user` is what was declared; MLIR passes a live operation and `count` strings.
    let (declared, op, values) = unsafe {
        (&*user.cast::<Declared>(), OperationRef::from_raw(op), option_values(values, count))
    };
    if is_cancelled(crate::ir::context_of(op)) {
        return report(op, declared.name, Ok(Err(PassError::new("the run was cancelled"))));
    }
    match declared.run {
        Body::Plain(body) => {
            let run = || run_on(op, || body(op, &values));
            report(op, declared.name, catch_unwind(AssertUnwindSafe(run)))
        }
        Body::Type(body) => {
            body(&mut PassCx::new(op, run, declared.name, declared.statistics), state)
        }
    }
}

/// Says that something about an operation is likely not meant ([`crate::Session::take_diagnostics`]). Notes may follow:
/// `warn(op, "...").note(other, "...")`.
pub fn warn<'c>(op: PassOp<'c>, message: impl std::fmt::Display) -> Said<'c> {
    Said::new(ffi::PhlSeverity::PHL_SEVERITY_WARNING, op, message)
}

/// Says something of interest about an operation: what was done, or could not be. Notes may follow.
pub fn remark<'c>(op: PassOp<'c>, message: impl std::fmt::Display) -> Said<'c> {
    Said::new(ffi::PhlSeverity::PHL_SEVERITY_REMARK, op, message)
}

/// A warning or a remark, which is emitted when this is dropped.
#[derive(Debug)]
pub struct Said<'c> {
    severity: ffi::PhlSeverity::Type,
    location: Location<'c>,
    text: String,
    notes: Vec<(Location<'c>, String)>,
}

impl<'c> Said<'c> {
    fn new(
        severity: ffi::PhlSeverity::Type,
        op: PassOp<'c>,
        message: impl std::fmt::Display,
    ) -> Self {
        let text = format!("'{}' op {message}", crate::ir::op_name(op));
        Self { severity, location: op.location(), text, notes: vec![] }
    }

    /// Adds a note about an operation of the same session; one of another session is left out.
    pub fn note(mut self, op: PassOp<'c>, message: impl std::fmt::Display) -> Self {
        let here = crate::ir::origin::check_home(&self.location, &op, String::new);
        if here.is_ok() {
            self.notes.push((op.location(), message.to_string()));
        }
        self
    }
}

impl Drop for Said<'_> {
    fn drop(&mut self) {
        let raw = |(location, text): &(Location<'_>, String)| ffi::PhlNote {
            location: location.to_raw(),
            text: melior::StringRef::new(text).to_raw(),
        };
        let notes: Vec<_> = self.notes.iter().map(raw).collect();
        let text = melior::StringRef::new(&self.text).to_raw();
        let (location, count) = (self.location.to_raw(), notes.len());
        // SAFETY: locations are live; texts are copied.
        unsafe { ffi::phlEmit(self.severity, location, text, notes.as_ptr(), count) };
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
