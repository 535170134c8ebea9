//! Rules of the source, read from its text: the layers of each member of the workspace, a test
//! folder for each pass, and few doors to MLIR's C API. Nothing is built.

#![allow(clippy::disallowed_methods, reason = "cargo tells tests where things are")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A package of the workspace.
struct Member {
    name: &'static str,
    /// Its folder; empty for the root package.
    folder: &'static str,
    /// Members that it may depend on. That it knows nothing else of ours is for Cargo to hold.
    uses: &'static [&'static str],
    /// Its top-level modules, lowest first. A module uses those of lower rows only, so that there
    /// are no cycles. The drawing in docs/explanation/architecture.md has the same rows, and `lib.rs` the same order.
    layers: &'static [&'static [&'static str]],
}

/// The members, lowest first.
const MEMBERS: &[Member] = &[
    Member {
        name: "phaseline-base",
        folder: "crates/phaseline-base",
        uses: &[],
        layers: &[
            &["error", "identifier", "op_info", "parallel", "plan"],
            &["process", "size", "tensor"],
            &["expr", "io"],
        ],
    },
    Member {
        name: "phaseline-build",
        folder: "crates/phaseline-build",
        uses: &[],
        layers: &[&["find_llvm", "op_views"]],
    },
    Member {
        name: "phaseline-runtime",
        folder: "crates/phaseline-runtime",
        uses: &["phaseline-base"],
        layers: &[&["artifact"], &["package"], &["run"]],
    },
    Member {
        name: "phaseline-select",
        folder: "crates/phaseline-select",
        uses: &["phaseline-base"],
        layers: &[&["graph"], &["tile"], &["pattern"], &["partition"]],
    },
    Member {
        name: "phaseline-toolkit",
        folder: "crates/phaseline-toolkit",
        uses: &["phaseline-base"],
        layers: &[
            &["ffi", "raw"],
            &["ir"],
            &["pass"],
            &["session"],
            &["phase"],
            &["driver", "upstream"],
            &["lit"],
            &["scaffold", "toolkit"],
            &["testing"],
            &["prelude"],
        ],
    },
    Member {
        name: "phaseline",
        folder: "",
        uses: &["phaseline-base", "phaseline-runtime", "phaseline-select", "phaseline-toolkit"],
        layers: &[
            &["ffi"],
            &["ir", "phase"],
            &["approximate", "artifact", "limits"],
            &["launch", "lower", "planned", "transfer"],
            &["host", "patch", "pools", "tile"],
            &["rules", "sizes", "targets"],
            &["hook", "outline", "session"],
            &["codegen", "import"],
            &["package", "passes"],
            &["runtime"],
            &["compile"],
            &["toolkit"],
            &["check", "measure"],
            &["cli"],
            &["prelude"],
        ],
    },
    Member {
        name: "phaseline-python",
        folder: "crates/phaseline-python",
        uses: &["phaseline", "phaseline-runtime"],
        layers: &[
            &["errors", "strides", "waiting"],
            &["dlpack"],
            &["arrays"],
            &["network"],
            &["compiler"],
            &["passes"],
        ],
    },
];

/// Packages that MLIR and LLVM come with.
const MLIR: &[&str] = &["inkwell", "llvm-sys", "melior", "mlir-sys"];

/// Members that have MLIR below them.
const ON_MLIR: &[&str] = &["phaseline", "phaseline-toolkit"];

/// Modules that may call MLIR's C API where melior has no safe call for something.
const DOORS: &[&str] = &["ffi", "ir", "pass", "runtime", "session", "toolkit"];

/// Other files that still do. This list only gets shorter: helpers of `ir` take their place.
const RAW: &[&str] = &["codegen/llvm/mod.rs"];

/// Upstream's dialects on which effects are asked.
const UPSTREAM: &[&str] = &[
    "affine.",
    "arith.",
    "bufferization.",
    "cf.",
    "func.",
    "linalg.",
    "math.",
    "memref.",
    "scf.",
    "tensor.",
    "vector.",
];

/// Files that tell several of upstream's operations apart by name, and the reason. None of them
/// decides by name on memory effects (reads, writes, allocations, views), or on how often regions
/// run: `ir::effects` is asked for that.
const FORMS: &[(&str, &str)] = &[
    ("approximate/mod.rs", "functions with an approximation"),
    ("codegen/c/arith.rs", "prints each operation"),
    ("codegen/c/memory.rs", "prints each operation"),
    ("codegen/c/statement.rs", "prints each operation"),
    ("host/loops.rs", "time of functions"),
    ("import/mlir.rs", "operations of a graph in MLIR"),
    ("lower/chains.rs", "arithmetic of an index"),
    ("lower/convert.rs", "operations that have types of the signature"),
    ("lower/padding.rs", "bodies of structured operations, forms of padding"),
    ("lower/sums.rs", "loops that are interchanged"),
    ("passes/collapse_loops.rs", "named operations that mean the same on fewer dimensions"),
    ("passes/convert_extrema_to_llvm.rs", "operations that are converted"),
    ("passes/convert_functions_to_dps.rs", "inverse of a reshape"),
    ("passes/encode_command_stream.rs", "operations that have a place in a command stream"),
    ("passes/expand_half_conversions.rs", "operations that are converted"),
    ("passes/keep_results.rs", "words of a report"),
    ("planned/flow/place.rs", "arithmetic of an index"),
    ("planned/flow/tensors.rs", "values of a loop"),
    ("targets/codegen.rs", "operations of a generator"),
    ("targets/codegen/kinds.rs", "operations of a generator"),
    ("tile/halves.rs", "a tile and the part of it that is moved"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder whose names end so, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A source file of a library, without comments and unit tests.
struct Source {
    /// Path in the `src/` of its member.
    path: String,
    text: String,
}

impl Member {
    fn root(&self) -> PathBuf {
        root().join(self.folder)
    }

    fn lib(&self) -> String {
        fs::read_to_string(self.root().join("src/lib.rs")).expect("UTF-8")
    }

    fn sources(&self) -> Vec<Source> {
        let src = self.root().join("src");
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            Source {
                path: path.strip_prefix(&src).expect("is inside").to_string_lossy().into_owned(),
                text: lines.collect::<Vec<_>>().join("\n"),
            }
        };
        let is_test = |path: &Path| {
            path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
        };
        let all = files(&src, ".rs").into_iter();
        all.filter(|path| !is_test(path.strip_prefix(&src).expect("is inside"))).map(read).collect()
    }

    fn row(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|row| row.contains(&module))
    }

    fn modules(&self) -> Vec<&'static str> {
        self.layers.iter().flat_map(|row| row.iter().copied()).collect()
    }

    /// The packages that it depends on, but for tests and for its build.
    fn dependencies(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root().join("Cargo.toml")).expect("UTF-8");
        let (_, rest) = text.split_once("\n[dependencies]\n").unwrap_or_default();
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        let names = lines.filter_map(|line| Some(line.split_once(['.', ' '])?.0.to_owned()));
        names.filter(|name| !name.starts_with('#')).collect()
    }
}

impl Source {
    /// The top-level module that the file belongs to; none for `lib.rs` and the programs.
    fn module(&self) -> Option<&str> {
        let name = self.path.split('/').next().unwrap_or_default();
        let name = name.strip_suffix(".rs").unwrap_or(name);
        (name != "lib" && name != "bin").then_some(name)
    }

    /// Number of modules that the file is below the crate's root.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        if self.path.ends_with("/mod.rs") { parts - 1 } else { parts }
    }
}

/// The word that a text starts with.
fn word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The first words of a path or of the paths of a group in braces.
fn first_words(text: &str) -> Vec<&str> {
    let Some(group) = text.strip_prefix('{') else { return vec![word(text)] };
    let (mut depth, mut words, mut start) = (1, vec![], 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            words.push(word(&group[start..at]));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The names at the crate's root that belong to a module below it.
fn re_exports(lib: &str) -> BTreeMap<String, String> {
    let mut homes = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.trim().strip_prefix("pub use ")) {
        let Some((module, names)) = line.split_once("::") else { continue };
        for name in first_words(names) {
            homes.insert(name.to_owned(), module.to_owned());
        }
    }
    homes
}

/// The top-level modules that each top-level module of a member uses, and the files in which it does.
fn imports(member: &Member) -> BTreeMap<(String, String), BTreeSet<String>> {
    let homes = re_exports(&member.lib());
    let modules: BTreeSet<_> = member.modules().into_iter().collect();
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for source in member.sources() {
        let Some(module) = source.module() else { continue };
        let paths = source.text.match_indices("crate::").map(|(at, start)| at + start.len());
        let up = "super::".repeat(source.depth());
        let escapes = source.text.match_indices(&up).map(|(at, start)| at + start.len());
        for at in paths.chain(escapes) {
            for name in first_words(&source.text[at..]) {
                let used = homes.get(name).map_or(name, String::as_str);
                if used != module && modules.contains(used) {
                    let arrow = (module.to_owned(), used.to_owned());
                    found.entry(arrow).or_default().insert(source.path.clone());
                }
            }
        }
    }
    found
}

#[test]
fn imports_run_downwards() {
    let (mut faults, mut count) = (vec![], 0);
    for member in MEMBERS {
        let found = imports(member);
        count += found.len();
        for ((user, used), files) in found {
            if member.row(&user) <= member.row(&used) {
                let files: Vec<_> = files.into_iter().collect();
                let files = files.join(" ");
                faults.push(format!("{user} uses {used}, which is not below it: {files}"));
            }
        }
    }
    assert!(count > 100, "only {count} arrows were found");
    assert!(
        faults.is_empty(),
        "{}\nmove the names that are used below both, or the code that uses them up",
        faults.join("\n")
    );
}

#[test]
fn members_depend_on_lower_ones_and_few_on_mlir() {
    let folders = fs::read_dir(root().join("crates")).expect("a folder").count();
    assert_eq!(folders + 1, MEMBERS.len(), "a member is not in the list");
    let mut lower = vec![];
    for member in MEMBERS {
        let dependencies = member.dependencies();
        assert!(!dependencies.is_empty(), "{}: {dependencies:?}", member.name);
        let ours: Vec<_> =
            dependencies.iter().filter(|name| name.starts_with("phaseline")).collect();
        assert_eq!(ours, member.uses, "{}", member.name);
        assert!(member.uses.iter().all(|name| lower.contains(name)), "{}", member.name);
        lower.push(member.name);
        let mlir = dependencies.iter().find(|name| MLIR.contains(&name.as_str()));
        assert_eq!(mlir.is_some(), ON_MLIR.contains(&member.name), "{}: {mlir:?}", member.name);
    }
}

/// The packages that Cargo.lock has below one, for tests, builds and all features.
fn locked_below(lock: &str, name: &str) -> BTreeSet<String> {
    let packages = lock.split("[[package]]\n").filter_map(|entry| {
        let name = entry.lines().find_map(|line| line.strip_prefix("name = \""))?;
        let list = entry.split_once("dependencies = [\n").map_or("", |(_, rest)| rest);
        let list = list.lines().map_while(|line| line.strip_prefix(" \""));
        Some((name.trim_end_matches('"'), list.map(word_of_crate).collect::<Vec<_>>()))
    });
    // Of several versions, those of all.
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    packages.for_each(|(name, list)| below.entry(name).or_default().extend(list));
    let (mut found, mut next) = (BTreeSet::new(), vec![name]);
    while let Some(name) = next.pop() {
        if found.insert(name.to_owned()) {
            next.extend(below.get(name).into_iter().flatten());
        }
    }
    found
}

/// The name of a package in a list of Cargo.lock, which may have a version after it.
fn word_of_crate(text: &str) -> &str {
    text.split([' ', '"']).next().unwrap_or_default()
}

#[test]
fn few_members_have_mlir_below_them() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("UTF-8");
    for member in MEMBERS {
        let below = locked_below(&lock, member.name);
        assert!(below.len() > 20, "{}: {below:?}", member.name);
        let mlir: Vec<_> = MLIR.iter().filter(|name| below.contains(**name)).collect();
        let on_mlir = ON_MLIR.contains(&member.name) || member.uses.contains(&"phaseline");
        assert_eq!(!mlir.is_empty(), on_mlir, "{}: {mlir:?}", member.name);
    }
}

#[test]
fn every_module_is_in_the_layers_once_and_in_the_order_of_lib_rs() {
    for member in MEMBERS {
        let lib = member.lib();
        let mut declared: Vec<_> = lib
            .lines()
            .filter_map(|line| {
                line.strip_prefix("pub mod ").or(line.strip_prefix("pub(crate) mod "))
            })
            .map(|line| line.trim_end_matches(';'))
            .collect();
        // A module that is public with a feature only is declared twice.
        declared.dedup();
        let rows: Vec<_> = declared.iter().map(|module| member.row(module)).collect();
        let unknown = declared.iter().zip(&rows).find(|(_, row)| row.is_none());
        assert_eq!(unknown.map(|(module, _)| module), None, "is in no layer");
        assert!(rows.is_sorted(), "{}: lib.rs has another order than the layers", member.name);
        let listed = member.modules();
        let as_set: BTreeSet<_> = listed.iter().collect();
        assert_eq!((listed.len(), as_set.len()), (declared.len(), declared.len()));
    }
}

#[test]
fn the_drawing_in_the_documentation_has_these_layers() {
    let page = fs::read_to_string(root().join("docs/explanation/architecture.md")).expect("UTF-8");
    let drawing = page.split("```layers\n").nth(1).and_then(|rest| rest.split("```").next());
    let drawn: Vec<Vec<&str>> = drawing
        .expect("a block `layers`")
        .lines()
        .filter_map(|line| Some(line.split('|').nth(1)?.split_whitespace().collect()))
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect();
    let rows = MEMBERS.iter().rev().flat_map(|member| member.layers.iter().rev());
    let expected: Vec<Vec<&str>> = rows.map(|row| row.to_vec()).collect();
    assert_eq!(drawn, expected, "docs/explanation/architecture.md, top row first");
    let members = drawing.iter().flat_map(|text| text.lines());
    let members: Vec<&str> =
        members.filter_map(|line| Some(line.split_once('|')?.0.trim())).collect();
    let named: Vec<&str> = members.into_iter().filter(|name| !name.is_empty()).collect();
    let expected: Vec<&str> = MEMBERS.iter().rev().map(|member| member.name).collect();
    assert_eq!(named, expected, "docs/explanation/architecture.md, left of the rows");
}

#[test]
fn every_pass_has_a_filecheck_folder() {
    let table = fs::read_to_string(root().join("src/passes/mod.rs")).expect("UTF-8");
    let (_, rest) = table.split_once("passes! {\n").expect("the table");
    let (rows, _) = rest.split_once('}').expect("its end");
    let passes: Vec<_> = rows.split_whitespace().collect();
    assert!(passes.len() >= 30, "only {} passes were found", passes.len());
    for pass in passes {
        let folder = root().join("tests/lit/passes").join(pass.replace('_', "-"));
        assert!(folder.is_dir(), "{pass} has no folder {}", folder.display());
        let tests = files(&folder, ".mlir");
        let checks = |path: &PathBuf| fs::read_to_string(path).expect("UTF-8").contains("CHECK");
        assert!(tests.iter().any(checks), "{} checks nothing", folder.display());
    }
}

/// True if a text calls MLIR's C API by itself.
fn is_raw(text: &str) -> bool {
    let calls = text.match_indices("sys::mlir").map(|(at, start)| &text[at + start.len()..]);
    calls.into_iter().any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[test]
fn raw_calls_of_mlir_are_behind_few_doors() {
    let raw: BTreeSet<String> = MEMBERS
        .iter()
        .flat_map(Member::sources)
        .filter(|source| source.module().is_some_and(|module| !DOORS.contains(&module)))
        .filter(|source| is_raw(&source.text))
        .map(|source| source.path)
        .collect();
    let known: BTreeSet<String> = RAW.iter().map(|path| (*path).to_owned()).collect();
    let new: Vec<_> = raw.difference(&known).collect();
    assert!(new.is_empty(), "{new:?}: call a function of src/ir in place of mlir_sys");
    let gone: Vec<_> = known.difference(&raw).collect();
    assert!(gone.is_empty(), "{gone:?}: have no raw calls any more; take them off the list");
}

/// The name of one of upstream's operations, in quotes, that a text starts with, and what follows.
fn upstream(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('"')?.split_once('"')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let is_name = name.chars().all(is_word) && UPSTREAM.iter().any(|of| name.starts_with(of));
    is_name.then_some((name, rest))
}

/// The text of the block that opens at the end of `before`, at its own level: blocks inside left out.
fn own_level(text: &str) -> String {
    let mut depth = 0_usize;
    let mut found = String::new();
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ if depth == 0 => found.push(c),
            _ => {}
        }
    }
    found
}

/// The groups of two or more names of upstream's operations by which a text tells operations apart: lists,
/// alternatives, arms of one `match`, and beginnings of names.
fn told_apart(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut rest = text;
    while let Some((name, after)) = rest
        .find('"')
        .map(|at| &rest[at..])
        .and_then(|at| upstream(at).or_else(|| Some(("", at.strip_prefix('"')?))))
    {
        rest = after;
        let next = after.trim_start().strip_prefix(['|', ',']).map(str::trim_start);
        if let (false, Some((other, _))) = (name.is_empty(), next.and_then(upstream)) {
            found.push(format!("{name}, {other}"));
        }
    }
    for (at, start) in text.match_indices("match ") {
        let Some((of, arms)) = text[at + start.len()..].split_once('{') else { continue };
        if !of.contains("name") {
            continue;
        }
        let arms = own_level(arms);
        let is_pattern = |at: usize, rest: &str| {
            let before = arms[..at].strip_suffix('(').unwrap_or(&arms[..at]);
            let is_tuple = before.len() < at && before.ends_with(char::is_whitespace);
            let rest = rest.trim_start();
            ["=>", "|", "if "].iter().any(|end| rest.starts_with(end))
                || is_tuple && rest.starts_with(',')
        };
        let names = arms.match_indices('"').filter_map(|(at, _)| {
            let (name, rest) = upstream(&arms[at..])?;
            is_pattern(at, rest).then_some(name)
        });
        let names: Vec<&str> = names.collect();
        found.extend((names.len() > 1).then(|| names.join(", ")));
    }
    let prefixes = UPSTREAM.iter().map(|dialect| format!("starts_with(\"{dialect}\")"));
    found.extend(prefixes.filter(|prefix| text.contains(prefix)));
    found
}

#[test]
fn effects_of_upstream_operations_are_known_in_one_place() {
    let (mut seen, mut new) = (BTreeSet::new(), vec![]);
    for source in MEMBERS.iter().flat_map(Member::sources) {
        let groups = told_apart(&source.text);
        if groups.is_empty() || source.path == "ir/effects.rs" {
            continue;
        }
        if !FORMS.iter().any(|(path, _)| *path == source.path) {
            new.push(format!("{}: {groups:?}", source.path));
        }
        seen.insert(source.path);
    }
    assert!(new.is_empty(), "{new:#?}: ask ir::effects, or say in FORMS what the names are for");
    let gone: Vec<_> = FORMS.iter().filter(|(path, _)| !seen.contains(*path)).collect();
    assert!(gone.is_empty(), "{gone:?}: tell no operations apart any more; take them off the list");
}

#[test]
fn names_that_tell_operations_apart_are_found() {
    let list = r#"const FREE: [&str; 2] = ["memref.dim", "memref.dealloc"];"#;
    assert_eq!(told_apart(list), ["memref.dim, memref.dealloc"]);
    let pattern = r#"matches!(name, "scf.for" | "scf.if")"#;
    assert_eq!(told_apart(pattern), ["scf.for, scf.if"]);
    let arms = r#"match ir::op_name(op) { "memref.load" => { f("a.b") } _ if x => 1, "memref.store" => 2 }"#;
    assert_eq!(told_apart(arms), ["memref.load, memref.store"]);
    assert_eq!(told_apart(r#"name.starts_with("linalg.")"#), [r#"starts_with("linalg.")"#]);
    let one = r#"match ir::op_name(op) { "memref.load" => b.op("memref.store", x), _ => 0 }"#;
    assert_eq!(told_apart(one), [""; 0]);
    assert_eq!(told_apart(r#"f("memref.load", &[a], "memref.store")"#), [""; 0]);
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    assert_eq!(first_words("ir::{self, Op}"), ["ir"]);
    assert_eq!(
        first_words("{Error, ir::{self, edit::{a, b}},\n    pass::Pass,}"),
        ["Error", "ir", "pass"]
    );
    assert_eq!(first_words("Result<()>"), ["Result"]);
    let homes =
        re_exports("pub mod a;\npub use error::{Error, Result};\npub use session::Session;\n");
    assert_eq!(homes.get("Result").map(String::as_str), Some("error"));
    assert_eq!(homes.get("Session").map(String::as_str), Some("session"));
    assert!(is_raw("unsafe { sys::mlirTypeIsAF32(raw) }") && !is_raw("mlir_sys::MlirType"));
}

/// Cargo does not look for tests by itself, as they are one program.
#[test]
fn every_file_of_tests_is_run() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a file");
    let (main, cargo) = (read("tests/main.rs"), read("Cargo.toml"));
    let entries = fs::read_dir(root().join("tests")).expect("a folder").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let forgotten: Vec<String> = names
        .filter(|name| name.ends_with(".rs"))
        .filter(|name| !main.contains(&format!("\nmod {};", name.trim_end_matches(".rs"))))
        .filter(|name| !cargo.contains(&format!("path = \"tests/{name}\"")))
        .collect();
    assert!(forgotten.is_empty(), "neither in tests/main.rs nor in Cargo.toml: {forgotten:?}");
}

#[test]
fn toy_has_at_most_300_lines() {
    let toy = root().join("examples/toy");
    let sources = [files(&toy.join("src"), ".rs"), files(&toy.join("dialect"), ".td")].concat();
    let others = ["build.rs", "tests/lit.rs"].map(|file| toy.join(file));
    let lines = |file: &PathBuf| fs::read_to_string(file).expect("UTF-8").lines().count();
    let count: usize = sources.iter().chain(&others).map(lines).sum();
    assert!((200..=300).contains(&count), "{count} lines");
}

#[test]
fn every_target_is_a_folder_with_a_manifest_and_a_page() {
    let folders: Vec<_> = fs::read_dir(root().join("targets")).expect("a folder").collect();
    assert!(folders.len() >= 8, "only {} targets were found", folders.len());
    for folder in folders {
        let folder = folder.expect("an entry").path();
        // Parts of manifests, which targets include.
        if folder.ends_with("common") {
            assert!(!files(&folder, ".toml").is_empty(), "targets/common has no parts");
            continue;
        }
        for file in ["target.toml", "README.md"] {
            assert!(folder.join(file).is_file(), "{} has no {file}", folder.display());
        }
        let sources = files(&folder, ".c");
        let hidden = sources.iter().find(|path| {
            let inside = path.strip_prefix(&folder).expect("is inside");
            inside.components().count() > 1 && !inside.starts_with("test")
        });
        assert_eq!(hidden, None, "build.rs embeds no files of folders in it");
    }
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    heading.to_lowercase().replace(' ', "-").chars().filter(is_kept).collect()
}

/// The anchors of a page; lines in blocks of code are no headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut inside = false;
    let headings = page.lines().filter(|line| {
        inside ^= line.starts_with("```");
        !inside && line.starts_with('#')
    });
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// Faults in the places that a row of the index of features names.
fn faults_of(row: &str) -> Vec<String> {
    let cells: Vec<_> = row.trim_matches('|').split(" | ").collect();
    let [feature, page, tests] = cells[..] else { return vec!["has not three cells".to_owned()] };
    let mut faults = vec![];
    let link = page.split_once("](").and_then(|(_, rest)| rest.trim().strip_suffix(')'));
    let (file, place) = link.and_then(|link| link.split_once('#')).unwrap_or_default();
    match fs::read_to_string(root().join("docs/reference").join(file)) {
        Ok(text) if anchors(&text).contains(place) => {}
        Ok(_) => faults.push(format!("docs/reference/{file} has no heading #{place}")),
        Err(_) => faults.push(format!("'{page}' is no link to a heading")),
    }
    let named: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
    if named.is_empty() || feature.trim().is_empty() {
        faults.push("names no test, or no feature".to_owned());
    }
    let gone = named.into_iter().filter(|test| !root().join(test).is_file());
    faults.extend(gone.map(|test| format!("there is no {test}")));
    faults
}

#[test]
fn the_index_of_features_names_pages_and_tests_that_exist() {
    let index = fs::read_to_string(root().join("docs/reference/features.md")).expect("UTF-8");
    let rows: Vec<_> = index
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| feature |"))
        .collect();
    assert!(rows.len() >= 60, "only {} rows were found", rows.len());
    let faults: Vec<_> = rows
        .iter()
        .flat_map(|row| faults_of(row).into_iter().map(move |fault| format!("{row}: {fault}")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn places_that_do_not_exist_are_found() {
    assert_eq!(
        anchor("`ethos-u,cmsisnn,llvm`: a composite target"),
        "ethos-ucmsisnnllvm-a-composite-target"
    );
    assert_eq!(anchors("# A b\n```sh\n# no\n```\n## C's d").len(), 2);
    assert_eq!(faults_of("| a | [b](features.md#none) | `tests/none.rs` |").len(), 2);
    assert_eq!(faults_of("| a | b | c |").len(), 2);
}
