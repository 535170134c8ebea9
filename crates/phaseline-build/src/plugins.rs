//! The link of plugins in Rust with the programs that load them.
//!
//! A plugin is a library with Rust of its own, that of the toolkit among it, and without MLIR and the toolkit's C++. A stub that is
//! linked first says that these are in a library [`HOST`]; so nothing is taken out of the archives of mlir-sys and of the toolkit.
//! A program that loads plugins has this name itself, and exports what they use.

use crate::{Build, Result};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The name, for the dynamic linker, of a program that loads plugins.
const HOST: &str = "phaseline-host";

/// The variable with the folder of the lists of the toolkit's C functions.
const TOOLKIT: &str = "DEP_PHASELINE_TOOLKIT_SHARED";

/// The list of the toolkit's C functions, and that of those that each program has.
const LISTS: [&str; 2] = ["shared.txt", "shared-core.txt"];

/// Archives of MLIR and LLVM whose C++ each program has for plugins: that of the code which ODS declares.
const CORE: &[&str] = &[
    "LLVMSupport",
    "MLIRAnalysis",
    "MLIRAsmParser",
    "MLIRBytecodeOpInterface",
    "MLIRBytecodeReader",
    "MLIRBytecodeWriter",
    "MLIRCallInterfaces",
    "MLIRCastInterfaces",
    "MLIRControlFlowInterfaces",
    "MLIRDataLayoutInterfaces",
    "MLIRDestinationStyleOpInterface",
    "MLIRFunctionInterfaces",
    "MLIRIR",
    "MLIRIndexingMapOpInterface",
    "MLIRInferIntRangeInterface",
    "MLIRInferStridedMetadataInterface",
    "MLIRInferTypeOpInterface",
    "MLIRLoopLikeInterface",
    "MLIRMemorySlotInterfaces",
    "MLIRParallelCombiningOpInterface",
    "MLIRParser",
    "MLIRPass",
    "MLIRRewrite",
    "MLIRRewritePDL",
    "MLIRShapedOpInterfaces",
    "MLIRSideEffectInterfaces",
    "MLIRSubsetOpInterface",
    "MLIRSupport",
    "MLIRTransformUtils",
    "MLIRViewLikeInterface",
];

/// Archives of MLIR's C API that each program has for plugins. Of `MLIRCAPITransforms` it is what is no pass.
const CORE_API: &[&str] =
    &["MLIRCAPIIR", "MLIRCAPIInterfaces", "MLIRCAPIPDL", "MLIRCAPITransforms"];

/// The part of a package in plugins.
#[derive(Default)]
pub struct Plugins {
    /// Programs that load them; true for one whose plugins have all of MLIR that it links.
    programs: Vec<(String, bool)>,
    /// The package is one.
    pub is_one: bool,
    /// The folder with the C functions that are shared, and the files there that not every program links.
    shared: Option<(String, Vec<String>)>,
}

impl Plugins {
    pub fn add(&mut self, program: &str, all: bool) {
        self.programs.push((program.to_owned(), all));
    }

    pub fn share(&mut self, folder: &str, apart: &[&str]) {
        let apart = apart.iter().map(|name| (*name).to_owned()).collect();
        self.shared = Some((folder.to_owned(), apart));
    }
}

/// Tells linkers of plugins. `objects` are the package's own.
pub fn link(build: &Build, objects: &[PathBuf]) -> Result<()> {
    let Plugins { programs, is_one, shared } = &build.plugins;
    if let Some((folder, apart)) = shared {
        write_lists(build, objects, folder, apart)?;
    }
    if programs.is_empty() && !is_one {
        return Ok(());
    }
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "linux") {
        return Err("plugins are for Linux: the build script names some".into());
    }
    let folder = env::var_os(TOOLKIT).map(PathBuf::from).ok_or(
        "plugins, and programs that load them, depend on phaseline-toolkit: add it to [dependencies] of Cargo.toml",
    )?;
    let lists = LISTS.map(|name| folder.join(name));
    lists.iter().for_each(|list| println!("cargo:rerun-if-changed={}", list.display()));
    let [all, core] = [fs::read_to_string(&lists[0])?, fs::read_to_string(&lists[1])?];
    if *is_one {
        write_stub(build, objects, &all)?;
    }
    if !programs.is_empty() {
        let core = core_symbols(build, &core)?;
        programs.iter().try_for_each(|(program, all)| link_program(build, program, *all, &core))?;
    }
    Ok(())
}

/// Writes the lists of a package whose C functions are shared.
fn write_lists(build: &Build, objects: &[PathBuf], folder: &str, apart: &[String]) -> Result<()> {
    let is_apart = |object: &PathBuf| {
        let stem = object.file_stem().unwrap_or_default().to_string_lossy();
        let file = stem.strip_prefix(&format!("{folder}-"));
        file.is_none_or(|file| file.contains('-') || apart.iter().any(|name| name == file))
    };
    let core: Vec<_> = objects.iter().filter(|object| !is_apart(object)).cloned().collect();
    for (name, objects) in LISTS.iter().zip([objects, &core]) {
        let symbols = symbols(build, &["--defined-only"], objects)?;
        let functions = symbols.iter().filter(|name| !name.starts_with("_Z"));
        let text = functions.map(|name| format!("{name}\n")).collect();
        write_changed(&build.out.join(name), text)?;
    }
    println!("cargo:shared={}", build.out.display());
    Ok(())
}

/// Makes the stub that stands for the program, with all that the package may use of it.
fn write_stub(build: &Build, objects: &[PathBuf], toolkit: &str) -> Result<()> {
    let folder = library_folder(build)?;
    let api: Vec<_> = crate::files(&folder).into_iter().filter(|path| is_api(path)).collect();
    let mut names = symbols(build, &["--defined-only"], &api)?;
    names.retain(|name| name.starts_with("mlir"));
    names.extend(toolkit.lines().map(ToOwned::to_owned));
    // C++ of a dialect uses more than the C API.
    let own = symbols(build, &["--defined-only"], objects)?;
    let used = symbols(build, &["--undefined-only"], objects)?;
    let used = used.into_iter().filter(|name| name.contains("4mlir") || name.contains("4llvm"));
    names.extend(used.filter(|name| !own.contains(name)));
    let target = env::var("TARGET")?;
    let mut text =
        format!("--- !ifs-v1\nIfsVersion: 3.0\nSoName: {HOST}\nTarget: {target}\nSymbols:\n");
    names.iter().for_each(|name| text.push_str(&format!("  - {{ Name: {name}, Type: Func }}\n")));
    text.push_str("...\n");
    let (source, stub) = (build.out.join("host.ifs"), build.out.join("libphaseline_host.so"));
    fs::write(&source, text)?;
    let mut command = Command::new(build.prefix.join("bin/llvm-ifs"));
    let output = format!("--output-elf={}", stub.display());
    run(command.args(["--input-format=IFS", &output]).arg(source))?;
    println!("cargo:rustc-link-search=native={}", build.out.display());
    println!("cargo:rustc-link-lib=dylib=phaseline_host");
    Ok(())
}

/// The symbols that each program has for plugins, by the toolkit's part of them.
fn core_symbols(build: &Build, toolkit: &str) -> Result<BTreeSet<String>> {
    let folder = library_folder(build)?;
    let archives = |names: &[&str]| -> Vec<_> {
        let paths = names.iter().map(|name| folder.join(format!("lib{name}.a")));
        paths.filter(|path| path.is_file()).collect()
    };
    let mut names = symbols(build, &["--defined-only"], &archives(CORE_API))?;
    names.retain(|name| {
        name.starts_with("mlir")
            && !["mlirCreate", "mlirRegister", "mlirGetDialectHandle"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
    });
    let mut classes = symbols(build, &["--defined-only"], &archives(CORE))?;
    classes.retain(|name| name.contains("4mlir") || name.contains("4llvm"));
    names.extend(classes);
    names.extend(toolkit.lines().map(ToOwned::to_owned));
    Ok(names)
}

/// Has a program export what plugins use.
fn link_program(build: &Build, program: &str, all: bool, core: &BTreeSet<String>) -> Result<()> {
    let argument = |text: &str| println!("cargo:rustc-link-arg-bin={program}={text}");
    let wanted = build.out.join(format!("{program}-wanted.txt"));
    // A program with all has what others need to be given.
    let names = core.iter().filter(|name| !all || !name.starts_with("_Z"));
    write_changed(&wanted, names.map(|name| format!("-Wl,-u,{name}\n")).collect())?;
    argument(&format!("@{}", wanted.display()));
    argument(&format!("-Wl,-soname,{HOST}"));
    if all {
        argument("-rdynamic");
        return Ok(());
    }
    let exported = build.out.join(format!("{program}-exported.txt"));
    let names: String = core.iter().map(|name| format!("{name};\n")).collect();
    write_changed(&exported, format!("{{\n{names}}};\n"))?;
    argument(&format!("-Wl,--dynamic-list={}", exported.display()));
    Ok(())
}

/// True for an archive of MLIR's C API.
fn is_api(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("libMLIRCAPI") && name.ends_with(".a")
}

/// The folder of MLIR's archives.
fn library_folder(build: &Build) -> Result<PathBuf> {
    let folder = build.prefix.join("lib");
    match folder.join("libMLIRCAPIIR.a").is_file() {
        true => Ok(folder),
        false => Err(format!(
            "plugins are linked by the archives of MLIR, and {} has no libMLIRCAPIIR.a: install libmlir-22-dev",
            folder.display()
        )
        .into()),
    }
}

/// The external symbols of object files and archives.
fn symbols(build: &Build, options: &[&str], files: &[PathBuf]) -> Result<BTreeSet<String>> {
    if files.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut command = Command::new(build.prefix.join("bin/llvm-nm"));
    command.args(["--quiet", "--extern-only", "--format=just-symbols"]).args(options).args(files);
    let names = run(&mut command)?;
    let names = names.lines().map(str::trim);
    Ok(names
        .filter(|name| !name.is_empty() && !name.ends_with(':'))
        .map(ToOwned::to_owned)
        .collect())
}

/// Runs a program; gives its output.
fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_owned();
    let program = program.display();
    let output = command
        .output()
        .map_err(|error| format!("{program} cannot be run, which plugins need: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Writes a file, unless it is so already: Cargo looks at its time.
fn write_changed(path: &Path, text: String) -> Result<()> {
    if fs::read_to_string(path).ok().as_ref() != Some(&text) {
        fs::write(path, text)?;
    }
    Ok(())
}
