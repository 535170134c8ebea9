//! For build scripts: where LLVM is, the C++ of dialects and of C APIs, the typed views of their operations in Rust.
//!
//! ```no_run
//! fn main() -> phaseline_build::Result<()> {
//!     phaseline_build::Build::new()?
//!         .include("dialects")
//!         .dialect("dialects/toy", "toy", "Toy")
//!         .compile("toy_dialect")
//! }
//! ```

#![allow(clippy::print_stdout, reason = "Cargo reads what a build script prints")]
#![allow(clippy::disallowed_methods, reason = "Cargo passes its arguments in the environment")]

pub mod find_llvm;
mod glue;
pub(crate) mod op_views;
mod plugins;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

/// The outcome of a step of a build; the error is for people.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Generators of mlir-tblgen: flag and suffix of the file.
const GENERATORS: &[(&str, &str)] = &[
    ("-gen-dialect-decls", "Dialect.h.inc"),
    ("-gen-dialect-defs", "Dialect.cpp.inc"),
    ("-gen-op-decls", "Ops.h.inc"),
    ("-gen-op-defs", "Ops.cpp.inc"),
    ("-gen-typedef-decls", "Types.h.inc"),
    ("-gen-typedef-defs", "Types.cpp.inc"),
    ("-gen-attrdef-decls", "Attrs.h.inc"),
    ("-gen-attrdef-defs", "Attrs.cpp.inc"),
    ("-gen-enum-decls", "Enums.h.inc"),
    ("-gen-enum-defs", "Enums.cpp.inc"),
];

/// A dialect that is declared in ODS.
struct Dialect {
    /// The folder with `STEMOps.td`, which includes all others there, and C++.
    folder: PathBuf,
    /// The `.td` file that includes all others.
    source: PathBuf,
    name: String,
    stem: String,
}

/// The C++ of a package that uses MLIR, and the Rust that is made of its declarations.
pub struct Build {
    prefix: PathBuf,
    out: PathBuf,
    includes: Vec<PathBuf>,
    dialects: Vec<Dialect>,
    folders: Vec<PathBuf>,
    bound: Option<Bound>,
    plugins: plugins::Plugins,
}

/// C headers of which Rust declarations are made.
struct Bound {
    folder: PathBuf,
    functions: String,
    types: String,
}

impl Build {
    /// A build in Cargo's `OUT_DIR` with the LLVM that [`find_llvm`] finds.
    ///
    /// # Errors
    /// No build script runs, or no LLVM 22 with MLIR is found; the message names the packages.
    pub fn new() -> Result<Self> {
        println!("cargo:rerun-if-changed=build.rs");
        for name in find_llvm::VARIABLES {
            println!("cargo:rerun-if-env-changed={name}");
        }
        let path: Vec<_> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
        let usual = Path::new("/usr/lib/llvm-22");
        let prefix = find_llvm::find(|name| env::var_os(name), &path, usual)?;
        Ok(Self {
            prefix,
            out: PathBuf::from(env::var("OUT_DIR")?),
            includes: vec![],
            dialects: vec![],
            folders: vec![],
            bound: None,
            plugins: plugins::Plugins::default(),
        })
    }

    /// The installation of LLVM.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The version of LLVM: `22.1.8`.
    ///
    /// # Errors
    /// Its `llvm-config` does not say.
    pub fn version(&self) -> Result<String> {
        Ok(find_llvm::version(&self.prefix)?)
    }

    /// Adds a folder in which ODS and C++ look for what they include.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.includes.push(folder.into());
        self
    }

    /// Adds a dialect `name` with classes that begin with `stem`. `folder` has `STEMOps.td`, from which
    /// C++ (`NAME/STEMOps.h.inc` and its like) and Rust (`NAME_views.rs`) are made, and its C++.
    #[must_use]
    pub fn dialect(
        mut self,
        folder: impl Into<PathBuf>,
        name: impl Into<String>,
        stem: impl Into<String>,
    ) -> Self {
        let (folder, stem) = (folder.into(), stem.into());
        self.folders.push(folder.clone());
        let source = folder.join(format!("{stem}Ops.td"));
        self.dialects.push(Dialect { folder, source, name: name.into(), stem });
        self
    }

    /// Adds a dialect that is declared in one `.td` file and needs no C++ of its own. The code that registers its
    /// operations, types and attributes is made. The dialect's record is `STEM_Dialect`, and its C API `NAME`.
    ///
    /// # Errors
    /// The declaration is not valid, or has bodies that only C++ can give (custom syntax). Verifiers, folds and
    /// canonicalisation patterns have theirs in Rust: the toolkit is given them.
    pub fn ods(mut self, file: impl Into<PathBuf>, name: &str) -> Result<Self> {
        let file = file.into();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let include = folder.unwrap_or(Path::new(".")).to_owned();
        println!("cargo:rerun-if-changed={}", file.display());
        self.includes.push(include);
        let records = op_views::records(&self, &file)?;
        let dialect = glue::write(&self, &records, file, name)?;
        self.folders.push(dialect.folder.clone());
        self.dialects.push(dialect);
        Ok(self)
    }

    /// Adds a folder of C++.
    #[must_use]
    pub fn sources(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Has `capi.rs` made of the C headers of a folder: declarations of the functions and types whose
    /// names match these regular expressions. MLIR's own types are those of mlir-sys.
    #[must_use]
    pub fn bindings(mut self, folder: impl Into<PathBuf>, functions: &str, types: &str) -> Self {
        let (functions, types) = (functions.to_owned(), types.to_owned());
        self.bound = Some(Bound { folder: folder.into(), functions, types });
        self
    }

    /// Lets a program of the package load plugins, in Rust and in C++ (`--load-pass-plugin`, `--load-dialect-plugin`): all that
    /// it links of MLIR is theirs as well. It grows by a third, and by more where it has parts of upstream only, all of which
    /// come with it.
    #[must_use]
    pub fn loads_plugins(mut self, program: &str) -> Self {
        self.plugins.add(program, true);
        self
    }

    /// As [`Build::loads_plugins`], for plugins in Rust alone: theirs is MLIR's C API and C++ of its core. The program grows by
    /// 5 %.
    #[must_use]
    pub fn loads_rust_plugins(mut self, program: &str) -> Self {
        self.plugins.add(program, false);
        self
    }

    /// Has the package be a plugin, a `cdylib` with `phaseline_toolkit::plugin!`: MLIR and the toolkit's C++ are those of the
    /// program that loads it.
    #[must_use]
    pub fn plugin(mut self) -> Self {
        self.plugins.is_one = true;
        self
    }

    /// Gives programs and plugins the C functions of a folder's C++. Each program has them, but for those of the files named.
    #[doc(hidden)]
    #[must_use]
    pub fn shares(mut self, folder: &str, apart: &[&str]) -> Self {
        self.plugins.share(folder, apart);
        self
    }

    /// Makes all of it. The C++ goes into an archive of that name, which Cargo links.
    ///
    /// # Errors
    /// A declaration or C++ is not valid: the message has what the tool said.
    pub fn compile(self, archive: &str) -> Result<()> {
        for folder in self.includes.iter().chain(&self.folders) {
            println!("cargo:rerun-if-changed={}", folder.display());
        }
        for dialect in &self.dialects {
            self.generate(dialect)?;
            op_views::write(&self, dialect)?;
        }
        let objects = self.compile_sources(archive)?;
        plugins::link(&self, &objects)?;
        self.bind()
    }

    /// Flags for the folders of included files.
    fn include_flags(&self) -> impl Iterator<Item = String> {
        let all = self.includes.iter().cloned().chain([self.prefix.join("include")]);
        all.map(|folder| format!("-I{}", folder.display()))
    }

    /// Runs mlir-tblgen on one dialect. Outputs that did not change are left alone, so that the C++
    /// that includes them is not compiled again.
    fn generate(&self, dialect: &Dialect) -> Result<()> {
        let Dialect { folder, source, name, stem } = dialect;
        let made = self.out.join(name);
        fs::create_dir_all(&made)?;
        for (flag, suffix) in GENERATORS {
            let filter = if flag.contains("typedef") {
                Some("typedefs-dialect")
            } else if flag.contains("attrdef") {
                Some("attrdefs-dialect")
            } else if flag.contains("dialect") {
                Some("dialect")
            } else {
                None // One .td declares the operations and enums of one dialect only.
            };
            let filter = filter.map(|filter| format!("--{filter}={name}"));
            self.tblgen(flag, filter, source, &made.join(format!("{stem}{suffix}")))?;
        }
        // A large dialect keeps its operations in one .td per family, which STEMOps.td includes. Each
        // has C++ of its own: all operations in one file take minutes to compile.
        for path in files(folder) {
            let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let family = file.strip_prefix(stem).unwrap_or_default();
            let whole = ["", "Attrs", "Base", "Dialect", "Enums", "Ops", "Types"];
            if path.extension().is_some_and(|e| e == "td") && !whole.contains(&family) {
                let target = |suffix| made.join(format!("{file}.{suffix}"));
                self.tblgen("-gen-op-decls", None, &path, &target("h.inc"))?;
                self.tblgen("-gen-op-defs", None, &path, &target("cpp.inc"))?;
            }
        }
        Ok(())
    }

    /// Runs one generator of mlir-tblgen.
    fn tblgen(
        &self,
        flag: &str,
        filter: Option<String>,
        source: &Path,
        target: &Path,
    ) -> Result<()> {
        let mut command = Command::new(self.prefix.join("bin/mlir-tblgen"));
        command.arg(flag).args(self.include_flags()).arg(source).args(filter);
        let output = command.output()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("mlir-tblgen {flag} {}: {message}", source.display()).into());
        }
        if fs::read(target).ok().as_deref() != Some(&output.stdout[..]) {
            fs::write(target, &output.stdout)?;
        }
        Ok(())
    }

    /// Compiles every `.cpp` of the folders into one archive. Only files older than what they include,
    /// by the lists that the compiler left beside the objects, are compiled again. With MLIR's headers
    /// each takes many seconds. The compiler runs in `OUT_DIR`, so that ccache finds what another build,
    /// with other features say, compiled of the same text.
    fn compile_sources(&self, archive: &str) -> Result<Vec<PathBuf>> {
        let root = env::current_dir()?;
        let mut sources = vec![];
        let made = self.dialects.iter().map(|dialect| self.out.join(&dialect.name));
        let folders: std::collections::BTreeSet<_> =
            self.folders.iter().cloned().chain(made).collect();
        for folder in folders {
            let found = files(&folder).into_iter();
            sources.extend(found.filter(|path| path.extension().is_some_and(|e| e == "cpp")));
        }
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .std("c++17")
            .opt_level(1)
            .debug(false)
            .warnings(false)
            .flag("-fno-rtti")
            .flag("-fno-exceptions")
            .flag("-fvisibility-inlines-hidden")
            .flag("-Wall")
            .flag("-Wno-unused-parameter")
            .include(".")
            // Two builds in different folders give the same bytes.
            .flag(format!("-ffile-prefix-map={}=.", self.out.display()))
            .flag(format!("-ffile-prefix-map={}=.", root.display()))
            // MLIR's own headers are not ours to warn about.
            .flag(format!("-isystem{}", self.prefix.join("include").display()));
        for folder in &self.includes {
            build.include(root.join(folder));
        }
        let tool = build.get_compiler();
        let objects: Vec<_> = sources.iter().map(|source| self.object_path(source)).collect();
        let commands: Vec<_> = sources
            .iter()
            .zip(&objects)
            .filter(|(_, object)| self.is_stale(object))
            .map(|(source, object)| {
                let inside = source.strip_prefix(&self.out);
                let source = inside.map_or_else(|_| root.join(source), Path::to_owned);
                let mut command = tool.to_command();
                command.current_dir(&self.out).args(["-MMD", "-c"]);
                command.arg(source).arg("-o").arg(object);
                command
            })
            .collect();
        run_all(commands)?;
        if objects.is_empty() {
            return Ok(objects);
        }
        let mut all = cc::Build::new();
        objects.iter().for_each(|object| {
            all.object(object);
        });
        all.compile(archive);
        Ok(objects)
    }

    /// True if an object is older than a file that it was made of, or has no list of them. Names in the
    /// list are relative to `OUT_DIR`.
    fn is_stale(&self, object: &Path) -> bool {
        let Ok(rule) = fs::read_to_string(object.with_extension("d")) else { return true };
        let made = modified(object);
        let (_, list) = rule.split_once(": ").unwrap_or_default();
        let mut parts = list.split_whitespace().filter(|part| *part != "\\");
        parts.any(|part| {
            let part = self.out.join(part);
            !part.exists() || modified(&part) > made
        })
    }

    fn object_path(&self, source: &Path) -> PathBuf {
        let name = source.strip_prefix(&self.out).unwrap_or(source).with_extension("o");
        self.out.join(name.to_string_lossy().replace(['/', '\\'], "-"))
    }

    /// Writes `capi.rs`.
    fn bind(&self) -> Result<()> {
        let Some(Bound { folder, functions, types }) = &self.bound else { return Ok(()) };
        let headers = files(folder).into_iter();
        let includes: String = headers
            .filter(|path| path.extension().is_some_and(|e| e == "h"))
            .map(|path| format!("#include \"{}\"\n", path.display()))
            .collect();
        bindgen::builder()
            .header_contents("capi.h", &includes)
            .clang_arg("-I.")
            .clang_args(self.include_flags())
            .allowlist_function(functions)
            .allowlist_type(types)
            .blocklist_type("Mlir.*")
            .raw_line("use mlir_sys::*;")
            .default_enum_style(bindgen::EnumVariation::ModuleConsts)
            .generate()?
            .write_to_file(self.out.join("capi.rs"))?;
        Ok(())
    }
}

/// Runs commands, as many at a time as cargo runs jobs.
fn run_all(commands: Vec<Command>) -> Result<()> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1_usize);
    let (queue, failures) = (Mutex::new(commands), Mutex::new(vec![]));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(mut command) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                    let reason = match command.status() {
                        Ok(status) if status.success() => continue,
                        Ok(status) => status.to_string(),
                        Err(error) => error.to_string(),
                    };
                    if let Ok(mut failures) = failures.lock() {
                        failures.push(format!("{command:?}: {reason}"));
                    }
                }
            });
        }
    });
    failures.into_inner()?.pop().map_or(Ok(()), |failure| Err(failure.into()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|data| data.modified()).unwrap_or(std::time::SystemTime::UNIX_EPOCH)
}
