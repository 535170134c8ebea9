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
        LLVMOrcJITDylibAddGenerator,
        lljit::{
            LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
            LLVMOrcLLJITGetGlobalPrefix, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup,
            LLVMOrcLLJITRef,
        },
    },
};
use phaseline_runtime::run::Constants;
use std::{
    ffi::{CStr, CString, c_void},
    ptr,
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
    /// Held so that they stay loaded.
    _libraries: Vec<Library>,
}

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
            let linker = Self { raw, _libraries: libraries };
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
            check(error, &format!("cannot link {name}"))?;
        }
        Ok(address as usize as *const c_void)
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

/// Turns LLVM's error object into ours.
///
/// # Safety
/// `error` is null or an error that nobody has consumed.
unsafe fn check(error: LLVMErrorRef, what: &str) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the message belongs to us until it is disposed of.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(Error::Tool { program: "JIT".to_owned(), detail: format!("{what}: {text}") })
    }
}
