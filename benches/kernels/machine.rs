//! From a module of kernels to a callable shared object of this machine.

use libloading::Library;
use melior::ir::Module;
use phaseline::{Session, codegen::llvm, ir};
use std::{error::Error, process::Command, time::Instant};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The passes that take kernels to the LLVM dialect; buffers become bare pointers.
const PIPELINE: &str = "builtin.module(set-llvm-target,canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,\
    convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
    expand-strided-metadata,finalize-memref-to-llvm,\
    convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},convert-cf-to-llvm,\
    reconcile-unrealized-casts)";

/// A loaded kernel library and what it cost to make.
pub struct Compiled {
    pub library: Library,
    pub mlir_ms: f64,
    pub llvm_ms: f64,
    pub code_bytes: usize,
}

/// Compiles every function of `module` for this machine.
pub fn compile(session: &Session, module: &mut Module<'_>) -> Result<Compiled> {
    let start = Instant::now();
    session.run_pipeline(module, PIPELINE)?;
    let mlir_ms = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let objects = llvm::compile(session, ir::root(module), "kernel")?;
    let llvm_ms = start.elapsed().as_secs_f64() * 1e3;
    let dir = tempfile::tempdir()?;
    let shared = dir.path().join("kernel.so");
    let mut command = Command::new("cc");
    command.arg("-shared").arg("-o").arg(&shared);
    for object in &objects {
        let file = dir.path().join(&object.name);
        std::fs::write(&file, &object.bytes)?;
        command.arg(file);
    }
    let status = command.status()?;
    if !status.success() {
        return Err("the linker failed".into());
    }
    // SAFETY: the library holds kernels only, without initialisers.
    let library = unsafe { Library::new(&shared)? };
    Ok(Compiled {
        library,
        mlir_ms,
        llvm_ms,
        code_bytes: objects.iter().map(|object| object.bytes.len()).sum(),
    })
}
