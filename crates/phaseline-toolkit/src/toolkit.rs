//! A compiler as one value: its dialects and passes, from which sessions and tools are made.

#[doc(hidden)]
pub mod plugin;

#[cfg(feature = "jit")]
use crate::session::{self, Callable, HostFunction};
use crate::{
    Error, Phases, Result, Session, driver, ffi,
    ir::{
        Attribute, Op, Type, Val,
        body::{self, Bodies, Body, Folded},
        context::Carried,
        rewrite::Rule,
        view::OpView,
    },
    pass::{self, Pass, RunPass},
    session::LeftOut,
    upstream::Upstream,
};
use melior::{dialect::DialectRegistry, ir::Module};
use std::{
    any::Any,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Once},
};

/// The option of the pass driver that prints statistics.
const STATISTICS: &str = "-mlir-pass-statistics";

/// A dialect that a toolkit registers.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    handle: mlir_sys::MlirDialectHandle,
    infers_with_care: bool,
    is_inlined: bool,
}

// SAFETY: a handle is a table of functions, which lives as long as the process.
unsafe impl Send for Dialect {}
// SAFETY: as above.
unsafe impl Sync for Dialect {}

impl Dialect {
    /// The dialect of a handle of MLIR's C API, as `mlirGetDialectHandle__NAME__` gives it.
    ///
    /// # Safety
    /// The handle is one that MLIR's macro `MLIR_DEFINE_CAPI_DIALECT_REGISTRATION` defines.
    pub const unsafe fn from_raw(handle: mlir_sys::MlirDialectHandle) -> Self {
        Self { handle, infers_with_care: false, is_inlined: false }
    }

    /// Has operations that are created with inferred types trust the inference of the dialect.
    /// Operands and attributes are not verified before.
    ///
    /// # Safety
    /// The inference of each operation fails on operands and attributes that it cannot read.
    #[must_use]
    pub const unsafe fn infers_with_care(self) -> Self {
        Self { infers_with_care: true, ..self }
    }

    /// Has the pass `inline` take functions with operations of the dialect to where they are called. A dialect that is
    /// declared in ODS alone stays in its functions otherwise.
    #[must_use]
    pub const fn inlined(self) -> Self {
        Self { is_inlined: true, ..self }
    }

    fn raw_namespace(self) -> mlir_sys::MlirStringRef {
        // SAFETY: the handle is valid, as `from_raw` demands.
        unsafe { mlir_sys::mlirDialectHandleGetNamespace(self.handle) }
    }

    fn namespace(self) -> String {
        // SAFETY: MLIR gives a name that lives as long as the process.
        unsafe { crate::ir::text(self.raw_namespace()) }
    }
}

/// A verifier of operations, by one of their views. An operation that its view does not fit has errors of its own.
fn of_view<'x, V: OpView<'x>>(
    verify: impl for<'c> Fn(V::At<'c>) -> Result<(), String> + Send + Sync + 'static,
) -> impl for<'c> Fn(Op<'c>) -> Result<(), String> + Send + Sync + 'static {
    move |op| <V::At<'_> as OpView<'_>>::of(op).map_or(Ok(()), &verify)
}

/// The error of a plugin in C++ where it is no pass driver that loads it.
fn cpp(path: &Path) -> Error {
    Error::invalid(format!(
        "the plugin '{}' cannot be loaded: it is in C++, and only the pass driver loads these ('opt')",
        path.display()
    ))
}

/// The dialects and passes of a compiler: sessions and tools are made of it.
///
/// Passes go into MLIR's own registry, which all toolkits of a process share.
#[derive(Clone)]
pub struct Toolkit {
    title: String,
    /// Adds upstream's dialects to a registry.
    all: Option<unsafe extern "C" fn(mlir_sys::MlirDialectRegistry)>,
    /// Parts of upstream.
    parts: Vec<Upstream>,
    left_out: Option<LeftOut>,
    /// Makes the value that contexts carry.
    user: Option<Arc<dyn Fn() -> Box<dyn Any + Send + Sync> + Send + Sync>>,
    dialects: Vec<Dialect>,
    bodies: Bodies,
    /// Files of plugins that are in it.
    plugins: Vec<PathBuf>,
    trusts: bool,
    #[cfg_attr(not(feature = "driver"), allow(dead_code, reason = "the driver runs them"))]
    phases: Option<Phases>,
    #[cfg_attr(not(feature = "driver"), allow(dead_code, reason = "the driver calls it"))]
    runner: Option<Runner>,
    #[cfg(feature = "jit")]
    host: Vec<HostFunction>,
}

/// Calls a function of a module in this process.
type Runner = unsafe fn(&Session, &Module<'_>, &str, &[String]) -> Result<Option<String>>;

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.dialects.iter().map(|dialect| dialect.namespace()).collect();
        let mut f = f.debug_struct("Toolkit");
        f.field("title", &self.title).field("dialects", &names).finish_non_exhaustive()
    }
}

impl Toolkit {
    /// A toolkit with MLIR's `builtin` dialect alone. `title` is the first line of the help of its tools.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            all: None,
            parts: vec![],
            left_out: None,
            user: None,
            dialects: vec![],
            bodies: Bodies::new(),
            plugins: vec![],
            trusts: false,
            phases: None,
            runner: None,
            #[cfg(feature = "jit")]
            host: vec![],
        }
    }

    /// Changes the first line of the help of its tools.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Has the contexts of sessions and tools carry a value, which passes find by [`crate::ir::user`].
    #[must_use]
    pub fn carrying<T: Any + Clone + Send + Sync>(mut self, value: T) -> Self {
        self.user = Some(Arc::new(move || Box::new(value.clone())));
        self
    }

    /// Adds all of upstream's dialects and passes, which take 160 MB of a program. Parts that the toolkit has are among them.
    // Inlined, so that a program that does not call this does not link them.
    #[inline]
    #[must_use]
    pub fn all_upstream(self) -> Self {
        self.with_upstream(ffi::phlRegisterUpstreamDialects, ffi::phlRegisterUpstreamPasses)
    }

    /// Adds what two functions of MLIR register.
    #[doc(hidden)]
    #[must_use]
    pub fn with_upstream(
        mut self,
        dialects: unsafe extern "C" fn(mlir_sys::MlirDialectRegistry),
        passes: unsafe extern "C" fn(),
    ) -> Self {
        static PASSES: Once = Once::new();
        // SAFETY: fills MLIR's registry, once.
        PASSES.call_once(|| pass::writing(|| unsafe { passes() }));
        self.all = Some(dialects);
        self
    }

    /// Adds parts of upstream: `toolkit.upstream([upstream::arith(), upstream::func()])`.
    #[must_use]
    pub fn upstream(mut self, parts: impl IntoIterator<Item = Upstream>) -> Self {
        self.parts.extend(parts);
        self
    }

    /// Has messages about passes and dialects that the toolkit does not have name the program that has them.
    #[doc(hidden)]
    #[must_use]
    pub fn left_out(mut self, left_out: LeftOut) -> Self {
        self.left_out = Some(left_out);
        self
    }

    /// Adds a dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    /// Adds a pass.
    ///
    /// # Errors
    /// Another pass of the process has the name.
    pub fn pass(self, pass: &'static Pass) -> Result<Self> {
        self.passes([pass])
    }

    /// Adds several passes.
    ///
    /// # Errors
    /// As for [`Toolkit::pass`].
    pub fn passes(self, passes: impl IntoIterator<Item = &'static Pass>) -> Result<Self> {
        passes.into_iter().try_for_each(pass::register)?;
        Ok(self)
    }

    /// Adds a pass that is a type.
    ///
    /// # Errors
    /// As for [`Toolkit::pass`].
    pub fn run_pass<T: RunPass>(self) -> Result<Self> {
        pass::register_type::<T>()?;
        Ok(self)
    }

    /// Gives the verifier of an operation, which ODS declares (`hasVerifier`): it says what is wrong.
    #[must_use]
    pub fn verifier<'x, V: OpView<'x>>(
        mut self,
        verify: impl for<'c> Fn(V::At<'c>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.body::<V>().verify = Some(Arc::new(of_view::<V>(verify)));
        self
    }

    /// Gives the verifier of an operation's regions (`hasRegionVerifier`), which runs behind those of what is in them.
    #[must_use]
    pub fn region_verifier<'x, V: OpView<'x>>(
        mut self,
        verify: impl for<'c> Fn(V::At<'c>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.body::<V>().regions = Some(Arc::new(of_view::<V>(verify)));
        self
    }

    /// Gives the fold of an operation with one result (`hasFolder`), by those of its operands that are constant. For
    /// folds to constants the dialect says `hasConstantMaterializer`.
    #[must_use]
    pub fn fold<'x, V: OpView<'x>>(
        mut self,
        fold: impl for<'c> Fn(V::At<'c>, &[Option<Attribute<'c>>]) -> Option<Folded<'c>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.body::<V>().fold = Some(Arc::new(move |op, operands| {
            <V::At<'_> as OpView<'_>>::of(op).and_then(|view| fold(view, operands))
        }));
        self
    }

    /// Gives the types of an operation's results, by its operands, and by its attributes as a dictionary
    /// (`DeclareOpInterfaceMethods<InferTypeOpInterface>`). MLIR asks where an operation is made, and where it is verified;
    /// passes refine shapes by it ([`crate::pass::PassCx::infer_types`]). With `InferTypeOpAdaptorWithIsCompatible` results
    /// may say less of their shapes than is inferred.
    #[must_use]
    pub fn infer<'x, V: OpView<'x>>(
        mut self,
        infer: impl for<'c> Fn(&[Val<'c>], Attribute<'c>) -> Result<Vec<Type<'c>>, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.body::<V>().infer = Some(Arc::new(infer));
        self
    }

    /// Adds rules to those that MLIR's canonicalizer has; their operations say `hasCanonicalizer`.
    #[must_use]
    pub fn canonicalize(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        for rule in rules {
            self.bodies.entry(rule.root.to_owned()).or_default().rules.push(rule);
        }
        self
    }

    fn body<'x, V: OpView<'x>>(&mut self) -> &mut Body {
        self.bodies.entry(V::INFO.name.to_owned()).or_default()
    }

    /// Has effects of operations told without a look at whether they are valid, for a compiler whose passes ask of valid
    /// ones only.
    #[cfg(feature = "unchecked")]
    #[doc(hidden)]
    #[must_use]
    pub fn trust_operations(mut self) -> Self {
        self.trusts = true;
        self
    }

    /// Names a pipeline: it is run as `--NAME` by the pass driver, and as `NAME` in pipeline text. `text` is an MLIR
    /// pipeline on `builtin.module`.
    ///
    /// # Errors
    /// A pass or another pipeline of the process has the name, or the text is not on `builtin.module`.
    pub fn pipeline(self, name: &str, summary: &str, text: &str) -> Result<Self> {
        let passes = text.trim().strip_prefix("builtin.module(").and_then(|t| t.strip_suffix(')'));
        let passes = passes.ok_or_else(|| {
            Error::invalid(format!("the pipeline '{name}' is to be builtin.module(...)"))
        })?;
        pass::register_pipeline(name, summary, passes)?;
        Ok(self)
    }

    /// Adds the phases of the compiler, which [`Toolkit::main`] runs.
    ///
    /// # Errors
    /// The pipeline of a phase is not one of `builtin.module`.
    pub fn phases(mut self, phases: Phases) -> Result<Self> {
        phases.sections()?;
        self.phases = Some(phases);
        Ok(self)
    }

    /// Has `NAME FILE --run FUNCTION` compile and run a function of what the last phase made, in a process of its own. The
    /// phases end in the LLVM dialect. A program grows by LLVM's code generator, some 30 MB.
    #[cfg(feature = "jit")]
    #[must_use]
    pub fn jit(mut self) -> Self {
        self.runner = Some(session::run);
        self
    }

    /// Gives functions that run a function of the program, to call by a name: `extern "C"`, of up to four `i32`, `i64`, `f32` or
    /// `f64`. The module declares it with the same type. One that panics ends the process.
    ///
    /// ```
    /// # use phaseline_toolkit::Toolkit;
    /// extern "C" fn half(x: f64) -> f64 {
    ///     x / 2.0
    /// }
    /// let toolkit = Toolkit::new("my compiler").host("half", half as extern "C" fn(f64) -> f64);
    /// ```
    #[cfg(feature = "jit")]
    #[must_use]
    pub fn host(mut self, name: &str, function: impl Callable) -> Self {
        self.host.push(HostFunction::new(name, function));
        self
    }

    /// Adds the dialects and passes of a plugin in Rust, a library whose entry is [`crate::plugin!`]. The tools of a toolkit do
    /// so for `--load-pass-plugin FILE` and `--load-dialect-plugin FILE`.
    ///
    /// # Errors
    /// The file is no plugin, or one of another compiler or version of this crate. A pass or a dialect of the program has a
    /// name that is in the plugin. Its function failed. The program was not built to load plugins (`loads_rust_plugins` of
    /// phaseline-build).
    pub fn plugin(mut self, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match self.add_plugin(path)? {
            true => Ok(self),
            false => Err(cpp(path)),
        }
    }

    /// Adds what a plugin has; false if it is one in C++.
    fn add_plugin(&mut self, path: &Path) -> Result<bool> {
        let Some(given) = plugin::load(path)? else { return Ok(false) };
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.plugins.contains(&file) {
            return Ok(true);
        }
        let taken = |kind: &str, name: &str| {
            Error::invalid(format!(
                "the plugin '{}' cannot be loaded: the {kind} '{name}' is the program's, or another plugin's, already",
                path.display()
            ))
        };
        if !given.dialects.is_empty() {
            let context = melior::Context::new();
            context.append_dialect_registry(&self.registry());
            for dialect in &given.dialects {
                // SAFETY: the context is live, and so is the name.
                let known = unsafe {
                    let name = dialect.raw_namespace();
                    mlir_sys::mlirContextGetOrLoadDialect(context.to_raw(), name)
                };
                if !known.ptr.is_null() {
                    return Err(taken("dialect", &dialect.namespace()));
                }
            }
        }
        if let Some(name) = given.bodies.keys().find(|name| self.bodies.contains_key(*name)) {
            return Err(taken("code of the operation", name));
        }
        self.plugins.push(file);
        self.all = self.all.or(given.all);
        self.parts.extend(given.parts);
        self.dialects.extend(given.dialects);
        self.bodies.extend(given.bodies);
        Ok(true)
    }

    /// The part of the toolkit that a plugin gives.
    fn into_given(self) -> Result<plugin::Given> {
        #[cfg(feature = "jit")]
        let has_host = !self.host.is_empty();
        #[cfg(not(feature = "jit"))]
        let has_host = false;
        if self.phases.is_some() || self.runner.is_some() || has_host {
            return Err(Error::invalid(
                "phases, jit and host are the program's: a plugin has dialects, passes and pipelines",
            ));
        }
        let Self { all, parts, dialects, bodies, .. } = self;
        Ok(plugin::Given { all, parts, dialects, bodies })
    }

    /// The toolkit with the plugins in Rust that arguments name, and the places of those arguments. Plugins in C++ are the pass
    /// driver's alone.
    fn plugged(&self, arguments: &[OsString], takes_cpp: bool) -> Result<(Self, Vec<usize>)> {
        let (mut toolkit, mut places) = (self.clone(), vec![]);
        for named in driver::plugins(arguments) {
            let path = Path::new(&named.path);
            if toolkit.add_plugin(path)? {
                places.extend(named.at);
            } else if !takes_cpp {
                return Err(cpp(path));
            }
        }
        Ok((toolkit, places))
    }

    /// The main function of a program `NAME` with the arguments of the process: `NAME opt ...` is the pass driver,
    /// `NAME lsp ...` the language server, and `NAME FILE` runs the phases on a file and prints the IR. A program whose
    /// name ends with `-opt` or `-lsp-server` is that tool.
    #[cfg(feature = "driver")]
    pub fn main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        let arguments: Vec<_> = arguments.collect();
        if let Some(code) = self.tool_main(&arguments) {
            return code;
        }
        match &self.phases {
            Some(phases) => {
                // Another process, for `--run`, has them as well.
                let toolkit = match self.plugged(&arguments, false) {
                    Ok((toolkit, _)) => toolkit,
                    Err(error) => return driver::report(&error),
                };
                let runner = self.runner.map(|run| {
                    move |session: &Session, module: &Module<'_>, name: &str, texts: &[String]| {
                        // SAFETY: the driver calls this in a process for the function alone.
                        unsafe { run(session, module, name, texts) }
                    }
                });
                let compiler = driver::Compiler {
                    title: &self.title,
                    session: &|| toolkit.session(),
                    phases,
                    runner: runner.as_ref().map(|runner| runner as _),
                };
                driver::compile_main(&compiler, arguments)
            }
            None => {
                let program = arguments.first().map(|name| name.to_string_lossy());
                let program = program.unwrap_or_default();
                driver::report(&Error::invalid(format!(
                    "{program} has no phases: call it as {program} opt or {program} lsp"
                )))
            }
        }
    }

    /// Runs the pass driver or the language server if the arguments of a process call it, as [`Toolkit::main`] says; none if
    /// they call neither.
    #[cfg(feature = "driver")]
    pub fn tool_main(&self, arguments: &[OsString]) -> Option<ExitCode> {
        let (program, rest) = arguments.split_first()?;
        let word = rest.first().map(|word| word.to_string_lossy());
        let words = |skipped: usize| {
            std::iter::once(program)
                .chain(&rest[skipped..])
                .cloned()
                .collect::<Vec<_>>()
                .into_iter()
        };
        let program = program.to_string_lossy();
        match word.as_deref() {
            Some("opt") => Some(self.opt_main(words(1))),
            Some("lsp") => Some(self.lsp_main(words(1))),
            _ if program.ends_with("-opt") => Some(self.opt_main(words(0))),
            _ if program.ends_with("-lsp-server") => Some(self.lsp_main(words(0))),
            _ => None,
        }
    }

    /// A session with the dialects.
    pub fn session(&self) -> Session {
        let mut session = Session::create(&self.registry(), self.carried());
        session.left_out = self.left_out;
        #[cfg(feature = "jit")]
        session.host.clone_from(&self.host);
        session
    }

    fn registry(&self) -> DialectRegistry {
        let registry = DialectRegistry::new();
        // Parts of upstream register their passes, too.
        // SAFETY: the registry is live, and the handles are valid.
        pass::writing(|| unsafe {
            if let Some(register) = self.all {
                register(registry.to_raw());
            }
            for Upstream(register) in self.parts.iter().filter(|_| self.all.is_none()) {
                register(registry.to_raw());
            }
            for dialect in &self.dialects {
                mlir_sys::mlirDialectHandleInsertDialect(dialect.handle, registry.to_raw());
                if dialect.is_inlined {
                    ffi::phlRegistryInline(registry.to_raw(), dialect.raw_namespace());
                }
            }
        });
        registry
    }

    fn carried(&self) -> Carried {
        let user = self.user.as_ref().map_or_else(|| Box::new(()) as Box<_>, |user| user());
        let careful = self.dialects.iter().filter(|dialect| dialect.infers_with_care);
        body::install();
        let careful = careful.map(|dialect| dialect.namespace()).collect();
        Carried::new(user, careful, self.bodies.clone(), self.trusts)
    }

    /// Runs the pass driver, as `mlir-opt` is, with the arguments of a process. `FILE --reduce-with COMMAND` leaves out of a
    /// file what can be left out while a command succeeds on it ([`Session::reduce`]).
    pub fn opt_main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        self.main_with(arguments.collect(), true, |toolkit, arguments| {
            if driver::is_asked(&arguments) {
                return driver::reduce_main(&toolkit.session(), &arguments);
            }
            toolkit.tool(arguments, driver::opt_main)
        })
    }

    /// Runs the language server, as `mlir-lsp-server` is, with the arguments of a process.
    pub fn lsp_main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        self.main_with(arguments.collect(), false, |toolkit, arguments| {
            toolkit.tool(arguments, driver::lsp_main)
        })
    }

    /// Runs a tool with the plugins that its arguments name.
    fn main_with(
        &self,
        arguments: Vec<OsString>,
        takes_cpp: bool,
        main: impl FnOnce(&Self, Vec<OsString>) -> ExitCode,
    ) -> ExitCode {
        match self.plugged(&arguments, takes_cpp) {
            Ok((toolkit, places)) => {
                let others = arguments.into_iter().enumerate();
                let others = others.filter(|(place, _)| !places.contains(place));
                main(&toolkit, others.map(|(_, argument)| argument).collect())
            }
            Err(error) => driver::report(&error),
        }
    }

    fn tool(
        &self,
        arguments: Vec<OsString>,
        main: fn(&str, &DialectRegistry, Vec<OsString>) -> ExitCode,
    ) -> ExitCode {
        let registry = self.registry();
        // The contexts of a tool live until the process ends.
        let carried: &'static Carried = Box::leak(Box::new(self.carried()));
        // SAFETY: it lives for ever.
        unsafe { ffi::phlRegistrySetUser(registry.to_raw(), std::ptr::from_ref(carried).cast()) };
        let counts = arguments.iter().any(|one| one.to_string_lossy().ends_with(STATISTICS));
        let code = main(&self.title, &registry, arguments);
        if counts {
            driver::print_statistics(&carried.take_statistics());
        }
        match carried.has_complained() {
            true => ExitCode::FAILURE,
            false => code,
        }
    }
}
