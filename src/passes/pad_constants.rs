//! `pad-constants`: zeros behind the constants that calls are given.
//!
//! ```text
//! tir.call_extern @f ins(%c : tensor<20xi8>)
//!   --pad-constants{multiple=16}-->  tir.call_extern @f ins(%d : tensor<32xi8>)
//! ```
//! For devices whose transfers come in bursts, which may read past the end: a constant updater that
//! is a pipeline.

use crate::{
    Error, Result,
    hook::constants,
    ir::Op,
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets::hooks::Constant,
    tensor::{AlignedBuffer, Tensor},
};

crate::pass_options! {
    /// Options of `pad-constants`.
    pub struct Options {
        multiple: i64 = "16", "Bytes of which sizes become multiples";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "pad-constants",
    summary: "Pad the constants that calls are given to a multiple of bytes",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let multiple = usize::try_from(options.multiple).ok().filter(|bytes| *bytes > 0);
    let multiple = multiple.ok_or_else(|| {
        PassError::new(format!("multiple is {}; a positive number is needed", options.multiple))
    })?;
    constants::replace_each(function, |constant| pad(constant, multiple))?;
    Ok(())
}

/// The constant in one dimension with zeros behind it; nothing if its size is right.
fn pad(constant: &Constant, multiple: usize) -> Result<Option<Tensor>> {
    let bytes = constant.value.bytes();
    let padded = bytes.len().next_multiple_of(multiple);
    if padded == bytes.len() {
        return Ok(None);
    }
    let element = constant.value.dtype().size();
    if !padded.is_multiple_of(element) {
        return Err(Error::invalid(format!(
            "input {} of {} has elements of {element} bytes, which do not fill multiples of \
             {multiple}",
            constant.input, constant.callee
        )));
    }
    let mut buffer = AlignedBuffer::zeroed(padded)?;
    buffer.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
    let tensor = Tensor::from_buffer(constant.value.dtype(), &[padded / element], buffer)?;
    Ok(Some(tensor))
}
