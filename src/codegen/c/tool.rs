//! C compilers: how they are called, what goes wrong with them, and which machine they are for.
//!
//! The crate `cc` (1.11.1, tried with GCC, Clang and the triples of `tests/cross.rs`) does not take this over:
//!
//! - It is told the target, and asks no compiler for it. GCC's machines that Rust lacks are errors: `avr`,
//!   `rx-elf`, `tricore-elf`, `or1k-elf`. For others its flags hide what the compiler was configured for:
//!   `-march=x86-64`, `-march=armv6 -marm -mfloat-abi=soft` for `arm-oe-linux-gnueabi`, for
//!   `riscv64-unknown-elf` `-march=rv64`, which Clang refuses. Packages would have other code. Without its
//!   default flags, `-std`, `-Wall -Wextra -Werror` are all that it gives.
//! - It has no setting for `-pedantic`, `-ffp-contract`, `-Wno-pointer-sign`, assembler or LLVM IR.
//! - It starts each compiler two or three times (48 ms for GCC) to guess its family, on which no flag here
//!   depends. [`process::end`] does not reach these programs. A program that succeeds at everything is
//!   taken for MSVC's (`-nologo -WX`), a missing one for GCC's; [`Tool::make`] names both.
//! - It reads `CFLAGS` and more from the environment. Only a hidden function (`set_envs_snapshot`) gives it
//!   another, which the compiler then has as well, without `PATH`, `HOME` and what ccache reads.
//!   `CC_ENABLE_DEBUG_OUTPUT` is read in any case, and has it print to standard output.
//! - Its archives are made by `ar`, of objects in files; `package/archive.rs` needs no program, and copies no
//!   weights.

use crate::{Error, Result, process};
use object::ReadCache;
use std::{
    fs::{self, File},
    io::BufReader,
    path::Path,
    process::{Command, Output},
};

/// Lines of a compiler's messages that are shown.
const LINES: usize = 20;

/// A C compiler with arguments, such as `["clang", "--target=aarch64-linux-gnu"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    words: Vec<String>,
    remedy: &'static str,
}

impl Tool {
    /// The compiler that the environment or an embedder names, as words separated by blanks.
    pub fn new(command: &str) -> Result<Self> {
        Self::with_remedy(command, "name another C compiler (set CC)")
    }

    /// The compiler that the option of a target names.
    pub fn of_option(command: &str) -> Result<Self> {
        Self::with_remedy(command, "name another with the target's option -compiler")
    }

    fn with_remedy(command: &str, remedy: &'static str) -> Result<Self> {
        let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(Error::invalid(format!("no C compiler is named: {remedy}")));
        }
        Ok(Self { words, remedy })
    }

    /// The command, to be run in `folder`.
    pub fn command(&self, folder: &Path) -> Command {
        let program = Path::new(&self.words[0]);
        // A path is one from here, not from the folder.
        let path = (program.components().count() > 1).then(|| std::path::absolute(program).ok());
        let mut command = Command::new(path.flatten().as_deref().unwrap_or(program));
        command.current_dir(folder).args(&self.words[1..]);
        command
    }

    /// Runs it; the error has what it said, the least of it that helps.
    pub fn run(&self, command: Command, about: &str) -> Result<Vec<u8>> {
        self.succeed(command, about).map(|output| output.stdout)
    }

    fn succeed(&self, mut command: Command, about: &str) -> Result<Output> {
        let output = process::output(&mut command).map_err(|error| {
            self.fault(format!("cannot be started: {error}; install it, or {}", self.remedy))
        })?;
        if output.status.success() {
            return Ok(output);
        }
        Err(self.fault(format!("on {about}: {}", process::account(&output, LINES))))
    }

    /// Runs it to make the file at `path`.
    pub fn make(&self, command: Command, about: &str, path: &Path) -> Result<()> {
        let output = self.succeed(command, about)?;
        let file = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => File::open(path),
            Ok(_) => return Err(self.nothing(about, path, "no plain file", &output)),
            Err(_) => return Err(self.nothing(about, path, "no file", &output)),
        };
        let file = file.map_err(|e| Error::io("cannot read", path, e))?;
        // A library may hold all weights of a model: no more of it is read than its headers.
        let cache = ReadCache::new(BufReader::new(file));
        match object::File::parse(&cache) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.nothing(about, path, "no object file", &output)),
        }
    }

    /// As [`Tool::make`]; returns what is in the file.
    pub fn make_and_read(&self, command: Command, about: &str, path: &Path) -> Result<Vec<u8>> {
        self.make(command, about, path)?;
        fs::read(path).map_err(|e| Error::io("cannot read", path, e))
    }

    /// The error for a program that says it has succeeded.
    fn nothing(&self, about: &str, path: &Path, what: &str, output: &Output) -> Error {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let said = process::said(output, LINES);
        let said = said.map_or(String::new(), |said| format!("\n{said}"));
        let kind = if about.ends_with(".ll") { "compiler of LLVM IR" } else { "C compiler" };
        self.fault(format!(
            "on {about}: it has exit code 0, but wrote {what} {name}: it is no {kind}; {}{said}",
            self.remedy
        ))
    }

    fn fault(&self, detail: String) -> Error {
        Error::Tool { program: self.words[0].clone(), detail }
    }

    /// The triple of the machine that it is for, as GCC and Clang say it.
    pub fn machine(&self) -> Result<String> {
        let mut command = self.command(Path::new("."));
        command.arg("-dumpmachine");
        let out = self.run(command, "-dumpmachine")?;
        let mut triple = String::from_utf8_lossy(&out).trim().to_owned();
        if triple.is_empty() || triple.contains(char::is_whitespace) {
            return Err(self.fault(format!(
                "answers '{triple}' to -dumpmachine; a triple is expected: {}",
                self.remedy
            )));
        }
        // GCC answers the same with -m32.
        if let Some(rest) = triple.strip_prefix("x86_64-")
            && self.defines("__i386__")?
        {
            triple = format!("i386-{rest}");
        }
        Ok(triple)
    }

    /// The processor that its words name: `cortex-m4` of `-mcpu=cortex-m4+nodsp`.
    pub fn cpu(&self) -> Option<&str> {
        let value = |word: &'_ String| -> Option<usize> {
            ["-mcpu=", "-mmcu="].iter().find(|flag| word.starts_with(**flag)).map(|flag| flag.len())
        };
        let word = self.words.iter().rfind(|word| value(word).is_some())?;
        word.get(value(word)?..)?.split('+').next()
    }

    /// True if the compiler defines a macro by itself.
    fn defines(&self, name: &str) -> Result<bool> {
        let mut command = self.command(Path::new("."));
        command.args(["-E", "-dM", "-x", "c", "-"]);
        let out = self.run(command, "-dM")?;
        let line = format!("#define {name} ");
        Ok(String::from_utf8_lossy(&out).lines().any(|other| other.starts_with(&line)))
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        assert!(Tool::new("  ").is_err());
        let tool = Tool::of_option("no-such-compiler --flag").expect("words");
        let error = tool.machine().expect_err("is not there").to_string();
        assert!(error.contains("no-such-compiler") && error.contains("-compiler"), "{error}");
    }

    #[test]
    fn the_processor_is_the_last_that_words_name() {
        let cpu = |words| Tool::new(words).expect("words").cpu().map(str::to_owned);
        assert_eq!(cpu("cc -mcpu=cortex-m3 -O2 -mcpu=cortex-m4+nodsp"), Some("cortex-m4".into()));
        assert_eq!(cpu("avr-gcc -mmcu=atmega328p"), Some("atmega328p".into()));
        assert_eq!(cpu("cc -O2"), None);
    }

    #[test]
    fn what_a_compiler_does_instead_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |script: &str| {
            let tool = Tool::new("sh -c").expect("words");
            let mut command = tool.command(folder.path());
            command.arg(script);
            tool.make(command, "x.c", &folder.path().join("x.o")).expect_err("fails").to_string()
        };
        for (script, wanted) in [
            ("exit 1", "sh failed: on x.c: exit code 1, without a message"),
            ("kill -9 $$", "sh failed: on x.c: killed by signal 9"),
            ("true", "exit code 0, but wrote no file x.o: it is no C compiler; name another"),
            ("echo hello", "(set CC)\nhello"),
            ("mkdir x.o", "but wrote no plain file x.o"),
            ("rmdir x.o; echo text > x.o", "but wrote no object file x.o"),
        ] {
            let error = make(script);
            assert!(error.contains(wanted), "{script}: {error}");
        }
    }
}
