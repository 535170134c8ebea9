//! Size limits of models.
//!
//! A few bytes of a model can describe a value of any size. These limits are far beyond what can be
//! run, and keep arithmetic on sizes within 64 bits.

pub use crate::ir::nesting::check_text;
use crate::{
    Error, Result,
    ir::{self, Op, edit, size},
};
use melior::ir::{BlockLike, RegionLike, Type, ValueLike, operation::OperationLike};

/// Dimensions of a value.
pub const MAX_RANK: usize = 64;

/// Bytes of a value, and of an arena.
pub const MAX_BYTES: u64 = 1 << 40;

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
}
