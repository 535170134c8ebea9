//! Names of a target's files. They come from manifests, and become paths below the target's folder
//! to read from and below folders of the framework to write to.

use std::path::Path;

/// Use of a file: names in generated text have less freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A pipeline, which is only read.
    Pipeline,
    /// C or assembler that is compiled, or an object or archive that is linked.
    Source,
    /// A header, whose name is in pipelines and in `#include`.
    Header,
}

/// Characters that a compiler's command line, `#include` or an assembler takes for something else.
const SPECIAL: [char; 6] = ['\\', '"', '\'', '<', '>', ':'];

/// Endings of files that a C compiler takes for something else than a source.
const NO_SOURCES: [&str; 4] = ["", "h", "hpp", "so"];

/// Checks `name` as the name of a file in a target's folder; the error has the reason.
pub fn check(name: &str, of: Use) -> Result<(), String> {
    let fault = |reason: &str| {
        Err(format!(
            "{name:?} {reason}; files of a target are named by plain paths within its folder, such \
             as \"driver.c\" or \"lib/driver.c\""
        ))
    };
    if name.is_empty() {
        return fault("is no name");
    }
    if name.starts_with('/') {
        return fault("is absolute");
    }
    if name.split('/').any(|part| part == "..") {
        return fault("leads out of the target's folder");
    }
    if name.split('/').any(|part| part.is_empty() || part == ".") {
        return fault("has an empty part or '.'");
    }
    let blank = |c: char| c.is_whitespace() || "{},=".contains(c);
    let bad = |c: char| c.is_control() || SPECIAL.contains(&c) || of == Use::Header && blank(c);
    if let Some(c) = name.chars().find(|c| bad(*c)) {
        return fault(&format!("has the character {c:?}"));
    }
    if name.starts_with(['-', '@']) {
        return fault("would be an option of the C compiler");
    }
    let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
    if of == Use::Source && NO_SOURCES.contains(&ending) {
        return fault("has no ending of a source, such as .c, .S, .o or .a");
    }
    Ok(())
}

/// Says why the file at `path` is not in `folder`, for a link may lead elsewhere. What is not there
/// has no fault of this kind.
pub fn check_place(folder: &Path, path: &Path) -> Result<(), String> {
    let (Ok(real), Ok(within)) = (path.canonicalize(), folder.canonicalize()) else {
        return Ok(());
    };
    if real.starts_with(within) {
        return Ok(());
    }
    Err(format!(
        "{} is a link to {}, out of the target's folder; copy the file",
        path.display(),
        real.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_within_the_folder_are_names() {
        for name in [
            "x.c",
            "lib/x.c",
            "a b.c",
            "..x.c",
            "x..c",
            "Ä.c",
            "x.S",
            "deep/er/x.cpp",
            "x.o",
            "x.a",
        ] {
            assert_eq!(check(name, Use::Source), Ok(()), "{name}");
        }
        for name in [
            "", "/x.c", "//x.c", "../x.c", "a/../x.c", "a/..", "..", ".", "./x.c", "a//x.c",
            "x.c/", "a/./x.c", "x.so", "a\\x.c", "..\\x.c", "C:x.c", "x\0.c", "x\n.c", "-x.c",
            "@x.c", "x\".c", "x", "x.h",
        ] {
            assert!(check(name, Use::Source).is_err(), "{name:?}");
        }
        assert_eq!(check("npu.pipeline", Use::Pipeline), Ok(()));
        assert!(check("../npu.pipeline", Use::Pipeline).is_err());
        assert_eq!(check("vendor/npu.h", Use::Header), Ok(()));
        for name in ["a b.h", "a{.h", "a,b.h", "../a.h"] {
            assert!(check(name, Use::Header).is_err(), "{name:?}");
        }
    }
}
