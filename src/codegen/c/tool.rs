//! The C compiler of a host target: which machine it is for, and how it is called.

use crate::{Error, Result};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// A C compiler with arguments, such as `["clang", "--target=aarch64-linux-gnu"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool(Vec<String>);

impl Tool {
    /// The compiler that a command names, with words apart by blanks.
    pub fn new(command: &str) -> Result<Self> {
        let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(Error::invalid("the option compiler names no program; the usual is cc"));
        }
        Ok(Self(words))
    }

    /// The command, to be run in `folder`.
    pub fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.current_dir(folder).args(&self.0[1..]);
        command
    }

    /// Runs it; the error has what it said, the least of it that helps.
    pub fn run(&self, mut command: Command, about: &str) -> Result<Vec<u8>> {
        let program = self.0[0].clone();
        let output = command.output().map_err(|error| Error::Tool {
            program: program.clone(),
            detail: format!(
                "cannot be started: {error}; install it, or name another with the target's \
                 option -compiler"
            ),
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<_> = message.lines().take(20).collect();
        Err(Error::Tool { program, detail: format!("on {about}:\n{}", lines.join("\n")) })
    }

    /// The triple of the machine that it is for, as GCC and Clang say it.
    pub fn machine(&self) -> Result<String> {
        let mut command = self.command(Path::new("."));
        command.arg("-dumpmachine");
        let out = self.run(command, "-dumpmachine")?;
        let mut triple = String::from_utf8_lossy(&out).trim().to_owned();
        if triple.is_empty() || triple.contains(char::is_whitespace) {
            return Err(Error::Tool {
                program: self.0[0].clone(),
                detail: format!("answers '{triple}' to -dumpmachine; a triple is expected"),
            });
        }
        // GCC answers the same with -m32.
        if let Some(rest) = triple.strip_prefix("x86_64-")
            && self.defines("__i386__")?
        {
            triple = format!("i386-{rest}");
        }
        Ok(triple)
    }

    /// Whether it defines a macro by itself.
    fn defines(&self, name: &str) -> Result<bool> {
        let mut command = self.command(Path::new("."));
        command.args(["-E", "-dM", "-x", "c", "-"]).stdin(Stdio::null());
        let out = self.run(command, "-dM")?;
        let line = format!("#define {name} ");
        Ok(String::from_utf8_lossy(&out).lines().any(|other| other.starts_with(&line)))
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        assert!(Tool::new("  ").is_err());
        let tool = Tool::new("no-such-compiler --flag").expect("words");
        let error = tool.machine().expect_err("is not there").to_string();
        assert!(error.contains("no-such-compiler") && error.contains("-compiler"), "{error}");
    }
}
