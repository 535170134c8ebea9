//! Building `linalg.generic`: index maps, loops and bodies.

use super::Lowering;
use crate::{
    Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val, constant::Elements, edit},
};
use melior::{
    Context,
    ir::{
        AffineExpr, AffineMap, Attribute, BlockLike, Region, Type, ValueLike,
        attribute::{ArrayAttribute, DenseI32ArrayAttribute},
    },
};
use std::ops::{Add, Mul, Sub};

/// One result of an index map: a sum of loop indices with factors, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aff {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

/// The index of loop `loop_index`.
pub fn d(loop_index: usize) -> Aff {
    Aff { terms: vec![(loop_index, 1)], constant: 0 }
}

/// A constant index.
pub fn c(constant: i64) -> Aff {
    Aff { terms: vec![], constant }
}

impl Add for Aff {
    type Output = Aff;
    fn add(mut self, other: Aff) -> Aff {
        self.terms.extend(other.terms);
        self.constant += other.constant;
        self
    }
}

impl Sub<i64> for Aff {
    type Output = Aff;
    fn sub(mut self, constant: i64) -> Aff {
        self.constant -= constant;
        self
    }
}

impl Mul<i64> for Aff {
    type Output = Aff;
    fn mul(mut self, factor: i64) -> Aff {
        self.terms.iter_mut().for_each(|term| term.1 *= factor);
        self.constant *= factor;
        self
    }
}

impl Aff {
    fn expr<'c>(&self, context: &'c Context) -> AffineExpr<'c> {
        let number = |value| AffineExpr::constant(context, value);
        let terms =
            self.terms.iter().map(|(dim, factor)| AffineExpr::dim(context, *dim) * number(*factor));
        let constant = number(self.constant);
        terms.reduce(|sum, term| sum + term).map_or(constant, |sum| sum + constant)
    }

    /// The results of the map in an attribute; none if they are no sums of loops.
    pub fn of_map(map: Attribute<'_>) -> Option<Vec<Aff>> {
        let map = ir::attribute::affine_map(map)?;
        (0..map.result_count()).map(|index| Aff::read(map.result(index).ok()?)).collect()
    }

    fn read(expr: AffineExpr<'_>) -> Option<Aff> {
        if expr.is_dim() {
            return Some(d(expr.dim_position()));
        }
        if expr.is_constant() {
            return Some(c(expr.constant_value()));
        }
        if !expr.is_binary() {
            return None;
        }
        let (left, right) = (Aff::read(expr.lhs())?, Aff::read(expr.rhs())?);
        if expr.is_add() {
            return Some(left + right);
        }
        (expr.is_mul() && right.terms.is_empty()).then(|| left * right.constant)
    }

    /// The loop that it is the index of, if it is one alone.
    pub fn single(&self) -> Option<usize> {
        match self.terms[..] {
            [(at, 1)] if self.constant == 0 => Some(at),
            _ => None,
        }
    }

    /// The same with each loop `i` as loop `to[i]`.
    pub fn renamed(&self, to: &[usize]) -> Option<Aff> {
        let term = |(at, factor): &(usize, i64)| Some((*to.get(*at)?, *factor));
        let terms = self.terms.iter().map(term).collect::<Option<_>>()?;
        Some(Aff { terms, constant: self.constant })
    }

    /// True if the index depends on a loop.
    pub fn has(&self, at: usize) -> bool {
        self.terms.iter().any(|(other, _)| *other == at)
    }

    /// The innermost loop, its factor, and all the rest; none if there is no loop or a loop occurs
    /// twice.
    pub fn split_last(&self) -> Option<(usize, i64, Aff)> {
        let (at, factor) = *self.terms.iter().max_by_key(|(at, _)| *at)?;
        let terms: Vec<_> = self.terms.iter().copied().filter(|(other, _)| *other != at).collect();
        let alone = terms.len() + 1 == self.terms.len();
        alone.then_some((at, factor, Aff { terms, constant: self.constant }))
    }

    /// Emits its value for these indices of the loops.
    pub fn value<'c>(&self, b: &Builder<'c>, indices: &[Val<'c>]) -> Result<Val<'c>> {
        let mut sum = None;
        for (at, factor) in &self.terms {
            let index = *indices.get(*at).ok_or_else(missing)?;
            let term = match factor {
                1 => index,
                _ => b.binary("arith.muli", index, b.index(*factor)?)?,
            };
            sum = Some(match sum {
                Some(sum) => b.binary("arith.addi", sum, term)?,
                None => term,
            });
        }
        match sum {
            Some(sum) if self.constant == 0 => Ok(sum),
            Some(sum) => b.binary("arith.addi", sum, b.index(self.constant)?),
            None => b.index(self.constant),
        }
    }
}

/// The map of the loops `0..rank` to themselves.
pub fn identity(rank: usize) -> Vec<Aff> {
    (0..rank).map(d).collect()
}

/// The map that reads an operand of shape `from` in loops over `to`, to which it broadcasts as in
/// numpy.
pub fn broadcast(from: &[i64], to: &[i64]) -> Vec<Aff> {
    let offset = to.len() - from.len().min(to.len());
    from.iter()
        .enumerate()
        .map(|(i, dim)| if *dim == 1 && to[offset + i] != 1 { c(0) } else { d(offset + i) })
        .collect()
}

/// The kind of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iter {
    /// Iterations are independent.
    Parallel,
    /// Iterations accumulate into the same output element.
    Reduction,
}

/// A tensor and the element that the loops access.
pub type Access<'c> = (Val<'c>, Vec<Aff>);

/// The map as an attribute.
pub fn map_attr<'c>(context: &'c Context, loops: usize, map: &[Aff]) -> Attribute<'c> {
    let exprs: Vec<_> = map.iter().map(|aff| aff.expr(context)).collect();
    ir::attribute::of_affine_map(&AffineMap::new(context, loops, 0, &exprs))
}

/// A region of one block with arguments of these types, filled by `body`.
pub fn region<'c>(
    b: &Builder<'c>,
    arguments: &[Type<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<()>,
) -> Result<Region<'c>> {
    let region = Region::new();
    let arguments: Vec<_> = arguments.iter().map(|ty| (*ty, b.location)).collect();
    let block = edit::append_block(&region, &arguments);
    let values: Vec<Val<'c>> = (0..arguments.len())
        .map(|i| Ok(block.argument(i).map_err(ir::unexpected)?.into()))
        .collect::<Result<_>>()?;
    body(&Builder::at_end(b.context, block, b.location), &values)?;
    Ok(region)
}

/// `linalg.generic` over `loops`, outermost first. `body` gets the elements of `ins` and then of
/// `outs`, and returns the new elements of `outs`. The results have the types of `outs`.
pub fn generic<'c>(
    b: &Builder<'c>,
    loops: &[Iter],
    ins: &[Access<'c>],
    outs: &[Access<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let accesses = || ins.iter().chain(outs);
    let elements: Vec<_> = accesses().map(|(v, _)| ir::element_type(v.r#type())).collect();
    let region = region(b, &elements, |b, arguments| {
        let operands = body(b, arguments)?;
        b.create("linalg.yield", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let maps: Vec<_> = accesses().map(|(_, map)| map_attr(b.context, loops.len(), map)).collect();
    let kinds: Vec<_> = loops
        .iter()
        .map(|kind| match kind {
            Iter::Parallel => b.parse_attr("#linalg.iterator_type<parallel>"),
            Iter::Reduction => b.parse_attr("#linalg.iterator_type<reduction>"),
        })
        .collect::<Result<_>>()?;
    let segments = DenseI32ArrayAttribute::new(b.context, &[ins.len() as i32, outs.len() as i32]);
    let operands: Vec<_> = accesses().map(|(value, _)| *value).collect();
    let results: Vec<_> = outs.iter().map(|(value, _)| value.r#type()).collect();
    let op = b.create(
        "linalg.generic",
        OpSpec {
            operands: &operands,
            results: &results,
            attributes: vec![
                ("indexing_maps", ArrayAttribute::new(b.context, &maps).into()),
                ("iterator_types", ArrayAttribute::new(b.context, &kinds).into()),
                ("operandSegmentSizes", segments.into()),
            ],
            regions: vec![region],
            ..Default::default()
        },
    )?;
    Ok(ir::results(op))
}

/// A new tensor of type `ty`, whose loops are its dimensions: `body` computes one element from
/// those of `ins`.
pub fn parallel<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    ins: &[Access<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let dims = ir::dims(ty);
    if dims.contains(&0) {
        return b.empty(ty);
    }
    let rank = dims.len();
    // Constants of one value go into the body: no load, and folds see them.
    let uniform: Vec<_> = ins.iter().map(|(value, _)| uniform(b, *value)).collect();
    let kept: Vec<_> =
        ins.iter().zip(&uniform).filter(|(_, u)| u.is_none()).map(|(i, _)| i.clone()).collect();
    let out = (b.empty(ty)?, identity(rank));
    let results = generic(b, &vec![Iter::Parallel; rank], &kept, &[out], |b, loaded| {
        let mut loaded = loaded.iter();
        let mut arguments = vec![];
        for constant in &uniform {
            arguments.push(match constant {
                Some((ty, value)) => {
                    b.op1_with("arith.constant", &[], *ty, vec![("value", *value)])?
                }
                None => *loaded.next().ok_or_else(missing)?,
            });
        }
        Ok(vec![body(b, &arguments)?])
    })?;
    results.first().copied().ok_or_else(missing)
}

fn missing() -> crate::Error {
    crate::Error::internal("a linalg.generic lacks a value")
}

/// The type and value of all elements of a constant, when they are the same.
fn uniform<'c>(b: &Builder<'c>, value: Val<'c>) -> Option<(Type<'c>, Attribute<'c>)> {
    let constant = Elements::of_value(value)?.uniform(b)?;
    Some((ir::element_type(value.r#type()), constant))
}

/// A new tensor of type `ty` with `value` in each element.
pub fn fill<'c>(b: &Builder<'c>, ty: Type<'c>, value: Val<'c>) -> Result<Val<'c>> {
    let out = b.empty(ty)?;
    ir::result0(fill_into(b, out, &[ty], value)?)
}

/// Writes `value` everywhere into a buffer, or a tensor that `results` has the type of.
pub fn fill_into<'c>(
    b: &Builder<'c>,
    out: Val<'c>,
    results: &[Type<'c>],
    value: Val<'c>,
) -> Result<Op<'c>> {
    let region = region(b, &[value.r#type(), value.r#type()], |b, arguments| {
        b.create("linalg.yield", OpSpec { operands: &arguments[..1], ..Default::default() })?;
        Ok(())
    })?;
    let segments = DenseI32ArrayAttribute::new(b.context, &[1, 1]);
    b.create(
        "linalg.fill",
        OpSpec {
            operands: &[value, out],
            results,
            attributes: vec![("operandSegmentSizes", segments.into())],
            regions: vec![region],
            ..Default::default()
        },
    )
}

/// The values that the last operation of a body gives back.
pub fn region_yield<'c>(body: Blk<'c>) -> Vec<Val<'c>> {
    ir::ops(body).last().map(|op| ir::operands(*op)).unwrap_or_default()
}

/// The loop that a `linalg.index` gives the index of.
pub fn loop_index_of(op: Op<'_>) -> Option<usize> {
    usize::try_from(ir::attr_i64(op, "dim")?).ok()
}

/// The index of a loop of the surrounding `linalg.generic`, in its body.
pub fn loop_index<'c>(b: &Builder<'c>, dim: usize) -> Result<Val<'c>> {
    b.op1_with("linalg.index", &[], b.index_type(), vec![("dim", b.i64_attr(dim as i64))])
}

impl<'c> Lowering<'c> {
    /// A new tensor of type `ty` from operands that broadcast to it as in numpy; `body` computes
    /// one element.
    pub fn elementwise(
        &self,
        inputs: &[Val<'c>],
        ty: Type<'c>,
        body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
    ) -> Result<Val<'c>> {
        let to = ir::dims(ty);
        let ins: Vec<_> = inputs
            .iter()
            .map(|value| (*value, broadcast(&ir::dims(value.r#type()), &to)))
            .collect();
        parallel(&self.b, ty, &ins, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_aligns_at_the_last_dimension() {
        assert_eq!(broadcast(&[3, 1], &[2, 3, 4]), [d(1), c(0)]);
        assert_eq!(broadcast(&[1], &[1]), [d(0)]);
        assert_eq!(broadcast(&[], &[2, 3]), []);
    }

    #[test]
    fn maps_print_as_mlir() {
        let context = Context::new();
        let attribute = map_attr(&context, 3, &[d(0) * 2 + d(2) - 1, c(0), d(1)]);
        assert_eq!(attribute.to_string(), "affine_map<(d0, d1, d2) -> (d0 * 2 + d2 - 1, 0, d1)>");
    }
}
