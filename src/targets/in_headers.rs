//! Functions whose bodies are in headers: `static inline` functions and macros. They may consist of
//! intrinsics or `asm`.
//!
//! A pattern with `inline = true` may call one. It has no symbol that a linker finds, so the host's
//! own code takes the body from the header. The C of the host includes it, and code through LLVM
//! takes it from Clang.

use super::{CodegenKind, TargetInstance};
use crate::{Error, Result, process};
use std::{
    collections::BTreeSet,
    process::Command,
    sync::{Mutex, PoisonError},
};

/// Flags of the linker that bring nothing of a vendor's.
const PLAIN_FLAGS: [&str; 3] = ["-lm", "-lpthread", "-pthread"];

/// The option of a target that names its compiler.
const COMPILER: &str = "compiler";

/// The Clang whose LLVM is this program's.
const USUAL: &str = "clang-22";

/// The version that such a Clang prints.
const VERSION: &str = "clang version 22.";

impl TargetInstance {
    /// The command of the Clang that makes IR of bodies of headers; arguments may follow the program.
    pub fn clang(&self) -> &str {
        self.text(COMPILER).unwrap_or(USUAL)
    }
}

/// Checks a command for Clang, which starts once in a process; the error describes the fault.
fn check_clang(command: &str) -> Result<(), String> {
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(command) {
        return Ok(());
    }
    let mut words = command.split_whitespace();
    let mut call = Command::new(words.next().unwrap_or_default());
    let output = process::output(call.args(words).arg("--version"));
    let output = output.map_err(|error| format!("'{command}' cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.contains(VERSION) {
        let first = said.lines().next().unwrap_or_default();
        return Err(format!("'{command}' is another: it says '{first}'"));
    }
    known().insert(command.to_owned());
    Ok(())
}

/// The headers of a target, as far as bodies may be in them.
#[derive(Clone, Debug, Default)]
pub struct InHeaders {
    names: Vec<String>,
    texts: Vec<String>,
    /// True if nothing else could have a body.
    only: bool,
}

impl InHeaders {
    /// The headers of a target.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn of(target: &TargetInstance) -> Result<Self> {
        let codegen = target.codegen()?;
        let texts = codegen.headers.iter().map(|name| Ok(plain(&target.kind.read(name)?)));
        let links = codegen.link_flags.iter().any(|flag| !PLAIN_FLAGS.contains(&flag.as_str()));
        Ok(Self {
            texts: texts.collect::<Result<_>>()?,
            only: codegen.sources.is_empty()
                && !links
                && target.kind.libraries.is_empty()
                && target.kind.hooks.data.is_empty()
                && target.kind.hooks.rust.is_none(),
            names: codegen.headers,
        })
    }

    /// The names of the headers where one of them has the body of a function; none where that is linked.
    pub fn with(&self, function: &str) -> Vec<String> {
        let defined = || self.texts.iter().any(|text| defines(text, function));
        if self.only || defined() { self.names.clone() } else { vec![] }
    }
}

/// Fails if the host's own code needs bodies of headers, and there is nothing that reads them.
///
/// # Errors
/// Names the pattern and the compiler.
pub fn check_compiler(targets: &[TargetInstance]) -> Result<()> {
    let Some(host) = targets.last().filter(|host| host.is_host()) else { return Ok(()) };
    if host.kind.codegen.kind != CodegenKind::Llvm {
        return Ok(());
    }
    for target in targets.iter().filter(|target| !target.is_host()) {
        let mut inline =
            target.kind.patterns.iter().filter(|pattern| pattern.spec.inline).peekable();
        if inline.peek().is_none() {
            continue;
        }
        let headers = InHeaders::of(target)?;
        let with_body = inline.find(|pattern| {
            let call = pattern.spec.call.as_deref().unwrap_or_default();
            called(call).is_some_and(|name| !headers.with(name).is_empty())
        });
        let Some(pattern) = with_body else { continue };
        check_clang(target.clang()).map_err(|reason| {
            Error::invalid(format!(
                "target '{}': pattern '{}' is inline and calls what a header has, which the code of '{}' takes through \
                 Clang 22, and {reason}; install Clang 22, name it with an option `compiler` of '{}', or take the host c",
                target.id, pattern.spec.name, host.id, target.kind.name
            ))
        })?;
    }
    Ok(())
}

/// The function in the text of a prototype.
fn called(prototype: &str) -> Option<&str> {
    prototype.split('(').next()?.split_whitespace().last().map(|name| name.trim_start_matches('*'))
}

/// A text of C without comments and what is quoted.
fn plain(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(rest),
            _ => {
                out.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                continue;
            }
        };
        out.push(' ');
        rest = rest.get(skipped..).unwrap_or_default();
    }
    out
}

/// The length of a quoted text with its quotes.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '\n' || (*c == '"' && !escaped);
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(place, _)| place + 1)
}

/// True if a text of C without comments defines a function or macro.
fn defines(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(place, _)| {
        let (before, after) =
            (text.get(..place).unwrap_or_default(), text.get(place + name.len()..));
        let after = after.unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        let line = before.rsplit('\n').next().unwrap_or_default();
        let directive = line.trim_start().strip_prefix('#').map(str::trim);
        directive.map_or_else(|| has_body(after), |directive| directive == "define")
    })
}

/// True if parameters and a body follow, with attributes between at most.
fn has_body(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('(') {
        return false;
    }
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '{' if depth == 0 => return true,
            ';' | '}' | ',' | '=' | '#' if depth == 0 => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_told_from_declarations() {
        for (text, wanted) in [
            ("static inline void f(const float *a, float *y) { y[0] = a[0]; }", true),
            (
                "static inline int\nf(int (*g)(int)) __attribute__((always_inline))\n{ return g(1); }",
                true,
            ),
            ("#define f(a, b) (b)[0] = (a)[0]", true),
            ("  #  define f g", true),
            ("void f(const float *a, float *y);", false),
            ("/* void f(int a) { */ void f(int a); // f(1) {", false),
            ("static inline void ff(int a) { g(a); }\nvoid f(int a);", false),
            ("#define g f(1)\nvoid f(int);", false),
            ("static inline void g(void) { f(1); h(\"\\\" f(1) {\"); }", false),
            ("#if f(1)\nvoid g(void) {}\n#endif", false),
        ] {
            assert_eq!(defines(&plain(text), "f"), wanted, "{text}");
        }
        assert_eq!(called("void  f(in x)"), Some("f"));
    }
}
