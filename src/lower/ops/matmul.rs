//! Matrix products and einsum.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Val,
        graph::{EinsumAdaptor, GemmAdaptor, MatMulAdaptor},
        types::with_element,
    },
    lower::{
        Lowering,
        equation::Equation,
        generic::{Access, Aff, Iter, c, d, fill, generic},
        scalar::{
            convert,
            float::{add, arith, mul, number},
            narrow, wide_type, widen,
        },
    },
};
use melior::ir::{Type, ValueLike};

super::lowerings! {
    MatMul => lower_matmul,
    Gemm => lower_gemm,
    Einsum => lower_einsum,
}

/// `sum + x * y` in the type of `sum`.
pub fn multiply_add<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>, sum: Val<'c>) -> Result<Val<'c>> {
    let (x, y) = (widen(b, x)?, widen(b, y)?);
    if ir::is_float(sum.r#type()) {
        let flags = b.parse_attr("#arith.fastmath<reassoc,contract>")?;
        let product = b.op1_with("arith.mulf", &[x, y], sum.r#type(), vec![("fastmath", flags)])?;
        return b.op1_with("arith.addf", &[sum, product], sum.r#type(), vec![("fastmath", flags)]);
    }
    b.binary("arith.addi", sum, b.binary("arith.muli", x, y)?)
}

/// A tensor of the accumulator type as one of type `ty`.
pub fn finish<'c>(lowering: &Lowering<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    if value.r#type() == ty {
        return Ok(value);
    }
    lowering.elementwise(&[value], ty, |b, args| narrow(b, args[0], ir::element_type(ty)))
}

/// A sum of products named by labels, as in einsum: each operand has one label per dimension.
struct Contraction<'l> {
    operands: Vec<&'l [u32]>,
    result: &'l [u32],
}

impl Contraction<'_> {
    /// Labels in loop order, outermost first: those of the result, and those that are summed.
    /// The sums go around the last label of the result when that runs along rows of an operand,
    /// so that the innermost loop does.
    fn loops(&self) -> Vec<u32> {
        let mut summed = vec![];
        for label in self.operands.iter().flat_map(|labels| labels.iter()) {
            if !self.result.contains(label) && !summed.contains(label) {
                summed.push(*label);
            }
        }
        let mut loops = self.result.to_vec();
        let along_rows = self
            .result
            .last()
            .is_some_and(|last| self.operands.iter().any(|labels| labels.last() == Some(last)));
        let place = loops.len() - usize::from(along_rows);
        loops.splice(place..place, summed);
        loops
    }

    /// Emits the loops into `init`, a tensor with the result's labels.
    fn emit<'c>(&self, b: &Builder<'c>, inputs: &[Val<'c>], init: Val<'c>) -> Result<Val<'c>> {
        let loops = self.loops();
        let mut sizes = vec![1; loops.len()];
        for (labels, value) in self.operands.iter().zip(inputs) {
            for (label, dim) in labels.iter().zip(ir::dims(value.r#type())) {
                let at = position(&loops, *label)?;
                // Size 1 broadcasts.
                sizes[at] = if sizes[at] == 1 { dim } else { sizes[at] };
            }
        }
        if sizes.contains(&0) {
            return Ok(init);
        }
        let access = |labels: &[u32], value: Val<'c>| -> Result<Access<'c>> {
            let map: Vec<Aff> = labels
                .iter()
                .zip(ir::dims(value.r#type()))
                .map(|(label, dim)| {
                    let at = position(&loops, *label)?;
                    Ok(if dim == 1 && sizes[at] != 1 { c(0) } else { d(at) })
                })
                .collect::<Result<_>>()?;
            Ok((value, map))
        };
        let kinds: Vec<_> = loops
            .iter()
            .map(|label| match self.result.contains(label) {
                true => Iter::Parallel,
                false => Iter::Reduction,
            })
            .collect();
        let ins: Vec<_> = self
            .operands
            .iter()
            .zip(inputs)
            .map(|(labels, value)| access(labels, *value))
            .collect::<Result<_>>()?;
        let results = generic(b, &kinds, &ins, &[access(self.result, init)?], |b, args| {
            let value = match args {
                [x, sum] => {
                    let x = widen(b, *x)?;
                    let add = if ir::is_float(x.r#type()) { "arith.addf" } else { "arith.addi" };
                    b.binary(add, *sum, x)?
                }
                [x, y, sum] => multiply_add(b, *x, *y, *sum)?,
                _ => return Err(Error::internal("a contraction of more than two operands")),
            };
            Ok(vec![value])
        })?;
        Ok(results[0])
    }
}

fn position(loops: &[u32], label: u32) -> Result<usize> {
    loops
        .iter()
        .position(|candidate| *candidate == label)
        .ok_or_else(|| Error::internal("a label without a loop"))
}

fn zeros<'c>(b: &Builder<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    let element = wide_type(b, ir::element_type(ty));
    fill(b, with_element(ty, element), b.constant(element, 0.0)?)
}

const ROW: u32 = 1000;
const INNER: u32 = 1001;
const COLUMN: u32 = 1002;

fn lower_matmul<'c>(lowering: &Lowering<'c>, op: MatMulAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ranks = [op.a(), op.b()].map(|value| ir::dims(value.r#type()).len());
    let batch = ranks.iter().map(|rank| rank.saturating_sub(2)).max().unwrap_or(0);
    // Batch labels align at the last batch dimension.
    let batch_of = |rank: usize| -> Vec<u32> {
        (batch - rank.saturating_sub(2)..batch).map(|i| i as u32).collect()
    };
    let (mut a, mut b, mut y) = (batch_of(ranks[0]), batch_of(ranks[1]), batch_of(batch + 2));
    if ranks[0] > 1 {
        a.push(ROW);
        y.push(ROW);
    }
    a.push(INNER);
    b.push(INNER);
    if ranks[1] > 1 {
        b.push(COLUMN);
        y.push(COLUMN);
    }
    let ty = lowering.result_type(0)?;
    let init = zeros(&lowering.b, ty)?;
    let contraction = Contraction { operands: vec![&a, &b], result: &y };
    let value = contraction.emit(&lowering.b, &[op.a(), op.b()], init)?;
    Ok(vec![finish(lowering, value, ty)?])
}

fn lower_gemm<'c>(lowering: &Lowering<'c>, op: GemmAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let b = &lowering.b;
    let (alpha, beta) = (lowering.float("alpha", 1.0), lowering.float("beta", 1.0));
    let order = |transposed, usual: [u32; 2]| match transposed {
        true => [usual[1], usual[0]],
        false => usual,
    };
    let (left, right) = (order(op.trans_a(), [ROW, INNER]), order(op.trans_b(), [INNER, COLUMN]));
    let contraction = Contraction { operands: vec![&left, &right], result: &[ROW, COLUMN] };
    let element = ir::element_type(ty);
    let plain = alpha == 1.0 && beta == 1.0 && element == wide_type(b, element);
    let addend = op.c();
    let init = match addend {
        // The sum starts from c instead of a pass over the result afterwards.
        Some(addend) if plain => lowering.elementwise(&[addend], ty, |_, args| Ok(args[0]))?,
        _ => zeros(b, ty)?,
    };
    let value = contraction.emit(b, &[op.a(), op.b()], init)?;
    if plain {
        return Ok(vec![value]);
    }
    let mut terms = vec![value];
    terms.extend(addend);
    let unsigned = lowering.is_unsigned(0);
    let value = lowering.elementwise(&terms, ty, |b, args| {
        let mut sum = scaled(b, args[0], alpha, unsigned)?;
        if let Some(addend) = args.get(1) {
            let addend = scaled(b, widen(b, *addend)?, beta, unsigned)?;
            sum = match ir::is_float(sum.r#type()) {
                true => add(b, sum, addend)?,
                false => b.binary("arith.addi", sum, addend)?,
            };
        }
        narrow(b, sum, element)
    })?;
    Ok(vec![value])
}

fn scaled<'c>(b: &Builder<'c>, x: Val<'c>, factor: f64, unsigned: bool) -> Result<Val<'c>> {
    if factor == 1.0 {
        return Ok(x);
    }
    if ir::is_float(x.r#type()) {
        return mul(b, number(b, x, factor)?, x);
    }
    let wide = convert(b, x, unsigned, b.f64(), false)?;
    let product = arith(b, "arith.mulf", &[wide, number(b, wide, factor)?])?;
    convert(b, product, false, x.r#type(), unsigned)
}

fn lower_einsum<'c>(lowering: &Lowering<'c>, op: EinsumAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let text = op.equation();
    let ranks: Vec<_> = op.inputs().iter().map(|value| ir::dims(value.r#type()).len()).collect();
    let equation = Equation::parse(text, &ranks)
        .ok_or_else(|| lowering.unsupported(format!("the equation \"{text}\"")))?;
    let ty = lowering.result_type(0)?;
    let mut pending: Vec<(Vec<u32>, Val<'c>)> =
        equation.operands.into_iter().zip(op.inputs().iter().copied()).collect();
    // Two operands at a time, from the left: all at once would multiply the loops of all.
    while pending.len() > 2 {
        let rest = pending.split_off(2);
        let needed = |label: &u32| {
            equation.result.contains(label) || rest.iter().any(|(labels, _)| labels.contains(label))
        };
        let mut result = vec![];
        let mut dims = vec![];
        for (labels, value) in &pending {
            for (label, dim) in labels.iter().zip(ir::dims(value.r#type())) {
                match result.iter().position(|known| known == label) {
                    Some(at) if dims[at] == 1 => dims[at] = dim,
                    Some(_) => {}
                    None if needed(label) => {
                        result.push(*label);
                        dims.push(dim);
                    }
                    None => {}
                }
            }
        }
        let init = zeros(b, b.tensor(&dims, ir::element_type(ty)))?;
        let partial = contract(b, &pending, &result, init)?;
        pending = vec![(result, partial)];
        pending.extend(rest);
    }
    let value = contract(b, &pending, &equation.result, zeros(b, ty)?)?;
    Ok(vec![finish(lowering, value, ty)?])
}

fn contract<'c>(
    b: &Builder<'c>,
    terms: &[(Vec<u32>, Val<'c>)],
    result: &[u32],
    init: Val<'c>,
) -> Result<Val<'c>> {
    let operands = terms.iter().map(|(labels, _)| labels.as_slice()).collect();
    let inputs: Vec<_> = terms.iter().map(|(_, value)| *value).collect();
    Contraction { operands, result }.emit(b, &inputs, init)
}

#[cfg(test)]
mod tests {
    use super::Contraction;

    #[test]
    fn sums_go_around_the_loop_along_rows() {
        let product = Contraction { operands: vec![&[0, 1], &[1, 2]], result: &[0, 2] };
        assert_eq!(product.loops(), [0, 1, 2]);
        let transposed = Contraction { operands: vec![&[0, 1], &[2, 1]], result: &[0, 2] };
        assert_eq!(transposed.loops(), [0, 2, 1]);
    }
}
