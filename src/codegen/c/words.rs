//! Text of models in generated C: names, strings and comments that are valid in every C from C99 on
//! and in C++.

use std::fmt::Write;

/// True if a C identifier is free for a parameter: no keyword, and nothing that a standard header
/// or a compiler defines as a macro or a type. Names of macros are in capitals, those of types end
/// with `_t`, and those with an underscore in front belong to compilers.
pub fn is_free(name: &str) -> bool {
    let is_macro = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.len() > 1
        && !name.contains(|c: char| c.is_ascii_lowercase());
    let is_taken = is_macro
        || RESERVED_LETTERS.contains(&name)
        || name.starts_with('_')
        || name.ends_with("_t")
        || KEYWORDS.contains(&name)
        || MACROS.contains(&name);
    !is_taken
}

/// The inside of a comment.
pub fn comment(text: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    for c in text.chars() {
        // No escape of a line's end, no marks that change the direction of text.
        let plain = c != '\\' && (c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric());
        let c = if plain { c } else { '_' };
        if matches!((last, c), ('*', '/') | ('/', '*') | ('?', '?')) {
            out.push(' ');
        }
        out.push(c);
        last = c;
    }
    out
}

/// The inside of a string literal.
pub fn string(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            // Two question marks may begin a trigraph.
            '"' | '\\' | '?' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => c.to_string().bytes().for_each(|byte| {
                // Writing to a string does not fail.
                let _ = write!(out, "\\{byte:03o}");
            }),
        }
    }
    out
}

/// Macros of one letter.
const RESERVED_LETTERS: [&str; 1] = ["I"];

/// Words that C (up to C23) or C++ (up to C++23) keep for themselves, or compilers by default.
#[rustfmt::skip]
const KEYWORDS: [&str; 96] = [
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "class", "co_await", "co_return", "co_yield", "compl", "concept",
    "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export",
    "extern", "false", "far", "float", "for", "fortran", "friend", "goto", "if", "inline", "int",
    "interface", "long", "mutable", "namespace", "near", "new", "noexcept", "not", "not_eq",
    "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "small",
    "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "typeof_unqual", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
    "xor_eq",
];

/// Macros of standard headers and compilers that are not in capitals.
#[rustfmt::skip]
const MACROS: [&str; 19] = [
    "assert", "complex", "errno", "i386", "imaginary", "linux", "math_errhandling", "mips",
    "noreturn", "offsetof", "ppc", "setjmp", "sparc", "stderr", "stdin", "stdout", "unix",
    "unreachable", "vax",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_headers_and_languages_define_is_not_free() {
        for name in [
            "NULL", "_Bool", "errno", "EOF", "stdin", "assert", "class", "new", "alignas", "I",
            "nullptr", "INFINITY", "int32_t", "BUFSIZ", "linux", "__x", "while", "M_PI",
        ] {
            assert!(!is_free(name), "{name}");
        }
        for name in ["x", "X", "input", "data_0", "Input3", "Plus214_Output_0", "t", "null"] {
            assert!(is_free(name), "{name}");
        }
    }

    #[test]
    fn comments_and_strings_end_where_they_should() {
        assert_eq!(comment("a*/b/*c"), "a* /b/ *c");
        assert_eq!(comment("**//"), "** //");
        assert_eq!(comment("/*/"), "/ * /");
        assert_eq!(comment("a??/\nb\\"), "a? ?/_b_");
        assert_eq!(comment("Größe \u{202e}x"), "Größe _x");
        assert_eq!(string("a??/\"\\\nä1"), "a\\?\\?/\\\"\\\\\\012\\303\\2441");
    }
}
