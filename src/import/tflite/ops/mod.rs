//! The operators of the format: a row each.

mod arithmetic;
mod product;
mod reduce;
mod select;
mod shape;
mod space;
mod window;

use super::node::{Node, Outcome};
use std::ops::RangeInclusive;

/// An operator with its import.
pub(crate) struct Entry {
    /// The format's number.
    pub(crate) code: i32,
    /// The format's name.
    pub(crate) name: &'static str,
    /// Number of operands.
    pub(crate) operands: RangeInclusive<usize>,
    /// Emits operations, and sets the results.
    pub(crate) import: fn(&mut Node<'_, '_>) -> Outcome<()>,
}

const fn op(
    code: i32,
    name: &'static str,
    operands: RangeInclusive<usize>,
    import: fn(&mut Node<'_, '_>) -> Outcome<()>,
) -> Entry {
    Entry { code, name, operands, import }
}

/// The row of an operator.
pub(crate) fn find(code: i32) -> Option<&'static Entry> {
    TABLES.iter().flat_map(|table| table.iter()).find(|entry| entry.code == code)
}

/// Name of an operator without a row.
pub(crate) fn name(code: i32) -> String {
    let known = OTHERS.iter().find(|(other, _)| *other == code);
    known.map_or_else(|| format!("operator {code}"), |(_, name)| (*name).to_owned())
}

/// The names of all operators with an import, sorted.
pub fn supported_operators() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLES.iter().flat_map(|table| table.iter().map(|e| e.name)).collect();
    names.sort_unstable();
    names
}

const TABLES: [&[Entry]; 7] =
    [arithmetic::OPS, product::OPS, reduce::OPS, select::OPS, shape::OPS, space::OPS, window::OPS];

/// Names of operators that have no import, for messages.
const OTHERS: [(i32, &str); 34] = [
    (7, "EMBEDDING_LOOKUP"),
    (10, "HASHTABLE_LOOKUP"),
    (13, "LOCAL_RESPONSE_NORMALIZATION"),
    (15, "LSH_PROJECTION"),
    (16, "LSTM"),
    (24, "RNN"),
    (27, "SVDF"),
    (31, "CALL"),
    (32, "CUSTOM"),
    (35, "UNIDIRECTIONAL_SEQUENCE_RNN"),
    (44, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    (46, "BIDIRECTIONAL_SEQUENCE_RNN"),
    (48, "TOPK_V2"),
    (52, "BIDIRECTIONAL_SEQUENCE_LSTM"),
    (68, "SPARSE_TO_DENSE"),
    (80, "FAKE_QUANT"),
    (85, "ONE_HOT"),
    (103, "UNIQUE"),
    (109, "WHERE"),
    (112, "REVERSE_SEQUENCE"),
    (118, "IF"),
    (119, "WHILE"),
    (120, "NON_MAX_SUPPRESSION_V4"),
    (121, "NON_MAX_SUPPRESSION_V5"),
    (122, "SCATTER_ND"),
    (124, "DENSIFY"),
    (129, "CALL_ONCE"),
    (131, "RFFT2D"),
    (132, "CONV_3D"),
    (141, "CONV_3D_TRANSPOSE"),
    (142, "VAR_HANDLE"),
    (143, "READ_VARIABLE"),
    (144, "ASSIGN_VARIABLE"),
    (151, "DYNAMIC_UPDATE_SLICE"),
];
