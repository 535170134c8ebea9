//! Attention whose heads share keys and values.
//!
//! Exporters repeat keys and values for each head of queries. Where every head has as many rows as masks tell apart, the
//! heads that share some become rows of one matrix instead, and nothing is repeated:
//! `[batch, shared * rest, rows, n]` is `[batch, shared, rest * rows, n]`.

use super::expand_einsum::reshape;
use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val, edit, graph,
        rewrite::{Rewriter, Rule},
        types::with_element,
        view::{self, OpView},
    },
};
use melior::ir::ValueLike;

/// Operations between the two products, at most.
const MAX_STEPS: usize = 16;

/// Grouping of attention heads.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Groups {
    batch: i64,
    /// Heads of keys and values.
    shared: i64,
    /// Heads of queries for each of those.
    rest: i64,
    /// Rows of a head of queries.
    rows: i64,
}

/// Keys or values that are repeated for heads.
struct Repeated<'c> {
    groups: Groups,
    /// `[batch, shared, 1, length, size]`.
    source: Val<'c>,
    /// Operations on `[batch, shared * rest, length, size]`, the first one first. Each has the
    /// place of the operand that is repeated.
    steps: Vec<(Op<'c>, usize)>,
}

/// Both products of attention, and the operations between them.
struct Attention<'c> {
    scores: graph::MatMul<'c>,
    keys: Repeated<'c>,
    /// The first operation first.
    steps: Vec<Op<'c>>,
    values: Repeated<'c>,
}

/// The rule.
pub const RULE: Rule = Rule { name: "group-heads", root: graph::MatMul::NAME, benefit: 1, apply };

/// Groups the heads of attention that ends with this product.
fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(product) = graph::MatMul::of(op) else { return Ok(false) };
    let Some(Attention { scores, keys, steps, values }) = Attention::before(product) else {
        return Ok(false);
    };
    let (groups, end) = (keys.groups, product.op());
    let b = r.before(end)?;
    let queries = groups.apply(&b, scores.a())?;
    let keys = keys.build(r, b)?;
    let mut value = graph::MatMul::build(&b, queries, keys)?.y();
    let mut last = scores.y();
    for step in steps {
        let new = |operand: Val<'c>| match operand == last {
            true => Ok(value),
            false => groups.apply(&b, operand),
        };
        let operands: Vec<_> = ir::operands(step).into_iter().map(new).collect::<Result<_>>()?;
        let copy = b.insert_clone(step);
        for (place, operand) in operands.into_iter().enumerate() {
            r.retype_operand(copy, place, operand)?;
        }
        last = ir::result0(step)?;
        value = ir::result0(copy)?;
        if let Some(dims) = groups.dims(last) {
            r.set_type(
                value,
                with_element(b.tensor(&dims, b.f32()), ir::element_type(last.r#type())),
            );
        }
    }
    let values = values.build(r, b)?;
    let y = graph::MatMul::build(&b, value, values)?.y();
    let dims = ir::dims(product.y().r#type());
    r.retype_uses(product.y(), reshape(&b, y, &dims)?);
    r.erase(end)?;
    Ok(true)
}

impl Groups {
    /// The dimensions of an operand of any step with heads in groups: of one without heads and rows they stay. None where
    /// it has rows and no heads, or heads and no rows, of which it would take copies.
    fn dims(&self, value: Val<'_>) -> Option<Vec<i64>> {
        let dims = ir::static_dims(value.r#type())?;
        let (heads, rows) = match dims[..] {
            [.., heads, rows, _] => (heads, rows),
            [rows, _] => (1, rows),
            _ => (1, 1),
        };
        match dims[..] {
            _ if heads == 1 && rows == 1 => Some(dims),
            [batch, _, _, columns] if heads == self.shared * self.rest && rows == self.rows => {
                Some(vec![batch, self.shared, self.rest * rows, columns])
            }
            _ => None,
        }
    }

    fn apply<'c>(&self, b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
        match self.dims(value) {
            Some(dims) => reshape(b, value, &dims),
            None => Ok(value),
        }
    }
}

impl<'c> Attention<'c> {
    /// The attention that ends with a product, if its heads share keys and values, and all between can go in groups.
    fn before(product: graph::MatMul<'c>) -> Option<Self> {
        let [batch, heads, rows, _] = ir::static_dims(product.a().r#type())?[..] else {
            return None;
        };
        let values = Repeated::of(product.b(), rows)?;
        if values.groups.batch != batch || values.groups.shared * values.groups.rest != heads {
            return None;
        }
        let mut steps = vec![];
        let scores = path(product.a(), values.groups, &mut steps)?;
        let keys = Repeated::of(scores.b(), rows).filter(|keys| keys.groups == values.groups)?;
        values.groups.dims(scores.a())?;
        steps.reverse();
        Some(Self { scores, keys, steps, values })
    }
}

/// The product that a value comes from, through operations that go in groups as well: `steps` from the last one.
fn path<'c>(value: Val<'c>, groups: Groups, steps: &mut Vec<Op<'c>>) -> Option<graph::MatMul<'c>> {
    let op = edit::defining_op(value).filter(|_| !ir::has_uses(value, 2))?;
    if let Some(product) = graph::MatMul::of(op) {
        return Some(product);
    }
    let rows = graph::Softmax::of(op).is_some_and(|softmax| matches!(softmax.axis(), -1 | 3));
    if steps.len() == MAX_STEPS || !(rows || view::is_elementwise(op)) {
        return None;
    }
    let operands = ir::operands(op);
    if operands.iter().any(|operand| groups.dims(*operand).is_none()) {
        return None;
    }
    let dims = ir::static_dims(value.r#type())?;
    let known = steps.len();
    steps.push(op);
    for operand in operands {
        if ir::static_dims(operand.r#type()).as_ref() == Some(&dims) {
            if let Some(product) = path(operand, groups, steps) {
                return Some(product);
            }
            steps.truncate(known + 1);
        }
    }
    None
}

impl<'c> Repeated<'c> {
    /// Keys or values that are repeated and then scaled, converted or transposed.
    fn of(value: Val<'c>, rows: i64) -> Option<Self> {
        let op = edit::defining_op(value)?;
        if let Some(shaped) = graph::Reshape::of(op) {
            let expand = graph::Expand::of(edit::defining_op(shaped.x())?)?;
            let [batch, shared, rest, length, size] = ir::static_dims(expand.y().r#type())?[..]
            else {
                return None;
            };
            let source = expand.x();
            let fits = ir::static_dims(source.r#type())? == [batch, shared, 1, length, size]
                && ir::static_dims(value.r#type())? == [batch, shared * rest, length, size];
            let groups = Groups { batch, shared, rest, rows };
            return (fits && rest > 1).then_some(Self { groups, source, steps: vec![] });
        }
        let dims = ir::static_dims(value.r#type())?;
        let turned = graph::Transpose::of(op).filter(|op| op.perm() == [0, 1, 3, 2]);
        let same = |operand: &Val<'c>| {
            ir::static_dims(operand.r#type()).is_some_and(|other| other == dims)
        };
        let alone = |operand: &Val<'c>| {
            ir::static_dims(operand.r#type()).is_some_and(|dims| dims.iter().all(|dim| *dim == 1))
        };
        let operands = ir::operands(op);
        let place = match turned {
            Some(_) => 0,
            None if view::is_elementwise(op)
                && operands.iter().filter(|x| !alone(x)).count() == 1 =>
            {
                operands.iter().position(same)?
            }
            None => return None,
        };
        let x = *operands.get(place)?;
        let mut found = Self::of(x, rows).filter(|found| found.steps.len() < MAX_STEPS)?;
        found.steps.push((op, place));
        Some(found)
    }

    /// The same without repetitions.
    fn build(&self, r: &mut Rewriter<'_, 'c>, b: Builder<'c>) -> Result<Val<'c>> {
        let [batch, shared, _, length, size] = ir::dims(self.source.r#type())[..] else {
            return Err(Error::internal("keys of another rank"));
        };
        let mut value = reshape(&b, self.source, &[batch, shared, length, size])?;
        for (step, operand) in &self.steps {
            let copy = b.insert_clone(*step);
            r.retype_operand(copy, *operand, value)?;
            value = ir::result0(copy)?;
            let whole = ir::result0(*step)?.r#type();
            let mut dims = ir::dims(whole);
            if let Some(heads) = dims.get_mut(1) {
                *heads = shared;
            }
            r.set_type(value, with_element(b.tensor(&dims, b.f32()), ir::element_type(whole)));
        }
        Ok(value)
    }
}
