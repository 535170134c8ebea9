//! Parts of the ranges of sizes that have code of their own, beside that for all sizes.
//!
//! ```text
//! @main(%x, %sizes) { network for all sizes }
//!   -->  @main(%x, %sizes) {
//!          %0 = graph.scan 1 limit %small ... { the first elements of %x; network for few; room for all }
//!          %1 = graph.scan 1 limit %others states (%0) ... { network for all sizes } }
//! ```
//! One of the loops runs once, the others not at all. Memory is planned for all of them together, and weights are shared.

use super::{
    Bounding, names,
    region::{Body, scan},
};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, op_name},
    pass::{PassError, PassResult},
};
use melior::ir::{Region, Type, ValueLike};
use phaseline_base::size::{Bounds, Dim, Size, Symbol, Variant, Variants, Work, buckets};

/// A function whose dimensions are known, and facts about it.
pub(super) struct Bounded<'c> {
    pub function: Op<'c>,
    pub bounds: Bounds,
    pub work: Work,
}

/// The parts that a module asks for, with the symbols of each. Parts with less work come first.
///
/// # Errors
/// A part names no symbol, or no size of its range, or there would have to be too many.
pub(super) fn wanted(module: Op<'_>, all: &Bounded<'_>) -> Result<Vec<Vec<Symbol>>> {
    let symbols = &all.bounds.symbols;
    let asked = read(module)?;
    let mut found = vec![];
    for variant in &asked.given {
        found.push(variant.within(symbols).map_err(Error::invalid)?);
    }
    if asked.buckets.is_some() || asked.waste.is_some() {
        let waste = asked.waste.map(|percent| f64::from(percent) / 100.0);
        let count = asked.buckets.unwrap_or(usize::MAX);
        let (parts, wasted) = buckets(symbols, &all.work, count, waste).map_err(Error::invalid)?;
        tracing::info!(
            target: "phaseline::phase",
            "{} parts of the ranges of sizes, {:.0}% of the work is for padding, as mean over sizes",
            parts.len(),
            100.0 * wasted
        );
        found.extend(parts);
    }
    found.retain(|part| part != symbols);
    let work = |part: &Vec<Symbol>| all.work.most(symbols, part);
    found.sort_by(|one, other| work(one).total_cmp(&work(other)));
    found.dedup();
    Ok(found)
}

fn read(module: Op<'_>) -> Result<Variants> {
    let number = |name: &str| ir::attr_i64(module, name);
    let beyond = |name: &str| Error::invalid(format!("{name} is no number of parts"));
    let mut given = vec![];
    for text in ir::attr_strs(module, names::VARIANTS).unwrap_or_default() {
        given.extend(Variant::parse(&text).map_err(Error::invalid)?);
    }
    Ok(Variants {
        given,
        buckets: number(names::BUCKETS)
            .map(|count| usize::try_from(count).map_err(|_| beyond(names::BUCKETS)))
            .transpose()?,
        waste: number(names::WASTE)
            .map(|percent| u32::try_from(percent).map_err(|_| beyond(names::WASTE)))
            .transpose()?,
    })
}

/// The work of a function whose dimensions are known.
pub(super) fn work<'c>(bounding: &Bounding<'c>, function: Op<'c>) -> Work {
    let mut terms = vec![];
    let block = edit::entry_block(function);
    for op in block.map(ir::ops).unwrap_or_default() {
        let operands = ir::operands(op);
        let dims = |place: usize| operands.get(place).map(|value| bounding.dims(*value));
        let (mut factor, mut inner) = (1.0, Dim::known(1));
        let name = op_name(op);
        let weights = if name.contains("qlinear") { 3 } else { 1 };
        if name.contains("conv") {
            let sizes: Vec<i64> =
                dims(weights).into_iter().flatten().filter_map(|dim| dim.as_known()).collect();
            factor = sizes.iter().skip(1).map(|size| *size as f64).product();
        } else if ["matmul", "gemm", "einsum"].iter().any(|part| name.contains(part)) {
            inner = dims(0).and_then(|dims| dims.last().cloned()).unwrap_or(inner);
        }
        if name == graph::Constant::NAME {
            continue;
        }
        for result in ir::results(op) {
            let dims = [bounding.dims(result), vec![inner.clone()]].concat();
            terms.push((factor, dims.into_iter().map(|dim| given(bounding, dim)).collect()));
        }
    }
    Work(terms)
}

/// A dimension with the greatest of what data decide.
fn given(bounding: &Bounding<'_>, dim: Dim) -> Dim {
    let last = dim.sizes().iter().filter_map(Size::last_symbol).max();
    if last.is_some_and(|last| last >= bounding.given) {
        Dim::known(bounding.room(&dim))
    } else {
        dim
    }
}

/// Makes `all` the code that runs where none of `parts` fits.
///
/// # Errors
/// The IR is malformed.
pub(super) fn branch<'c>(all: &Bounded<'c>, parts: &[Bounded<'c>]) -> PassResult<'c, ()> {
    let fail = |error: Error| PassError::new(error.to_string());
    let block = edit::entry_block(all.function)
        .ok_or_else(|| fail(Error::internal("a network without a body")))?;
    let end =
        ir::ops(block).pop().ok_or_else(|| fail(Error::internal("a function without an end")))?;
    let b = Builder::before(end).map_err(fail)?;
    let branches = Branches { b, inputs: edit::arguments(block), all };
    // The existing code runs where nothing else fits.
    let results: Vec<_> = ir::operands(end).iter().map(|value| value.r#type()).collect();
    let whole = branches.region(all, &results, true).map_err(fail)?;
    branches.chain(parts, whole, (end, &results)).map_err(fail)
}

struct Branches<'a, 'c> {
    b: Builder<'c>,
    /// The arguments of the network, whose last one has the sizes.
    inputs: Vec<Val<'c>>,
    all: &'a Bounded<'c>,
}

impl<'c> Branches<'_, 'c> {
    fn chain(
        &self,
        parts: &[Bounded<'c>],
        whole: Region<'c>,
        (end, types): (Op<'c>, &[Type<'c>]),
    ) -> Result<()> {
        let b = &self.b;
        let one = super::mask::integers(b, &[], &[1])?;
        let none = super::mask::integers(b, &[], &[0])?;
        let mut taken: Option<Val<'c>> = None;
        let mut results: Option<Vec<Val<'c>>> = None;
        for part in parts {
            let fits = self.fits(part)?;
            let (free, now) = match taken {
                None => (fits, fits),
                Some(taken) => {
                    let free = graph::Not::build(b, taken)?.y();
                    (graph::And::build(b, fits, free)?.y(), graph::Or::build(b, taken, fits)?.y())
                }
            };
            taken = Some(now);
            let limit = graph::Where::build(b, free, one, none)?.y();
            let region = self.region(part, types, results.is_some())?;
            results = Some(self.run(limit, results, region, types)?);
            edit::erase(part.function);
        }
        let taken = taken.ok_or_else(|| Error::internal("parts of ranges without one"))?;
        let limit = graph::Where::build(b, taken, none, one)?.y();
        let results = self.run(limit, results, whole, types)?;
        edit::set_operands(end, &results)
    }

    /// True if the sizes are of a part of the ranges.
    fn fits(&self, part: &Bounded<'c>) -> Result<Val<'c>> {
        let b = &self.b;
        let sizes =
            *self.inputs.last().ok_or_else(|| Error::internal("a network without sizes"))?;
        let mut all: Option<Val<'c>> = None;
        for (place, (narrow, symbol)) in
            part.bounds.symbols.iter().zip(&self.all.bounds.symbols).enumerate()
        {
            if narrow == symbol {
                continue;
            }
            let at = super::mask::integers(b, &[], &[place as i64])?;
            let value = graph::Gather::build(b, sizes, at, graph::GatherAttrs::default())?.y();
            let [least, most] =
                [narrow.least, narrow.most].map(|number| super::mask::integers(b, &[], &[number]));
            let mut checks = vec![];
            if narrow.most < symbol.most {
                checks.push(graph::LessOrEqual::build(b, value, most?)?.y());
            }
            if narrow.least > symbol.least {
                checks.push(graph::GreaterOrEqual::build(b, value, least?)?.y());
            }
            for check in checks {
                all = Some(match all {
                    Some(all) => graph::And::build(b, all, check)?.y(),
                    None => check,
                });
            }
        }
        all.ok_or_else(|| Error::internal("a part of the ranges that is all of them"))
    }

    /// The code of a part as the body of a loop, with states for the results unless it is the first.
    fn region(
        &self,
        part: &Bounded<'c>,
        types: &[Type<'c>],
        has_states: bool,
    ) -> Result<Region<'c>> {
        let context = self.b.context;
        let location = self.b.location;
        let region = Region::new();
        let states = if has_states { types.len() } else { 0 };
        let given = self.inputs.iter().map(|value| value.r#type());
        let slots: Vec<_> =
            types[..states].iter().copied().chain(given).map(|ty| (ty, location)).collect();
        let inner = edit::append_block(&region, &slots);
        let arguments = edit::arguments(inner).split_off(states);
        let b = Builder::at_end(context, inner, location);
        let block = edit::entry_block(part.function)
            .ok_or_else(|| Error::internal("a network without a body"))?;
        for (own, given) in edit::arguments(block).into_iter().zip(&arguments) {
            let value = first_elements(&b, *given, own.r#type())?;
            edit::replace_uses(own, value);
        }
        let mut ops = ir::ops(block);
        let end = ops.pop().ok_or_else(|| Error::internal("a function without an end"))?;
        for op in ops {
            edit::move_to_end(op, inner);
        }
        let mut yielded = vec![];
        let (all, own) = (self.all.bounds.all(), part.bounds.all());
        if all.len() != own.len() {
            return Err(Error::invalid(
                "data decide other sizes in a part of the ranges of sizes: leave out --variant, --buckets and --waste",
            ));
        }
        for (index, value) in ir::operands(end).into_iter().enumerate() {
            // The last one has the sizes that data decide.
            yielded.push(match self.all.bounds.outputs.get(index) {
                Some(dims) => with_room(&b, value, dims, (&all, &own))?,
                None => value,
            });
        }
        graph::Yield::build(&b, &yielded, &[])?;
        Ok(region)
    }

    /// A loop that runs at most once, over the results of an earlier one.
    fn run(
        &self,
        limit: Val<'c>,
        states: Option<Vec<Val<'c>>>,
        region: Region<'c>,
        types: &[Type<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let b = &self.b;
        let is_first = states.is_none();
        let states = states.unwrap_or_default();
        let results: Vec<_> = types
            .iter()
            .map(|ty| match is_first {
                true => b.tensor(&[&[1], &ir::dims(*ty)[..]].concat(), ir::element_type(*ty)),
                false => *ty,
            })
            .collect();
        let parts = Body { steps: 1, limit, states: &states, captured: &self.inputs, axes: &[] };
        let made = scan(b, &parts, region, &results)?;
        if !is_first {
            return Ok(made);
        }
        made.into_iter().zip(types).map(|(value, ty)| reshaped(b, value, *ty)).collect()
    }
}

/// The first elements of a value along each dimension, those of a smaller type.
fn first_elements<'c>(b: &Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    let dims = ir::dims(ty);
    if value.r#type() == ty {
        return Ok(value);
    }
    let list = |values: &[i64]| super::mask::integers(b, &[values.len() as i64], values);
    let starts = list(&vec![0; dims.len()])?;
    Ok(graph::Slice::build(b, value, starts, list(&dims)?, None, None)?.y())
}

/// A value whose elements are the first ones of a larger one, along each size of each dimension.
fn with_room<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    dims: &[Dim],
    (all, part): (&[Symbol], &[Symbol]),
) -> Result<Val<'c>> {
    let rooms = |symbols: &[Symbol]| -> Vec<i64> {
        dims.iter().flat_map(|dim| dim.rooms(symbols)).collect()
    };
    let (from, to) = (rooms(part), rooms(all));
    let element = ir::element_type(value.r#type());
    if from == to {
        return Ok(value);
    }
    let elements = |dims: &[i64]| dims.iter().product::<i64>();
    if elements(&from) != elements(&ir::dims(value.r#type())) {
        return Err(Error::internal(format!(
            "a result of type {} has elements for {from:?} in a part of the ranges",
            value.r#type()
        )));
    }
    let value = reshaped(b, value, b.tensor(&from, element))?;
    let mut amounts = vec![0; from.len()];
    amounts.extend(to.iter().zip(&from).map(|(to, from)| to - from));
    let amounts = super::mask::integers(b, &[amounts.len() as i64], &amounts)?;
    let attributes = graph::PadAttrs { mode: "undefined".to_owned() };
    let padded = graph::Pad::build(b, value, amounts, None, None, attributes)?.y();
    let whole: Vec<i64> = dims.iter().map(|dim| dim.room(all)).collect();
    reshaped(b, padded, b.tensor(&whole, element))
}

fn reshaped<'c>(b: &Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    if value.r#type() == ty {
        return Ok(value);
    }
    let dims = ir::dims(ty);
    let shape = super::mask::integers(b, &[dims.len() as i64], &dims)?;
    let attributes = graph::ReshapeAttrs { allowzero: true };
    Ok(graph::Reshape::build(b, value, shape, attributes)?.y())
}
