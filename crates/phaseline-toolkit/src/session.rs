//! A session: the context, its dialects, and the diagnostics of what runs in it.

mod diagnostics;
#[cfg(feature = "jit")]
mod jit;
mod left_out;
mod reduce;

use crate::{
    Error, Result, ffi,
    ir::{
        self,
        context::{Cancel, Carried, Statistic},
        nesting, origin,
    },
    pass,
};
use diagnostics::Diagnostics;
pub use diagnostics::{Diagnostic, Severity};
#[cfg(feature = "jit")]
pub use jit::Jit;
#[cfg(feature = "jit")]
pub(crate) use jit::{Callable, HostFunction, run};
#[doc(hidden)]
pub use left_out::LeftOut;
use melior::{
    Context, StringRef,
    dialect::DialectRegistry,
    ir::{Module, operation::OperationLike},
    pass::PassManager,
    utility::parse_pass_pipeline,
};
use std::{any::Any, ffi::c_void, path::Path, sync::Arc};

/// A context with its dialects, and what is said while it works. Two sessions are independent of each other; the
/// only thing that they share is MLIR's registry of passes.
#[derive(Debug)]
pub struct Session {
    context: Context,
    diagnostics: Box<Diagnostics>,
    /// Data that passes find by their context.
    carried: Box<Carried>,
    /// Threads that it shares with others; it goes behind the context.
    threads: Option<ThreadPool>,
    /// Upstream's passes and dialects that messages name.
    pub(crate) left_out: Option<LeftOut>,
    /// Functions that compiled code of the session may call.
    #[cfg(feature = "jit")]
    pub(crate) host: Vec<HostFunction>,
}

/// Threads that several sessions share, for a program that works on many modules at once: each session has as many of its
/// own otherwise.
///
/// ```
/// # use phaseline_toolkit::{ThreadPool, Toolkit};
/// let threads = ThreadPool::new(4);
/// let toolkit = Toolkit::new("my tool");
/// let (mut one, mut two) = (toolkit.session(), toolkit.session());
/// one.use_threads(&threads);
/// two.use_threads(&threads);
/// ```
#[derive(Clone, Debug)]
pub struct ThreadPool(Arc<RawPool>);

#[derive(Debug)]
struct RawPool(mlir_sys::MlirLlvmThreadPool);

// SAFETY: LLVM's pool is given work by any thread.
unsafe impl Send for RawPool {}
// SAFETY: as above.
unsafe impl Sync for RawPool {}

impl ThreadPool {
    /// A pool of so many threads, at least one. They are started when there is work for them.
    pub fn new(threads: usize) -> Self {
        let threads = u32::try_from(threads.clamp(1, 4096)).unwrap_or(1);
        // SAFETY: the result is owned.
        Self(Arc::new(RawPool(unsafe { ffi::phlThreadPoolCreate(threads) })))
    }
}

impl Drop for RawPool {
    fn drop(&mut self) {
        // SAFETY: the sessions that used it are gone.
        unsafe { mlir_sys::mlirLlvmThreadPoolDestroy(self.0) };
    }
}

/// Points at which a pipeline's IR is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// After each pass, which tells the one that is wrong before the next one sees what it made.
    Passes,
    /// At the end: verification takes longer than many passes do.
    End,
}

/// A context with the dialects of a registry, or with those of another one, which notes what is said in
/// `diagnostics`.
fn new_context(
    registry: &DialectRegistry,
    allows_unknown: bool,
    diagnostics: &Diagnostics,
    carried: &Carried,
) -> Context {
    let context = Context::new_with_registry(registry, true);
    // Loaded up front: IR of a dialect that is not loaded cannot be built or parsed.
    context.load_all_available_dialects();
    // SAFETY: the session keeps both at addresses that stay as long as the context lives.
    unsafe {
        diagnostics.attach(&context);
        carried.attach(&context);
    }
    context.set_allow_unregistered_dialects(allows_unknown);
    context
}

// SAFETY: nothing of a context belongs to a thread, and all that has to do with it borrows the session or is in it.
unsafe impl Send for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: all that borrows the session is gone, and its context is not yet.
        unsafe { self.carried.destroy_removed() };
    }
}

impl Session {
    /// Creates a context with all dialects of a registry, for [`crate::Toolkit::session_with`].
    pub(crate) fn create(registry: &DialectRegistry, carried: Carried) -> Self {
        let diagnostics = Box::<Diagnostics>::default();
        let carried = Box::new(carried);
        let context = new_context(registry, false, &diagnostics, &carried);
        Self {
            context,
            diagnostics,
            carried,
            threads: None,
            left_out: None,
            #[cfg(feature = "jit")]
            host: vec![],
        }
    }

    /// The value that the session was given ([`crate::Toolkit::session_with`]), if it is of that type. Passes find it by
    /// [`ir::user`].
    pub fn user<T: Any>(&self) -> Option<&T> {
        self.carried.user()
    }

    /// The same, to be changed.
    pub fn user_mut<T: Any>(&mut self) -> Option<&mut T> {
        self.carried.user_mut()
    }

    /// Gives back the memory of all that was compiled so far. A context keeps every constant, type
    /// and location that was ever made in it, so a session grows with each model. A session that
    /// compiles many models calls this in between.
    ///
    /// Target kinds stay, the dialects of the context's registry, its handler of diagnostics, and
    /// compiled models: nothing of them is in the context. Dialects that were only loaded, as
    /// IRDL's are, have to be loaded again. The borrow checker sees that no [`Module`] of the
    /// session is left.
    pub fn clear(&mut self) {
        // SAFETY: no handle is left, as above.
        unsafe { self.carried.destroy_removed() };
        self.carried.forget_constants();
        self.diagnostics.take();
        let registry = DialectRegistry::new();
        // SAFETY: both are live; the call fills the registry.
        unsafe { ffi::phlContextDialects(self.context.to_raw(), registry.to_raw()) };
        let allows_unknown = self.context.allow_unregistered_dialects();
        self.context = new_context(&registry, allows_unknown, &self.diagnostics, &self.carried);
        self.attach_threads();
    }

    /// Has passes run on the threads of a pool, in place of those that it had. [`Self::clear`] keeps it.
    pub fn use_threads(&mut self, threads: &ThreadPool) {
        // What was used before goes behind the change.
        let _before = self.threads.replace(threads.clone());
        self.attach_threads();
    }

    fn attach_threads(&self) {
        if let Some(ThreadPool(pool)) = &self.threads {
            self.context.enable_multi_threading(false);
            // SAFETY: both are live, the pool as long as the context; nothing runs, and the context has no threads.
            unsafe { mlir_sys::mlirContextSetThreadPool(self.context.to_raw(), pool.0) };
        }
    }

    /// The MLIR context.
    ///
    /// It, and all that is made in it, stays where the session is:
    ///
    /// ```compile_fail,E0505
    /// # use phaseline_toolkit::{Toolkit, raw::ir::Type};
    /// let session = Toolkit::new("t").session();
    /// let ty = Type::index(session.context());
    /// drop(session);
    /// println!("{ty}");
    /// ```
    ///
    /// ```compile_fail,E0502
    /// # use phaseline_toolkit::{Toolkit, raw::ir::Type};
    /// let mut session = Toolkit::new("t").session();
    /// let ty = Type::index(session.context());
    /// session.clear();
    /// println!("{ty}");
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Parses textual IR; `name` stands for the file in locations. Operations need not be inside of
    /// a `module`.
    ///
    /// IR is a program. Code compiled from it calls whichever functions it names, with the rights
    /// of this process.
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
        nesting::check_text(bytes)
            .map_err(|(line, what)| Error::invalid(format!("{name}:{line}: {what}")))?;
        self.parse_any(bytes, name)
    }

    /// Parses bytecode; `name` stands for the file in locations.
    ///
    /// # Safety
    /// MLIR wrote the bytes, and nothing changed them since. Its reader writes out of bounds, or
    /// does not end, with some that are damaged. The program `phaseline` reads bytecode of others
    /// in a process of its own.
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
    pub fn check_ir(&self, module: &Module<'_>) -> Result<()> {
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
    #[doc(hidden)]
    pub fn run_verified(
        &self,
        module: &mut Module<'_>,
        pipeline: &str,
        (reproducer, observer): (Option<&Path>, Option<&pass::PassObserver<'_>>),
        verified: Verified,
    ) -> Result<()> {
        nesting::check_text(pipeline.as_bytes())
            .map_err(|(_, what)| Error::invalid(format!("the pipeline: {what}")))?;
        // Declared before the manager, which looks at it until it is dropped.
        let log = pass::is_logged().then(pass::Log::default);
        let told = |event: pass::PassEvent, name: &str, op: ir::Op<'_>| {
            diagnostics::running(event, name);
            if let Some(log) = &log {
                log.event(event, name, op);
            }
            observer.inspect(|observer| observer(event, name, op));
        };
        let told: &pass::PassObserver<'_> = &told;
        let manager = PassManager::new(&self.context);
        manager.enable_verifier(verified == Verified::Passes);
        if let Some(path) = reproducer {
            enable_reproducer(&manager, path);
        }
        pass::watch(&manager, &told);
        let parse = || parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline);
        pass::reading(parse).map_err(|error| {
            let detail = match error {
                melior::Error::ParsePassPipeline(text) => text,
                other => other.to_string(),
            };
            let left_out = self.left_out.and_then(|left_out| left_out.about_pass(&detail));
            let detail = left_out.as_deref().unwrap_or(detail.trim());
            Error::invalid(format!("the pipeline is not valid: {detail}"))
        })?;
        let _running = self.carried.running();
        let cancel = self.carried.cancel();
        let _stopping = cancel.as_ref().map(|cancel| Stopping::new(&self.context, cancel));
        self.carried.has_complained();
        // SAFETY: the module outlives the call.
        let ok = unsafe {
            mlir_sys::mlirPassManagerRunOnOp(manager.to_raw(), module.as_operation().to_raw())
        };
        if cancel.as_ref().is_some_and(|cancel| cancel.is_cancelled()) {
            self.diagnostics.take_errors();
            return Err(Error::invalid(
                "the pipeline was cancelled; the IR is as the last pass left it",
            ));
        }
        if ok.value == 0 || self.carried.has_complained() {
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
        let said = lines.join("\n");
        let left_out = self.left_out.and_then(|left_out| left_out.about_dialect(&said));
        Error::Diagnostics(left_out.unwrap_or(said))
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

    /// Has pipelines of the session stop when a token says so, from any thread: passes that wait are left out, and so are
    /// patterns and rules of those that run. Passes in Rust ask for themselves, too. None takes the token back.
    pub fn set_cancel(&self, cancel: Option<Cancel>) {
        self.carried.set_cancel(cancel);
    }

    /// Takes the statistics of passes in Rust since the last call, by pass and name.
    pub fn take_statistics(&self) -> Vec<Statistic> {
        self.carried.take_statistics()
    }

    /// Calls `handler` for each diagnostic from now on, in place of the one before, when it is given;
    /// they are kept as well. If it panics, a warning says so.
    pub fn on_diagnostic(&self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) {
        self.diagnostics.handle(Arc::new(handler));
    }
}

/// Has MLIR ask a token before each pass and pattern, until it is dropped.
struct Stopping<'a>(&'a Context);

impl<'a> Stopping<'a> {
    fn new(context: &'a Context, cancel: &'a Cancel) -> Self {
        unsafe extern "C" fn stop(user: *mut c_void) -> bool {
            // SAFETY: `user` is the token, which outlives this.
            unsafe { (*user.cast::<Cancel>()).is_cancelled() }
        }
        let user = std::ptr::from_ref(cancel).cast_mut().cast();
        // SAFETY: the context is live, and the token is until this is dropped.
        unsafe { ffi::phlContextSetStop(context.to_raw(), Some(stop), user) };
        Self(context)
    }
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is live.
        unsafe { ffi::phlContextSetStop(self.0.to_raw(), None, std::ptr::null_mut()) };
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
