//! Linking object files into this process, by LLVM's ORC.

use super::{Executable, Invoke, shared::Library};
use crate::{
    Error, Result,
    artifact::{Object, Signature},
};
use bytes::Bytes;
use inkwell::llvm_sys::{
    core::LLVMCreateMemoryBufferWithMemoryRangeCopy,
    error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage},
    orc2::{
        LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess, LLVMOrcDefinitionGeneratorRef,
        LLVMOrcExecutionSessionSetErrorReporter, LLVMOrcJITDylibAddGenerator,
        lljit::{
            LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
            LLVMOrcLLJITGetExecutionSession, LLVMOrcLLJITGetGlobalPrefix,
            LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITRef,
        },
    },
};
use phaseline_runtime::run::Constants;
use std::{
    ffi::{CStr, CString, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

/// Links objects (host code and that of accelerators) and makes an [`Executable`] of them.
///
/// `constants` are those that `pack-constants` collected; `libraries` are those that the objects
/// need.
///
/// # Safety
/// The objects are the ones that compiling the model of `signature` gave, for this machine.
pub unsafe fn jit(
    objects: &[Object],
    constants: Bytes,
    signature: Signature,
    libraries: Vec<Library>,
) -> Result<Executable> {
    if constants.len() != signature.constants_bytes {
        return Err(Error::internal(format!(
            "the model has {} bytes of constants, but {} are given",
            signature.constants_bytes,
            constants.len()
        )));
    }
    let linker = Linker::new(libraries)?;
    for object in objects {
        linker.add(object)?;
    }
    let entry = linker.lookup(&format!("{}_invoke", signature.name))?;
    let constants = Constants::of(constants, &signature)?;
    let code = std::sync::Arc::new(linker);
    let symbols = code.clone();
    // SAFETY: by the caller's contract the entry point has this type, as `make-entry-point` made it; the code lives as
    // long as the executable.
    unsafe {
        let invoke = std::mem::transmute::<*const c_void, Invoke>(entry);
        Executable::new(signature, invoke, constants, Box::new(code), &|name| symbols.lookup(name))
    }
}

/// An ORC session with one library.
struct Linker {
    raw: LLVMOrcLLJITRef,
    /// Errors that the session reports, which ORC would print otherwise.
    reported: Box<Reported>,
    /// Held so that they stay loaded.
    _libraries: Vec<Library>,
}

/// Texts of errors, in the order of their reports.
type Reported = Mutex<Vec<String>>;

// SAFETY: LLJIT takes its session's lock in every call.
unsafe impl Send for Linker {}
// SAFETY: as above.
unsafe impl Sync for Linker {}

impl Linker {
    fn new(libraries: Vec<Library>) -> Result<Self> {
        // The JIT looks up the code generator of this machine, even to link objects.
        crate::artifact::initialize();
        // SAFETY: each object is made before it is used; ownership passes as ORC's C API says.
        unsafe {
            let mut raw = ptr::null_mut();
            check(LLVMOrcCreateLLJIT(&mut raw, ptr::null_mut()), "cannot start the JIT")?;
            let linker = Self { raw, reported: Box::default(), _libraries: libraries };
            LLVMOrcExecutionSessionSetErrorReporter(
                LLVMOrcLLJITGetExecutionSession(raw),
                report,
                ptr::from_ref::<Reported>(&linker.reported).cast_mut().cast(),
            );
            let mut generator: LLVMOrcDefinitionGeneratorRef = ptr::null_mut();
            check(
                LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                    &mut generator,
                    LLVMOrcLLJITGetGlobalPrefix(raw),
                    None,
                    ptr::null_mut(),
                ),
                "cannot see the symbols of this process",
            )?;
            LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(raw), generator);
            Ok(linker)
        }
    }

    fn add(&self, object: &Object) -> Result<()> {
        let name = CString::new(object.name.replace('\0', "")).unwrap_or_default();
        // SAFETY: the buffer is a copy, which the JIT takes over, also when it fails.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.bytes.as_ptr().cast(),
                object.bytes.len(),
                name.as_ptr(),
            );
            if buffer.is_null() {
                return Err(Error::internal("no memory for an object file"));
            }
            let library = LLVMOrcLLJITGetMainJITDylib(self.raw);
            let error = LLVMOrcLLJITAddObjectFile(self.raw, library, buffer);
            check(error, &format!("cannot load {}", object.name))
        }
    }

    fn lookup(&self, name: &str) -> Result<*const c_void> {
        let text = CString::new(name.replace('\0', "")).unwrap_or_default();
        let mut address = 0;
        // SAFETY: the session is live and the name NUL-terminated.
        unsafe {
            let error = LLVMOrcLLJITLookup(self.raw, &mut address, text.as_ptr());
            check(error, &format!("cannot link {name}")).map_err(|error| self.cause(error))?;
        }
        Ok(address as usize as *const c_void)
    }

    /// The cause of a failed link: functions that nothing defines, or else all that ORC said.
    fn cause(&self, error: Error) -> Error {
        let reported = std::mem::take(&mut *lock(&self.reported));
        let missing: Vec<_> = reported.iter().flat_map(|text| undefined(text)).collect();
        let detail = match (&error, missing.is_empty()) {
            (_, false) => format!(
                "nothing defines {}; the sources or libraries of a target lack it, or a prototype in its \
                 manifest has another name",
                missing.join(", ")
            ),
            (Error::Tool { detail, .. }, true) if !reported.is_empty() => {
                format!("{detail}: {}", reported.join("; "))
            }
            (_, true) => return error,
        };
        Error::Tool { program: "JIT".to_owned(), detail }
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the session is live and nothing of it is used afterwards.
        unsafe {
            let _ = check(LLVMOrcDisposeLLJIT(self.raw), "");
        }
    }
}

fn lock(reported: &Reported) -> std::sync::MutexGuard<'_, Vec<String>> {
    reported.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps an error of a session.
extern "C" fn report(reported: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: the session was given a list that lives as long as it, and gives each error away.
    unsafe {
        if !error.is_null() {
            lock(&*reported.cast::<Reported>()).push(text(error));
        }
    }
}

/// The names of undefined symbols in an error of ORC, in quotes.
fn undefined(text: &str) -> Vec<String> {
    let names = text.split_once("Symbols not found: [").and_then(|(_, rest)| rest.split_once(']'));
    let names = names.map_or("", |(names, _)| names);
    names
        .split([',', ' '])
        .filter(|name| !name.is_empty())
        .map(|name| format!("'{name}'"))
        .collect()
}

/// The text of an error.
///
/// # Safety
/// `error` is an error that nobody has consumed.
unsafe fn text(error: LLVMErrorRef) -> String {
    // SAFETY: the message belongs to us until it is disposed of.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        text
    }
}

/// Turns LLVM's error object into ours.
///
/// # Safety
/// `error` is null or an error that nobody has consumed.
unsafe fn check(error: LLVMErrorRef, what: &str) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: by the caller's contract.
    let detail = format!("{what}: {}", unsafe { text(error) });
    Err(Error::Tool { program: "JIT".to_owned(), detail })
}
