//! A session: the context, its dialects, and the diagnostics of what runs in it.

use crate::{
    Error, Result, ffi, ir, pass,
    target::{Registry, TargetKind},
};
use melior::{
    Context,
    diagnostic::{Diagnostic, DiagnosticSeverity},
    dialect::DialectRegistry,
    ir::Module,
    pass::PassManager,
    utility::parse_pass_pipeline,
};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

/// What an embedder holds. Two sessions are independent of each other; the only thing that they
/// share is MLIR's registry of passes.
#[derive(Debug)]
pub struct Session {
    context: Context,
    diagnostics: Arc<Mutex<Vec<String>>>,
    /// Target kinds of the embedder. The context knows the address, so that passes find them.
    kinds: Box<Kinds>,
}

/// Target kinds at an address that stays.
#[derive(Debug, Default)]
struct Kinds(Vec<Arc<TargetKind>>);

impl Session {
    /// Creates a context with upstream's and our dialects, and makes all passes known.
    pub fn new() -> Self {
        pass::register_all();
        let registry = DialectRegistry::new();
        // SAFETY: the registry is live; the call fills it.
        unsafe { ffi::phlRegisterDialects(registry.to_raw()) };
        let context = Context::new_with_registry(&registry, true);
        // Loaded up front: IR of a dialect that is not loaded cannot be built or parsed.
        context.load_all_available_dialects();
        let diagnostics = Arc::new(Mutex::new(vec![]));
        let sink = diagnostics.clone();
        context.attach_diagnostic_handler(move |diagnostic| {
            record(&diagnostic, &sink);
            true
        });
        let kinds: Box<Kinds> = Box::default();
        // SAFETY: the box keeps its address, and lives as long as the context.
        unsafe {
            ffi::phlContextSetTargets(context.to_raw(), std::ptr::from_ref(&*kinds).cast());
        }
        Self { context, diagnostics, kinds }
    }

    /// The MLIR context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Adds a target kind to those that specs may name in this session: one read from a manifest
    /// ([`crate::target::manifest::parse`]), with Rust hooks ([`TargetKind::with_hooks`]). Its name
    /// must be new.
    pub fn add_target(&mut self, kind: TargetKind) -> Result<()> {
        let mut registry = Registry::builtin()?;
        for known in &self.kinds.0 {
            registry.add_shared(known.clone())?;
        }
        let kind = Arc::new(kind);
        registry.add_shared(kind.clone())?;
        self.kinds.0.push(kind);
        Ok(())
    }

    /// Parses textual or bytecode IR; `name` stands for the file in locations. Operations need not be
    /// inside of a `module`.
    pub fn parse(&self, bytes: &[u8], name: &str) -> Result<Module<'_>> {
        ir::parse_module(&self.context, bytes, name)
            .ok_or_else(|| self.failure(&format!("{name} is not valid MLIR")))
    }

    /// Reads textual or bytecode IR.
    pub fn parse_file(&self, path: &Path) -> Result<Module<'_>> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read", path, e))?;
        self.parse(&bytes, &path.to_string_lossy())
    }

    /// Runs a textual pipeline anchored on `builtin.module`, and verifies the result.
    pub fn run_pipeline(&self, module: &Module<'_>, pipeline: &str) -> Result<()> {
        self.run_pipeline_with(module, pipeline, None, None)
    }

    /// As [`Session::run_pipeline`]; when a pass fails, `reproducer` gets the IR and the pipeline.
    /// `observer` is told about each pass.
    pub fn run_pipeline_with(
        &self,
        module: &Module<'_>,
        pipeline: &str,
        reproducer: Option<&Path>,
        observer: Option<&pass::PassObserver<'_>>,
    ) -> Result<()> {
        // Declared before the manager, which looks at it until it is dropped.
        let observer = observer.as_ref();
        let manager = PassManager::new(&self.context);
        manager.enable_verifier(true);
        if let Some(path) = reproducer {
            crate::stage::enable_reproducer(&manager, path);
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
        // SAFETY: the module outlives the call.
        let ok = unsafe {
            mlir_sys::mlirPassManagerRunOnOp(manager.to_raw(), module.as_operation().to_raw())
        };
        if ok.value == 0 {
            return Err(self.failure("the pipeline failed"));
        }
        Ok(())
    }

    /// The errors collected since the last call, as one [`Error`]; `fallback` when there are none.
    pub fn failure(&self, fallback: &str) -> Error {
        let mut lines = self.diagnostics.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if lines.is_empty() {
            return Error::internal(fallback);
        }
        Error::Diagnostics(std::mem::take(&mut *lines).join("\n"))
    }

    /// Forgets diagnostics collected so far, for a caller that tried something on purpose.
    pub fn clear_diagnostics(&self) {
        self.diagnostics.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

/// The target kinds that the session of a context has been given; none for other contexts.
pub(crate) fn kinds_of(context: &Context) -> &[Arc<TargetKind>] {
    // SAFETY: what a session sets lives as long as its context, and changes only while the session
    // is borrowed alone, so that nothing of the context is in use.
    unsafe {
        let kinds = ffi::phlContextTargets(context.to_raw()).cast::<Kinds>();
        kinds.as_ref().map_or(&[], |kinds| kinds.0.as_slice())
    }
}

fn record(diagnostic: &Diagnostic<'_>, sink: &Mutex<Vec<String>>) {
    if !matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
        return;
    }
    let mut text = format!("{}: {diagnostic}", place(diagnostic));
    for index in 0..diagnostic.note_count() {
        if let Ok(note) = diagnostic.note(index) {
            // MLIR adds the whole operation as a note, which may be megabytes of text.
            let note_text = note.to_string();
            if !note_text.starts_with("see current operation") {
                text.push_str(&format!("\n  note: {note_text}"));
            }
        }
    }
    sink.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
}

/// A location without MLIR's `loc(...)` around it.
fn place(diagnostic: &Diagnostic<'_>) -> String {
    let text = diagnostic.location().to_string();
    let inner = text.strip_prefix("loc(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
    inner.replace('"', "")
}
