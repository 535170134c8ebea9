//! A session: the context, its dialects, and the diagnostics of what runs in it.

mod diagnostics;

use crate::{
    Error, Result, ffi,
    ir::{self, context::Carried, origin},
    pass,
    targets::{EmbedderKinds, Registry, TargetKind},
};
use diagnostics::Diagnostics;
pub use diagnostics::{Diagnostic, Note, Severity};
use melior::{
    Context, StringRef,
    dialect::DialectRegistry,
    ir::{Module, operation::OperationLike},
    pass::PassManager,
    utility::parse_pass_pipeline,
};
use std::{path::Path, sync::Arc};

/// What an embedder holds. Two sessions are independent of each other; the only thing that they
/// share is MLIR's registry of passes.
#[derive(Debug)]
pub struct Session {
    context: Context,
    diagnostics: Box<Diagnostics>,
    /// What passes find by their context: the embedder's target kinds among it.
    carried: Box<Carried>,
}

/// When a pipeline's IR is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verified {
    /// After each pass, which tells the one that is wrong before the next one sees what it made.
    Passes,
    /// At the end: it takes longer than many passes do.
    End,
}

/// A context with all dialects, or with those of another one, which notes what is said in
/// `diagnostics`.
fn new_context(old: Option<&Context>, diagnostics: &Diagnostics, carried: &Carried) -> Context {
    let registry = DialectRegistry::new();
    // SAFETY: registry and context are live; the calls fill the registry.
    unsafe {
        match old {
            None => ffi::phlRegisterDialects(registry.to_raw()),
            Some(old) => ffi::phlContextDialects(old.to_raw(), registry.to_raw()),
        }
    }
    let context = Context::new_with_registry(&registry, true);
    // Loaded up front: IR of a dialect that is not loaded cannot be built or parsed.
    context.load_all_available_dialects();
    // SAFETY: the session keeps both at addresses that stay as long as the context lives.
    unsafe {
        diagnostics.attach(&context);
        carried.attach(&context);
    }
    let allows_unknown = old.is_some_and(Context::allow_unregistered_dialects);
    context.set_allow_unregistered_dialects(allows_unknown);
    context
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: all that borrows the session is gone, and its context is not yet.
        unsafe { self.carried.destroy_removed() };
    }
}

impl Session {
    /// Creates a context with upstream's and our dialects; `Session::new` makes the passes known
    /// before.
    pub(crate) fn with_known_passes() -> Self {
        let diagnostics = Box::<Diagnostics>::default();
        let carried = Box::new(Carried::new(EmbedderKinds::default()));
        let context = new_context(None, &diagnostics, &carried);
        Self { context, diagnostics, carried }
    }

    /// Gives back the memory of all that was compiled so far. A context keeps every constant, type
    /// and location that was ever made in it, so that a session grows with each model; a session
    /// that compiles many calls this in between. Target kinds stay, the dialects of the context's
    /// registry, its handler of diagnostics, and what was compiled: nothing of it is in the context.
    /// Dialects that were only loaded, as IRDL's are, have to be loaded again. That no [`Module`] of the session is left is the borrow
    /// checker's to see.
    pub fn clear(&mut self) {
        // SAFETY: no handle is left, as above.
        unsafe { self.carried.destroy_removed() };
        self.carried.forget_constants();
        self.diagnostics.take();
        self.context = new_context(Some(&self.context), &self.diagnostics, &self.carried);
    }

    /// The MLIR context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Adds a target kind to those that specs may name in this session: one read from a manifest
    /// ([`crate::targets::manifest::parse`]), with Rust hooks ([`TargetKind::with_hooks`]). Its name
    /// must be new.
    pub fn add_target(&mut self, kind: TargetKind) -> Result<()> {
        let mut registry = Registry::builtin()?;
        let kinds = self
            .carried
            .user_mut::<EmbedderKinds>()
            .ok_or_else(|| Error::internal("the context carries no target kinds"))?;
        for known in &kinds.0 {
            registry.add_shared(known.clone())?;
        }
        let kind = Arc::new(kind);
        registry.add_shared(kind.clone())?;
        kinds.0.push(kind);
        Ok(())
    }

    /// Parses textual IR; `name` stands for the file in locations. Operations need not be inside of a
    /// `module`.
    ///
    /// IR is a program: what is compiled of it calls whichever functions it names, with the rights of this
    /// process. Of IR from elsewhere, [`crate::import::program_in`] says whether it is more than a network.
    ///
    /// # Errors
    /// The text is not valid, or is bytecode ([`Session::parse_bytecode`]).
    pub fn parse(&self, bytes: &[u8], name: &str) -> Result<Module<'_>> {
        if ir::is_bytecode(bytes) {
            return Err(Error::invalid(format!(
                "{name} is bytecode, in which MLIR's reader trusts what it finds: give text \
                 (`phaseline-opt {name} -o m.mlir` writes it), or use Session::parse_bytecode"
            )));
        }
        crate::limits::check_text(bytes)
            .map_err(|(line, what)| Error::invalid(format!("{name}:{line}: {what}")))?;
        self.parse_any(bytes, name)
    }

    /// Parses bytecode; `name` stands for the file in locations.
    ///
    /// # Safety
    /// MLIR wrote the bytes, and nothing changed them since: its reader writes out of bounds, and
    /// does not end, with some that are damaged. For files of others, the program `phaseline` reads
    /// bytecode in a process of its own.
    ///
    /// # Errors
    /// The bytecode is of another version of MLIR, or its IR is not valid.
    pub unsafe fn parse_bytecode(&self, bytes: &[u8], name: &str) -> Result<Module<'_>> {
        self.parse_any(bytes, name)
    }

    fn parse_any(&self, bytes: &[u8], name: &str) -> Result<Module<'_>> {
        ir::parse_module(&self.context, bytes, name)
            .ok_or_else(|| self.failure(&format!("{name} is not valid MLIR")))
    }

    /// Reads textual IR, as [`Session::parse`] does.
    pub fn parse_file(&self, path: &Path) -> Result<Module<'_>> {
        let bytes = crate::io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
        self.parse(&bytes, &path.to_string_lossy())
    }

    /// Runs a textual pipeline anchored on `builtin.module`, with IR that is verified before and after.
    /// Passes destroy
    /// operations, so that no handle of one may be in use ([`ir::root`]).
    pub fn run_pipeline(&self, module: &mut Module<'_>, pipeline: &str) -> Result<()> {
        self.run_pipeline_with(module, pipeline, None, None)
    }

    /// As [`Session::run_pipeline`]; when a pass fails, `reproducer` gets the IR and the pipeline.
    /// `observer` is told about each pass.
    pub fn run_pipeline_with(
        &self,
        module: &mut Module<'_>,
        pipeline: &str,
        reproducer: Option<&Path>,
        observer: Option<&pass::PassObserver<'_>>,
    ) -> Result<()> {
        self.check_ir(module)?;
        self.run_verified(module, pipeline, (reproducer, observer), Verified::Passes)
    }

    /// Fails if a module is of another session, or not valid: passes trust what they are given.
    pub(crate) fn check_ir(&self, module: &Module<'_>) -> Result<()> {
        origin::check_home(&self.context, &ir::root(module), || "the module".to_owned())?;
        if module.as_operation().verify() {
            return Ok(());
        }
        match self.failure("the IR is not valid") {
            Error::Diagnostics(text) => {
                Err(Error::Diagnostics(format!("{text}\nin the IR that was given")))
            }
            other => Err(other),
        }
    }

    /// As [`Session::run_pipeline_with`], with IR of this session that is valid, and is verified as
    /// often as is said.
    pub(crate) fn run_verified(
        &self,
        module: &mut Module<'_>,
        pipeline: &str,
        (reproducer, observer): (Option<&Path>, Option<&pass::PassObserver<'_>>),
        verified: Verified,
    ) -> Result<()> {
        crate::limits::check_text(pipeline.as_bytes())
            .map_err(|(_, what)| Error::invalid(format!("the pipeline: {what}")))?;
        // Declared before the manager, which looks at it until it is dropped.
        let log = pass::Log::default();
        let both = |event: pass::PassEvent, name: &str, op: ir::Op<'_>| {
            log.event(event, name, op);
            observer.inspect(|observer| observer(event, name, op));
        };
        let both: &pass::PassObserver<'_> = &both;
        let observer = if pass::is_logged() { Some(both) } else { observer };
        let observer = observer.as_ref();
        let manager = PassManager::new(&self.context);
        manager.enable_verifier(verified == Verified::Passes);
        if let Some(path) = reproducer {
            enable_reproducer(&manager, path);
        }
        if let Some(observer) = observer {
            pass::watch(&manager, observer);
        }
        parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline).map_err(|error| {
            let detail = match error {
                melior::Error::ParsePassPipeline(text) => text,
                other => other.to_string(),
            };
            Error::invalid(format!("the pipeline is not valid: {}", detail.trim()))
        })?;
        let _running = self.carried.running();
        // SAFETY: the module outlives the call.
        let ok = unsafe {
            mlir_sys::mlirPassManagerRunOnOp(manager.to_raw(), module.as_operation().to_raw())
        };
        if ok.value == 0 {
            return Err(self.failure("the pipeline failed"));
        }
        if verified == Verified::End && !module.as_operation().verify() {
            return Err(self.failure("the pipeline made IR that is not valid"));
        }
        Ok(())
    }

    /// The errors collected since the last call, as one [`Error`]; `fallback` when there are none.
    pub fn failure(&self, fallback: &str) -> Error {
        let lines = self.diagnostics.take_errors();
        if lines.is_empty() {
            return Error::internal(fallback);
        }
        Error::Diagnostics(lines.join("\n"))
    }

    /// Forgets errors collected so far, for a caller that tried something on purpose.
    pub fn clear_diagnostics(&self) {
        self.diagnostics.take_errors();
    }

    /// Takes the warnings and remarks that passes gave since the last call, in order, and errors of
    /// calls that did not fail. The first 10,000 are kept.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.take()
    }

    /// Calls `handler` for each diagnostic from now on, in place of the one before, when it is given;
    /// they are kept as well. If it panics, a warning says so.
    pub fn on_diagnostic(&self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) {
        self.diagnostics.handle(Arc::new(handler));
    }
}

/// A reproducer's file name as MLIR wants it.
fn enable_reproducer(manager: &PassManager<'_>, path: &Path) {
    let text = path.to_string_lossy().into_owned();
    let name = StringRef::new(&text);
    // SAFETY: the manager is live; MLIR copies the name.
    unsafe {
        ffi::phlPassManagerEnableCrashReproducer(manager.to_raw(), name.to_raw(), false);
    }
}
