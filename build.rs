//! Builds the dialects of `dialects/`, and embeds the targets of `targets/` and the templates of new ones.

#![allow(clippy::disallowed_methods, reason = "Cargo passes its arguments in the environment")]

use phaseline_build::{Build, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    embed_targets(&out)?;
    embed_templates(&out)?;
    Build::new()?
        .include("dialects")
        .include(env::var("DEP_PHASELINE_TOOLKIT_INCLUDE")?)
        .dialect("dialects/graph", "graph", "Graph")
        .dialect("dialects/tir", "tir", "Tir")
        .sources("dialects/phl")
        .sources("dialects/capi")
        .bindings("dialects/capi", "phl.*|mlirGetDialectHandle__(graph|tir|phl)__", "Phl.*")
        .loads_plugins("phaseline-opt")
        .compile("phaseline_dialects")
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

/// Folder of the templates of new targets: one for each, and `common` for files that a template has
/// not itself.
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
