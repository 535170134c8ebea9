//! Operators of vendors in the graphs of patterns.

use crate::{
    graph::{Arity, AttrValue, OpDecl},
    import::operators::Use,
    ir::{self, Builder, Val},
    targets::OperatorDecl,
};
use std::sync::Arc;

/// An operator that the target declares, on these operands; none if they do not fit it. Its
/// reference is added when the graph is compiled.
pub fn create<'c>(
    b: &Builder<'c>,
    operators: &[Arc<OperatorDecl>],
    decl: &OpDecl,
    values: &[Option<Val<'c>>],
    attributes: Vec<(String, AttrValue)>,
) -> Option<Vec<Val<'c>>> {
    let operator = operators.iter().find(|known| known.decl.name == decl.name)?;
    let mut groups = vec![];
    let mut operands = vec![];
    for (index, operand) in decl.operands.iter().enumerate() {
        let end = if operand.arity == Arity::Variadic { values.len() } else { index + 1 };
        let given = values.get(index..end.max(index)).unwrap_or_default();
        let before = operands.len();
        operands.extend(given.iter().copied().flatten());
        groups.push(operands.len() - before);
    }
    let found = Use::new(operator, (operands, groups), &attributes.into_iter().collect()).ok()?;
    let types = found.types(b).ok()?;
    Some(ir::results(found.create(b, &types, None).ok()?))
}
