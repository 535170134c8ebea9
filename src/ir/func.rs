//! Functions, and the inputs of networks.

use super::{Val, edit};
use melior::ir::BlockLike;
pub use phaseline_toolkit::ir::func::*;
use std::collections::HashSet;

/// The remedy for values that have to be known when a network is compiled: give those of the inputs that they
/// are computed from.
pub fn value_remedy(values: &[Val<'_>]) -> String {
    let names = inputs_behind(values);
    let options: Vec<_> = names.iter().map(|name| format!("--value {name}=V")).collect();
    match options.as_slice() {
        [] => "give the values of the inputs that it comes from: --value NAME=V".to_owned(),
        [one] => format!("give the value of the input that it comes from: {one}"),
        more => format!("give the values of the inputs that it comes from: {}", more.join(" ")),
    }
}

/// The inputs of the network that values are computed from, by name.
fn inputs_behind(values: &[Val<'_>]) -> Vec<String> {
    /// Values that are looked at.
    const MOST: usize = 1000;
    let (mut names, mut seen, mut next) = (vec![], HashSet::new(), values.to_vec());
    while let Some(value) = next.pop() {
        if seen.len() == MOST || !seen.insert(super::id(value)) {
            continue;
        }
        if let Some(op) = edit::defining_op(value) {
            next.extend(super::operands(op));
        }
        let Some((block, index)) = edit::owner_block(value) else { continue };
        let arguments = block.parent_operation().and_then(|op| Signature::of(op).ok());
        let argument = arguments.and_then(|signature| signature.arguments.into_iter().nth(index));
        let attributes = argument.map(|(_, attributes)| attributes).unwrap_or_default();
        let name = attributes.iter().find(|(key, _)| key == super::names::NAME);
        names.extend(name.and_then(|(_, name)| edit::string(*name)));
    }
    names.sort();
    names
}
