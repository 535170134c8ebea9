//! Texts that the IR carries until the package is written: signature, inputs that are constants.

use super::{FixedInput, Signature};
use crate::{
    Error, Result,
    ir::{
        self, Op, edit,
        names::{FIXED_INPUTS, SIGNATURE},
    },
};
use melior::ir::attribute::StringAttribute;

/// The signature that [`record_signature`] wrote.
pub fn recorded_signature(module: Op<'_>) -> Result<Signature> {
    let text = ir::attr_str(module, SIGNATURE).ok_or_else(|| {
        Error::invalid(format!(
            "the module has no attribute {SIGNATURE}: split-by-target, in phase codegen, has \
             not run on it"
        ))
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Error::invalid(format!("attribute {SIGNATURE} is not valid: {error}")))
}

/// Writes the signature on the module, whose functions are about to lose the facts that it is read
/// from.
pub fn record_signature(module: Op<'_>, signature: &Signature) -> Result<()> {
    let text = serde_json::to_string(signature)
        .map_err(|error| Error::internal(format!("the signature has no JSON form: {error}")))?;
    let value = StringAttribute::new(ir::context_of(module), &text);
    edit::set_attr(module, SIGNATURE, value.into());
    Ok(())
}

/// Writes inputs that are constants on a module.
pub fn record_fixed_inputs(module: Op<'_>, fixed: &[FixedInput]) -> Result<()> {
    let text = serde_json::to_string(fixed)
        .map_err(|error| Error::internal(format!("values of inputs have no JSON form: {error}")))?;
    let value = StringAttribute::new(ir::context_of(module), &text);
    edit::set_attr(module, FIXED_INPUTS, value.into());
    Ok(())
}

/// The inputs that [`record_fixed_inputs`] wrote.
pub fn recorded_fixed_inputs(module: Op<'_>) -> Result<Vec<FixedInput>> {
    let Some(text) = ir::attr_str(module, FIXED_INPUTS) else { return Ok(vec![]) };
    serde_json::from_str(&text)
        .map_err(|error| Error::invalid(format!("attribute {FIXED_INPUTS} is not valid: {error}")))
}
