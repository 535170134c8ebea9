//! New compilers: a crate with a dialect, two passes, phases, tools and tests, which builds and passes its tests at once.

use crate::{Error, Result};
use phaseline_base::process::Folder;
use std::path::{Path, PathBuf};

/// The prefix of the LLVM that the build found.
const LLVM: &str = env!("PHASELINE_LLVM_PREFIX");

/// The Debian packages that a build needs.
const PACKAGES: &str = "clang-22 libclang-22-dev libmlir-22-dev libpolly-22-dev libzstd-dev lld-22 llvm-22-dev \
                        llvm-22-tools mlir-22-tools zlib1g-dev";

/// Files of a crate, by their places in it.
const FILES: &[(&str, &str)] = &[
    (".cargo/config.toml", include_str!("../scaffold/config.toml.in")),
    (".github/workflows/ci.yml", include_str!("../scaffold/ci.yml.in")),
    (".gitignore", include_str!("../scaffold/gitignore.in")),
    ("Cargo.toml", include_str!("../scaffold/Cargo.toml.in")),
    ("README.md", include_str!("../scaffold/README.md.in")),
    ("build.rs", include_str!("../scaffold/build.rs.in")),
    ("dialect/@STEM@.td", include_str!("../scaffold/dialect.td.in")),
    ("src/known.rs", include_str!("../scaffold/known.rs.in")),
    ("src/main.rs", include_str!("../scaffold/main.rs.in")),
    ("src/simplify.rs", include_str!("../scaffold/simplify.rs.in")),
    ("tests/lit.rs", include_str!("../scaffold/lit.rs.in")),
    ("tests/lit/errors.mlir", include_str!("../scaffold/errors.mlir.in")),
    ("tests/lit/known.mlir", include_str!("../scaffold/known.mlir.in")),
    ("tests/lit/simplify.mlir", include_str!("../scaffold/simplify.mlir.in")),
];

/// Words of Rust and C++, and names of crates and dialects that a compiler links: a dialect cannot have them.
const TAKEN: &[&str] = &[
    "abstract",
    "affine",
    "alignas",
    "alignof",
    "and",
    "arith",
    "as",
    "asm",
    "async",
    "auto",
    "await",
    "become",
    "bitand",
    "bitor",
    "bool",
    "box",
    "break",
    "builtin",
    "case",
    "catch",
    "cf",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "continue",
    "core",
    "crate",
    "decltype",
    "default",
    "delete",
    "deps",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "examples",
    "explicit",
    "export",
    "extern",
    "false",
    "final",
    "float",
    "fn",
    "for",
    "friend",
    "func",
    "gen",
    "goto",
    "if",
    "impl",
    "in",
    "incremental",
    "inline",
    "int",
    "irdl",
    "known",
    "let",
    "llvm",
    "long",
    "loop",
    "macro",
    "main",
    "match",
    "melior",
    "mlir",
    "mod",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "override",
    "phaseline",
    "priv",
    "private",
    "protected",
    "public",
    "pub",
    "ref",
    "register",
    "requires",
    "return",
    "self",
    "short",
    "signed",
    "simplify",
    "sizeof",
    "static",
    "std",
    "struct",
    "super",
    "switch",
    "template",
    "test",
    "this",
    "throw",
    "toolkit",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsafe",
    "unsigned",
    "unsized",
    "upstream",
    "use",
    "using",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "xor",
    "yield",
];

/// Writes a crate for a compiler into a folder that is made. `name` is that of program, crate and
/// dialect.
///
/// `checkout` has the sources of Phaseline, which the crate depends on by their path. Without it
/// the crate depends on published ones of this version.
///
/// # Errors
/// The name cannot be that of a dialect, or the checkout is none. The folder exists or cannot be
/// written.
pub fn new_compiler(name: &str, folder: &Path, checkout: Option<&Path>) -> Result<()> {
    check_name(name)?;
    if folder.symlink_metadata().is_ok() {
        let shown = folder.display();
        let text = format!("{shown} exists; name a directory that is to be created");
        return Err(Error::invalid(text));
    }
    let values = [
        ("@NAME@", name.to_owned()),
        ("@STEM@", stem(name)),
        ("@PREFIX@", LLVM.to_owned()),
        ("@PACKAGES@", PACKAGES.to_owned()),
        ("@TOOLKIT@", dependency("phaseline-toolkit", checkout)?),
        ("@BUILD@", dependency("phaseline-build", checkout)?),
    ];
    let fill = |text: &str| values.iter().fold(text.to_owned(), |text, (k, v)| text.replace(k, v));
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    // All files beside the final place, which are moved there at once.
    let staging = Folder::beside(parent).map_err(|e| Error::io("cannot write into", parent, e))?;
    for (file, text) in FILES {
        let path = staging.path().join(fill(file));
        let within = path.parent().unwrap_or(staging.path());
        std::fs::create_dir_all(within).map_err(|e| Error::io("cannot create", within, e))?;
        std::fs::write(&path, fill(text)).map_err(|e| Error::io("cannot write", &path, e))?;
    }
    staging.replace(folder).map_err(|e| Error::io("cannot create", folder, e))
}

/// The checkout that this library was built of, where it still is.
pub fn own_checkout() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let is_there = |name: &str| root.join("crates").join(name).join("Cargo.toml").is_file();
    (is_there("phaseline-toolkit") && is_there("phaseline-build")).then(|| root.to_owned())
}

/// The value of a dependency in Cargo.toml.
fn dependency(name: &str, checkout: Option<&Path>) -> Result<String> {
    let Some(root) = checkout else {
        return Ok(format!("{:?}", env!("CARGO_PKG_VERSION")));
    };
    let path = root.join("crates").join(name);
    let path = path.canonicalize().ok().filter(|path| path.join("Cargo.toml").is_file());
    let path = path.ok_or_else(|| {
        let root = root.display();
        Error::invalid(format!("{root} is no checkout of Phaseline: it has no crates/{name}"))
    })?;
    Ok(format!("{{ path = {:?} }}", path.display().to_string()))
}

/// The name of the dialect's records: `my_dialect` is `MyDialect`.
fn stem(name: &str) -> String {
    let capital = |word: &str| {
        let mut rest = word.chars();
        rest.next().map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + rest.as_str())
    };
    name.split('_').map(capital).collect()
}

fn check_name(name: &str) -> Result<()> {
    let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_word || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.ends_with('_') {
        return Err(Error::invalid(format!(
            "'{name}' is no name for a dialect: it is to start with a small letter, and have small letters, digits and \
             '_' only"
        )));
    }
    match TAKEN.contains(&name) {
        true => Err(Error::invalid(format!(
            "'{name}' is a word of Rust or C++, or the name of another crate or dialect; choose another name"
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_has_no_place_left_open() {
        let place = tempfile::tempdir().expect("makes one");
        let folder = place.path().join("deep/er");
        let checkout = own_checkout().expect("tests run in it");
        new_compiler("my_lang", &folder, Some(&checkout)).expect("is written");
        for (file, _) in FILES {
            let path = folder.join(file.replace("@STEM@", "MyLang"));
            let text = std::fs::read_to_string(&path).expect("is there");
            let open = ["@NAME@", "@STEM@", "@PREFIX@", "@PACKAGES@", "@TOOLKIT@", "@BUILD@"];
            assert!(open.iter().all(|word| !text.contains(word)), "{file}");
        }
        let error = new_compiler("other", &folder, None).expect_err("exists");
        assert!(error.to_string().contains("exists; name a directory"), "{error}");
        let none = new_compiler("other", &place.path().join("o"), Some(place.path()));
        assert!(none.expect_err("is none").to_string().contains("is no checkout of Phaseline"));
        assert!(!place.path().join("o").exists());
    }

    #[test]
    fn names_that_cannot_be_built_are_refused() {
        for name in ["", "A", "1a", "a-b", "a.b", "../a", "class", "func", "test", "fn", "a_"] {
            new_compiler(name, Path::new("/nonexistent/x"), None).expect_err(name);
        }
        assert_eq!(dependency("phaseline-build", None).expect("is a version"), "\"0.1.0\"");
    }
}
