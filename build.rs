//! Builds the C++ of `dialects/` (ODS through mlir-tblgen, then the C++ compiler) and the Rust
//! bindings of its C API, and embeds the targets of `targets/` and the templates of new ones.

#![allow(clippy::disallowed_methods, reason = "Cargo passes its arguments in the environment")]

#[path = "dialects/find_llvm.rs"]
mod find_llvm;
#[path = "dialects/op_views.rs"]
mod op_views;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What mlir-tblgen generates for each dialect: flag, file suffix, and from which `.td`.
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

const DIALECTS: &[&str] = &["graph", "tir"];

fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=dialects");
    for name in find_llvm::VARIABLES {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let path: Vec<_> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let prefix = find_llvm::find(|name| env::var_os(name), &path, Path::new("/usr/lib/llvm-22"))?;
    for dialect in DIALECTS {
        generate(dialect, &prefix, &out)?;
    }
    op_views::write("graph", "Graph", &prefix, &out)?;
    op_views::write("tir", "Tir", &prefix, &out)?;
    compile(&prefix, &out)?;
    embed_targets(&out)?;
    embed_templates(&out)?;
    bind(&prefix, &out)
}

/// Runs mlir-tblgen on one dialect. Outputs that did not change are left alone, so that the C++
/// that includes them is not compiled again.
fn generate(dialect: &str, prefix: &Path, out: &Path) -> Result<()> {
    let stem = {
        let (first, rest) = dialect.split_at(1);
        first.to_uppercase() + rest
    };
    let source = format!("dialects/{dialect}/{stem}Ops.td");
    if !Path::new(&source).exists() {
        return Ok(());
    }
    let folder = out.join(dialect);
    fs::create_dir_all(&folder)?;
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
        let filter = filter.map(|filter| format!("--{filter}={dialect}"));
        tblgen(flag, filter, &source, &folder.join(format!("{stem}{suffix}")), prefix)?;
    }
    // A large dialect keeps its operations in one .td per family, which GraphOps.td includes. Each
    // has C++ of its own: all operations in one file take minutes to compile.
    for path in files(Path::new("dialects").join(dialect).as_path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let family = name.strip_prefix(&stem).unwrap_or_default();
        let whole = ["", "Attrs", "Base", "Dialect", "Enums", "Ops", "Types"];
        if path.extension().is_some_and(|e| e == "td") && !whole.contains(&family) {
            let source = path.to_string_lossy();
            let target = |suffix| folder.join(format!("{name}.{suffix}"));
            tblgen("-gen-op-decls", None, &source, &target("h.inc"), prefix)?;
            tblgen("-gen-op-defs", None, &source, &target("cpp.inc"), prefix)?;
        }
    }
    Ok(())
}

/// Runs one generator of mlir-tblgen.
fn tblgen(
    flag: &str,
    filter: Option<String>,
    source: &str,
    target: &Path,
    prefix: &Path,
) -> Result<()> {
    let mut command = Command::new(prefix.join("bin/mlir-tblgen"));
    command.arg(flag).arg("-Idialects").arg("-I").arg(prefix.join("include")).arg(source);
    command.args(filter);
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("mlir-tblgen {flag} {source}: {message}").into());
    }
    if fs::read(target).ok().as_deref() != Some(&output.stdout[..]) {
        fs::write(target, &output.stdout)?;
    }
    Ok(())
}

/// Compiles every `.cpp` below `dialects/` into one archive. Only files older than what they
/// include, by the lists that the compiler left beside the objects, are compiled again: with
/// MLIR's headers each takes many seconds. The compiler runs in `out`, so that ccache finds what another
/// build, with other features say, compiled of the same text.
fn compile(prefix: &Path, out: &Path) -> Result<()> {
    let mut sources = vec![];
    for folder in ["capi", "graph", "phl", "tir"] {
        let shared = [Path::new("dialects").join(folder), out.join(folder)];
        for path in shared.iter().flat_map(|folder| files(folder)) {
            if path.extension().is_some_and(|extension| extension == "cpp") {
                sources.push(path);
            }
        }
    }
    let root = env::current_dir()?;
    let mut build = cc::Build::new();
    for dialect in DIALECTS {
        if out.join(dialect).exists() {
            build.define(&format!("PHL_HAVE_{}", dialect.to_uppercase()), "1");
        }
    }
    let tool = build
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
        .include(root.join("dialects"))
        .include(".")
        // MLIR's own headers are not ours to warn about.
        .flag(format!("-isystem{}", prefix.join("include").display()))
        .get_compiler();
    let objects: Vec<_> = sources.iter().map(|source| object_path(source, out)).collect();
    let commands: Vec<_> = sources
        .iter()
        .zip(&objects)
        .filter(|(_, object)| is_stale(object, out))
        .map(|(source, object)| {
            let source =
                source.strip_prefix(out).map_or_else(|_| root.join(source), Path::to_owned);
            let mut command = tool.to_command();
            command.current_dir(out).args(["-MMD", "-c"]).arg(source).arg("-o").arg(object);
            command
        })
        .collect();
    run_all(commands)?;
    let mut archive = cc::Build::new();
    objects.iter().for_each(|object| {
        archive.object(object);
    });
    archive.compile("phaseline_dialects");
    Ok(())
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

/// Writes `targets.rs`, the table of the built-in targets: each folder of `targets/` with a
/// manifest, and the files in it that a manifest may name.
fn embed_targets(out: &Path) -> Result<()> {
    println!("cargo:rerun-if-changed=targets");
    let mut table = "const BUILTINS: &[Builtin] = &[\n".to_owned();
    for folder in files(Path::new("targets")) {
        if !folder.join("target.toml").is_file() {
            continue;
        }
        let embedded = files(&folder).into_iter().filter(|path| {
            let kind = path.extension().unwrap_or_default();
            path.is_file() && ["toml", "pipeline", "h", "c"].iter().any(|known| kind == *known)
        });
        let rows: String = embedded
            .map(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let path = path.to_string_lossy();
                format!(
                    "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{path}\"))),\n"
                )
            })
            .collect();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        table.push_str(&format!("({name:?}, &[\n{rows}]),\n"));
    }
    fs::write(out.join("targets.rs"), table + "];\n")?;
    embed_parts(out)
}

/// Writes `parts.rs`, the table of the parts of manifests in `targets/common`, which any may include.
fn embed_parts(out: &Path) -> Result<()> {
    let mut table = "const PARTS: &[(&str, &str)] = &[\n".to_owned();
    for path in files(Path::new("targets/common")) {
        if path.extension().is_some_and(|kind| kind == "toml") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let path = path.to_string_lossy();
            table.push_str(&format!(
                "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{path}\"))),\n"
            ));
        }
    }
    fs::write(out.join("parts.rs"), table + "];\n")?;
    Ok(())
}

/// Where the templates of new targets are: a folder for each, and `common` with the files that all
/// have unless they have their own.
const TEMPLATES: &str = "src/cli/new_target";

/// Writes `templates.rs`, the table of the templates of new targets and their files.
fn embed_templates(out: &Path) -> Result<()> {
    println!("cargo:rerun-if-changed={TEMPLATES}");
    let common = Path::new(TEMPLATES).join("common");
    let mut table = "const EMBEDDED: &[(&str, &[(&str, &str)])] = &[\n".to_owned();
    for folder in files(Path::new(TEMPLATES)).iter().filter(|folder| **folder != common) {
        let mut all = std::collections::BTreeMap::new();
        for base in [&common, folder] {
            for path in files_below(base) {
                let name = path.strip_prefix(base)?.to_string_lossy().into_owned();
                all.insert(name, path);
            }
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        table.push_str(&format!("({name:?}, &[\n"));
        for (name, path) in all {
            let path = path.to_string_lossy();
            table.push_str(&format!(
                "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{path}\"))),\n"
            ));
        }
        table.push_str("]),\n");
    }
    fs::write(out.join("templates.rs"), table + "];\n")?;
    Ok(())
}

/// All files in a folder and in those below it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut found): (Vec<_>, Vec<_>) =
        files(folder).into_iter().partition(|path| path.is_dir());
    folders.iter().for_each(|folder| found.extend(files_below(folder)));
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Whether an object is older than a file that it was made of, or has no list of them. Names in
/// the list are relative to `out`.
fn is_stale(object: &Path, out: &Path) -> bool {
    let Ok(rule) = fs::read_to_string(object.with_extension("d")) else { return true };
    let made = modified(object);
    let (_, list) = rule.split_once(": ").unwrap_or_default();
    let mut parts = list.split_whitespace().filter(|part| *part != "\\");
    parts.any(|part| {
        let part = out.join(part);
        !part.exists() || modified(&part) > made
    })
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|data| data.modified()).unwrap_or(std::time::SystemTime::UNIX_EPOCH)
}

fn object_path(source: &Path, out: &Path) -> PathBuf {
    let name = source.with_extension("o").to_string_lossy().replace(['/', '\\'], "-");
    out.join(name)
}

/// Writes `capi.rs`, the Rust declarations of `dialects/capi/*.h`. MLIR's own types come from
/// mlir-sys, so that there is one definition of each.
fn bind(prefix: &Path, out: &Path) -> Result<()> {
    let includes: String = files(Path::new("dialects/capi"))
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "h"))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("#include \"capi/{name}\"\n")
        })
        .collect();
    bindgen::builder()
        .header_contents("phaseline_capi.h", &includes)
        .clang_arg("-Idialects")
        .clang_arg(format!("-I{}", prefix.join("include").display()))
        .allowlist_function("phl.*|mlirGetDialectHandle__(graph|tir)__")
        .allowlist_type("Phl.*")
        .blocklist_type("Mlir.*")
        .raw_line("use mlir_sys::*;")
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .generate()?
        .write_to_file(out.join("capi.rs"))?;
    Ok(())
}
