//! Guard bytes around buffers, for checks: nothing may touch them.
//!
//! A module with the attribute [`GUARD`] gets so many bytes after each buffer of its arena and
//! after each of its constants, and no two buffers share memory. The places of these bytes are
//! recorded on the module.

use super::{
    Op, attr_i64, attr_i64s, edit, i64s,
    names::{DEVICE_GAPS, GUARD},
};
use melior::ir::attribute::{ArrayAttribute, DenseI64ArrayAttribute, StringAttribute};
use melior::ir::operation::OperationLike;

/// An integer attribute of an operation, or of the nearest one around it that has it.
pub fn around(op: Op<'_>, name: &str) -> Option<i64> {
    let mut next = Some(op);
    while let Some(op) = next {
        if let Some(value) = attr_i64(op, name) {
            return Some(value);
        }
        next = op.parent_operation();
    }
    None
}

/// Bytes after each buffer; 0 as a rule.
pub fn bytes(op: Op<'_>) -> u64 {
    around(op, GUARD).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// Records gaps on the module.
pub fn record(module: Op<'_>, name: &str, gaps: &[(u64, u64)]) {
    let context = super::context_of(module);
    edit::set_attr(module, name, DenseI64ArrayAttribute::new(context, &ends(gaps)).into());
}

fn ends(gaps: &[(u64, u64)]) -> Vec<i64> {
    gaps.iter().flat_map(|gap| [gap.0 as i64, gap.1 as i64]).collect()
}

/// Records gaps in the memory of a device on the module.
pub fn record_in(module: Op<'_>, space: &str, gaps: &[(u64, u64)]) {
    let context = super::context_of(module);
    let entry = [
        ("space".to_owned(), StringAttribute::new(context, space).into()),
        ("gaps".to_owned(), DenseI64ArrayAttribute::new(context, &ends(gaps)).into()),
    ];
    let mut all = module.attribute(DEVICE_GAPS).map(edit::array).unwrap_or_default();
    all.push(edit::dictionary_attr(context, &entry));
    edit::set_attr(module, DEVICE_GAPS, ArrayAttribute::new(context, &all).into());
}

/// The gaps that were recorded.
pub fn recorded(module: Op<'_>, name: &str) -> Vec<(usize, usize)> {
    pairs(&attr_i64s(module, name).unwrap_or_default())
}

fn pairs(ends: &[i64]) -> Vec<(usize, usize)> {
    ends.chunks_exact(2).map(|gap| (gap[0] as usize, gap[1] as usize)).collect()
}

/// The gaps that were recorded in the memory of a device.
pub fn recorded_in(module: Op<'_>, space: &str) -> Vec<(usize, usize)> {
    let all = module.attribute(DEVICE_GAPS).map(edit::array).unwrap_or_default();
    let gaps = all.into_iter().filter_map(|entry| {
        let entry = edit::dictionary(entry);
        let of = |key: &str| entry.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        (edit::string(of("space")?)? == space).then_some(())?;
        i64s(of("gaps")?)
    });
    gaps.flat_map(|ends| pairs(&ends)).collect()
}
