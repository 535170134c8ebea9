//! How large what is compiled may be.
//!
//! A few bytes of a model can describe a value of any size. These limits are far beyond what can be
//! run, and keep arithmetic on sizes within 64 bits.

use crate::{
    Error, Result,
    ir::{self, Op, edit, size},
};
use melior::ir::{BlockLike, RegionLike, Type, ValueLike, operation::OperationLike};

/// Dimensions of a value.
pub const MAX_RANK: usize = 64;

/// Bytes of a value, and of an arena.
pub const MAX_BYTES: u64 = 1 << 40;

/// Brackets of IR's text within each other. Parsers call themselves for each.
const MAX_NESTING: usize = 256;

/// Fails if text (not bytecode) is such that MLIR's parser ends the program instead of refusing it:
/// brackets nested too deep, or an array attribute of `index`. Gives the line and what is wrong.
pub fn check_text(text: &[u8]) -> Result<(), (usize, &'static str)> {
    if text.starts_with(b"ML\xefR") {
        return Ok(());
    }
    let (mut depth, mut line) = (0_usize, 1);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied().unwrap_or_default();
        let before = at.checked_sub(1).map_or(0, |before| text[before]);
        match byte {
            b'\n' => line += 1,
            b'"' => {
                at += 1;
                while text.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if next == b'/' => {
                while text.get(at + 1).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
            }
            // Comparisons and arrows are no brackets.
            b'<' | b'>' if next == b'=' || before == b'-' => {}
            b'<' if is_array_of_index(&text[..at], &text[at + 1..]) => {
                return Err((line, "has an array of index, which MLIR cannot hold: use i64"));
            }
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err((line, "the text is nested too deep to be parsed"));
        }
        at += 1;
    }
    Ok(())
}

/// Whether a bracket between these texts opens `array<index`.
fn is_array_of_index(before: &[u8], after: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.!#".contains(byte);
    let ends = before.trim_ascii_end().strip_suffix(b"array");
    let starts = after.trim_ascii_start().strip_prefix(b"index");
    ends.is_some_and(|rest| !rest.last().is_some_and(is_word))
        && starts.is_some_and(|rest| !rest.first().is_some_and(is_word))
}

/// Fails if a value of that type is beyond the limits. Unknown dimensions count as 1.
pub fn check_type(ty: Type<'_>) -> Result<(), String> {
    let dims = ir::dims(ty);
    if dims.len() > MAX_RANK {
        return Err(format!(
            "has rank {}; at most {MAX_RANK} dimensions are supported",
            dims.len()
        ));
    }
    let known = || dims.iter().filter_map(|dim| u64::try_from(*dim).ok());
    if known().any(|dim| dim == 0) {
        return Ok(());
    }
    let element = size::element_bytes(ir::element_type(ty)).unwrap_or(1);
    match known().try_fold(element, u64::checked_mul) {
        Some(bytes) if bytes <= MAX_BYTES => Ok(()),
        Some(bytes) => {
            Err(format!("is {ty}, which takes {bytes} bytes; at most {MAX_BYTES} are supported"))
        }
        None => Err(format!(
            "is {ty}, which takes more bytes than 64 bits can count; at most {MAX_BYTES} are \
             supported"
        )),
    }
}

/// Fails if a value in the regions of `root` is beyond the limits.
pub fn check_values(root: Op<'_>) -> Result<()> {
    for op in edit::walk(root) {
        let at = |what: String, reason: String| {
            Error::invalid(format!(
                "{} of '{}' {reason} ({})",
                what,
                ir::op_name(op),
                op.location()
            ))
        };
        for (index, result) in ir::results(op).into_iter().enumerate() {
            check_type(result.r#type()).map_err(|reason| at(format!("result {index}"), reason))?;
        }
        for region in op.regions() {
            let mut block = region.first_block();
            while let Some(current) = block {
                for (index, argument) in edit::arguments(current).into_iter().enumerate() {
                    check_type(argument.r#type())
                        .map_err(|reason| at(format!("argument {index}"), reason))?;
                }
                block = current.next_in_region();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use melior::ir::TypeLike;

    #[test]
    fn sizes_are_counted_with_care() {
        let session = Session::new();
        let check = |text: &str| {
            let ty = Type::parse(session.context(), text).expect("is a type");
            assert!(!ty.to_raw().ptr.is_null());
            check_type(ty)
        };
        for good in [
            "tensor<f32>",
            "tensor<0x9223372036854775807x9223372036854775807xf32>",
            "tensor<?x1024xf32>",
            "tensor<1099511627776xi8>",
            "memref<64xi1>",
            "index",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, text) in [
            ("tensor<1099511627777xi8>", "takes 1099511627777 bytes; at most 1099511627776"),
            ("tensor<1000000000000xf32>", "takes 4000000000000 bytes"),
            ("tensor<?x9223372036854775807x2xf32>", "more bytes than 64 bits can count"),
        ] {
            let message = check(bad).expect_err(bad);
            assert!(message.contains(text), "{message}");
        }
        let deep = format!("tensor<{}f32>", "1x".repeat(65));
        assert!(check(&deep).expect_err("is deep").contains("rank 65; at most 64"));
    }

    #[test]
    fn nesting_is_counted_outside_of_strings_and_comments() {
        let many = |open: &str, close: &str| open.repeat(1000) + &close.repeat(1000);
        let line = |text: &str| check_text(text.as_bytes()).expect_err(text).0;
        assert_eq!(line(&many("[", "]")), 1);
        assert_eq!(line(&many("\n(", ")")), 258);
        for fine in [
            format!("\"{}\\\"{}\"", "(".repeat(1000), "{".repeat(1000)),
            format!("// {}", "(".repeat(1000)),
            "(d0 <= 1) -> (x)".repeat(1000),
            "[]".repeat(1000),
            many("[", "]")[900..1100].to_owned(),
        ] {
            assert_eq!(check_text(fine.as_bytes()), Ok(()), "{fine}");
        }
    }

    #[test]
    fn arrays_of_index_are_found() {
        for bad in ["{a = array<index: 1>}", "\n array < index>", "[array<index: 0, 2>]"] {
            assert!(check_text(bad.as_bytes()).is_err(), "{bad}");
        }
        for fine in ["array<i64: 1>", "\"array<index\"", "!my.array<index>", "array<indexed>"] {
            assert_eq!(check_text(fine.as_bytes()), Ok(()), "{fine}");
        }
    }
}
