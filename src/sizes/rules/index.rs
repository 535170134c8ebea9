//! Operations that take elements by their positions, or put tensors together.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
    lower::normalize_axis,
    sizes::{Bounding, Dim, dim::check, mask::integers},
};
use melior::ir::ValueLike;
use phaseline_base::size::Size;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::Concat::NAME, concat),
        (graph::Slice::NAME, slice),
        (graph::Split::NAME, split),
        (graph::Gather::NAME, gather),
        (graph::GatherElements::NAME, gather_elements),
        (graph::Range::NAME, range),
        (graph::OneHot::NAME, one_hot),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Positions that follow each other are given as this.
const FROM_THE_START: i64 = 0;

impl<'c> Bounding<'c> {
    /// The elements of a value at positions along an axis.
    pub(super) fn gathered(
        &mut self,
        b: &Builder<'c>,
        x: Val<'c>,
        (axis, places): (usize, Val<'c>),
        dim: Dim,
    ) -> Result<Val<'c>> {
        let attributes = graph::GatherAttrs { axis: axis as i64 };
        let mut dims = self.dims(x);
        let y = graph::Gather::build(b, x, places, attributes)?.y();
        dims[axis] = dim;
        self.know(y, dims);
        Ok(y)
    }

    /// A value whose padding along an axis repeats the last element that counts.
    pub(super) fn edge_filled(
        &mut self,
        b: &Builder<'c>,
        x: Val<'c>,
        axis: usize,
    ) -> Result<Val<'c>> {
        let dim = self.dims(x)[axis].clone();
        let Some(size) = dim.single().filter(|_| !dim.is_known()) else { return Ok(x) };
        let last = self.value_of(&size.minus(&1.into()))?;
        let all: Vec<_> = (FROM_THE_START..self.room(&dim)).collect();
        let places = integers(b, &[all.len() as i64], &all)?;
        let places = graph::Min::build(b, places, last)?.y();
        let zero = integers(b, &[], &[0])?;
        let places = graph::Max::build(b, places, zero)?.y();
        self.gathered(b, x, (axis, places), dim)
    }
}

fn concat<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let mut operands = ir::operands(op);
    let rank = s.dims(operands[0]).len();
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(0), rank);
    for operand in &mut operands {
        *operand = s.singled(b, *operand, axis)?;
    }
    edit::set_operands(op, &operands)?;
    let all: Vec<_> = operands.iter().map(|value| s.dims(*value)).collect();
    let mut dims = all[0].clone();
    for other in &all[1..] {
        for (at, (one, other)) in dims.iter().zip(other).enumerate() {
            if at != axis {
                s.same(one, other, "joins tensors whose other sizes differ")?;
            }
        }
    }
    let along: Vec<_> = all.iter().map(|dims| dims[axis].clone()).collect();
    if along.iter().all(Dim::is_known) {
        dims[axis] = Dim::known(along.iter().filter_map(Dim::as_known).sum());
        return Ok(Outcome::Stays(vec![dims]));
    }
    let sizes = along.iter().map(|dim| dim.single().cloned()).collect::<Option<Vec<_>>>();
    let Some(sizes) = sizes else {
        return Err(Error::invalid("joins tensors along a product of sizes"));
    };
    let total = sizes.iter().fold(Size::from(0), |sum, size| sum.plus(size));
    let leading = &sizes[..sizes.len() - 1];
    if leading.iter().all(|size| size.known().is_some()) {
        dims[axis] = Dim::of(total);
        return Ok(Outcome::Stays(vec![dims]));
    }
    // The buffers one behind the other, and from these what counts.
    let attributes = axis as i64;
    let joined = graph::Concat::build(b, &operands, attributes)?.y();
    let rooms: Vec<_> = along.iter().map(|dim| s.room(dim)).collect();
    let mut wide = dims.clone();
    wide[axis] = Dim::known(rooms.iter().sum());
    s.know(joined, wide);
    dims[axis] = Dim::of(total.clone());
    let count = s.room(&dims[axis]);
    let all: Vec<_> = (0..count).collect();
    let first = integers(b, &[count], &all)?;
    let (mut places, mut start) = (first, Size::from(0));
    for (size, room) in sizes.iter().zip(&rooms).take(sizes.len() - 1) {
        start = start.plus(size);
        let begin = s.value_of(&start)?;
        let skipped = s.value_of(&Size::from(*room).minus(size))?;
        let zero = integers(b, &[], &[0])?;
        let behind = graph::GreaterOrEqual::build(b, first, begin)?.y();
        let skipped = graph::Where::build(b, behind, skipped, zero)?.y();
        places = graph::Add::build(b, places, skipped)?.y();
    }
    let last = integers(b, &[], &[rooms.iter().sum::<i64>() - 1])?;
    let places = graph::Min::build(b, places, last)?.y();
    let dim = dims[axis].clone();
    Ok(Outcome::Replaced(vec![s.gathered(b, joined, (axis, places), dim)?]))
}

/// A slice along an axis: start, number and distance of its elements.
struct Cut {
    axis: usize,
    start: Size,
    step: i64,
    size: Size,
}

/// The cut between two positions, which may count from the end.
fn cut<'c>(
    s: &Bounding<'c>,
    (axis, dim): (usize, &Size),
    (start, end, step): (&Size, &Size, i64),
) -> Result<Cut> {
    let symbols = &s.symbols;
    let wrapped = |at: &Size| {
        let (least, most) = at.bounds(symbols);
        match (least >= 0, most < 0) {
            (true, _) => Ok(at.clone()),
            (_, true) => Ok(dim.plus(at)),
            _ => Err(Error::invalid(format!(
                "slices at {}, which may count from either end",
                at.text(symbols)
            ))),
        }
    };
    let far = |at: &Size| at.known().filter(|at| at.abs() >= i64::from(i32::MAX));
    let zero = Size::from(0);
    if step > 0 {
        let clamp = |at: Size| at.or_less(dim, symbols).or_more(&zero, symbols);
        let from = clamp(wrapped(start)?);
        let to = match far(end) {
            Some(end) if end > 0 => dim.clone(),
            _ => clamp(wrapped(end)?),
        };
        let size = to.minus(&from).plus(&(step - 1).into()).over(step).or_more(&zero, symbols);
        return Ok(Cut { axis, start: from, step, size });
    }
    let last = dim.minus(&1.into());
    let from = match far(start) {
        Some(start) if start > 0 => last,
        _ => wrapped(start)?.or_less(&last, symbols),
    };
    let to = match far(end) {
        Some(end) if end < 0 => Size::from(-1),
        _ => wrapped(end)?.or_more(&Size::from(-1), symbols),
    };
    let size = from.minus(&to).plus(&(-step - 1).into()).over(-step).or_more(&zero, symbols);
    Ok(Cut { axis, start: from, step, size })
}

fn slice<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let Some(view) = graph::Slice::of(op) else {
        return Err(Error::internal("a slice that is not as ODS has it"));
    };
    let unknown = || Error::invalid("slices at positions that do not follow from sizes of inputs");
    if s.content(view.starts()).is_none() || s.content(view.ends()).is_none() {
        return decided_slice(s, b, view);
    }
    let dims = s.dims(view.x());
    let (starts, ends) = (
        s.content(view.starts()).ok_or_else(unknown)?,
        s.content(view.ends()).ok_or_else(unknown)?,
    );
    let axes = match view.axes() {
        Some(axes) => s.numbers(axes).ok_or_else(unknown)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = match view.steps() {
        Some(steps) => s.numbers(steps).ok_or_else(unknown)?,
        None => vec![1; starts.len()],
    };
    let mut cuts = vec![];
    for (place, axis) in axes.iter().enumerate() {
        let axis = normalize_axis(*axis, dims.len());
        let (start, end, step) = (&starts[place], &ends[place], steps[place]);
        let whole = start.known() == Some(0)
            && step == 1
            && (*end == dims[axis].size()
                || end.known().is_some_and(|end| end >= i64::from(i32::MAX)));
        if whole {
            continue;
        }
        let x = s.materialized(b, view.x())?;
        if dims[axis].single().is_none() {
            let x = s.singled(b, x, axis)?;
            edit::set_operand(op, 0, x)?;
            return slice(s, b, op);
        }
        let size = dims[axis].size();
        let size = &size;
        cuts.push(cut(s, (axis, size), (start, end, step))?);
    }
    let mut x = s.materialized(b, view.x())?;
    let (fixed, moving): (Vec<_>, Vec<_>) = cuts.into_iter().partition(|cut| {
        let room = s.room(&dims[cut.axis]);
        let most = cut.size.most(&s.symbols);
        let last = cut.start.known().map(|start| start + (most - 1).max(0) * cut.step);
        cut.step > 0 && last.is_some_and(|last| last < room.max(1))
    });
    if !fixed.is_empty() {
        let mut dims = s.dims(x);
        let list = |values: Vec<i64>| integers(b, &[values.len() as i64], &values);
        let start = |cut: &Cut| cut.start.known().unwrap_or(0);
        let end = |cut: &Cut| match cut.size.most(&s.symbols) {
            0 => start(cut),
            most => start(cut) + (most - 1) * cut.step + 1,
        };
        let starts = list(fixed.iter().map(start).collect())?;
        let ends = list(fixed.iter().map(end).collect())?;
        let axes = list(fixed.iter().map(|cut| cut.axis as i64).collect())?;
        let steps = list(fixed.iter().map(|cut| cut.step).collect())?;
        x = graph::Slice::build(b, x, starts, ends, Some(axes), Some(steps))?.y();
        for cut in fixed {
            dims[cut.axis] = Dim::of(cut.size);
        }
        s.know(x, dims);
    }
    for cut in moving {
        let dim = Dim::of(cut.size.clone());
        let all: Vec<_> = (0..s.room(&dim)).map(|at| at * cut.step).collect();
        let offsets = integers(b, &[all.len() as i64], &all)?;
        let first = s.value_of(&cut.start)?;
        let places = graph::Add::build(b, offsets, first)?.y();
        let (zero, last) = (
            integers(b, &[], &[0])?,
            integers(b, &[], &[(s.room(&s.dims(x)[cut.axis]) - 1).max(0)])?,
        );
        let places = graph::Max::build(b, graph::Min::build(b, places, last)?.y(), zero)?.y();
        x = s.gathered(b, x, (cut.axis, places), dim)?;
    }
    Ok(Outcome::Replaced(vec![x]))
}

/// A slice between positions that data decide, whose sizes are values of the network.
fn decided_slice<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    view: graph::Slice<'c>,
) -> Result<Outcome<'c>> {
    let count = |value: Val<'c>| s.dims(value).first().and_then(Dim::as_known).unwrap_or(0);
    let places = count(view.starts());
    let axes = match view.axes() {
        Some(axes) => s.numbers(axes),
        None => Some((0..places).collect()),
    };
    let steps = view.steps().map_or(Some(vec![]), |steps| s.numbers(steps));
    let (Some(axes), Some(steps)) = (axes, steps) else {
        return Err(Error::invalid("slices along axes or in steps that data decide"));
    };
    if steps.iter().any(|step| *step != 1) {
        return Err(Error::invalid("slices in steps between positions that data decide"));
    }
    let mut x = s.materialized(b, view.x())?;
    let [starts, ends] = [s.materialized(b, view.starts())?, s.materialized(b, view.ends())?];
    let scalar = |value: i64| integers(b, &[], &[value]);
    for (place, axis) in axes.iter().enumerate() {
        let axis = normalize_axis(*axis, s.dims(x).len());
        x = s.singled(b, x, axis)?;
        let dim = s.dims(x)[axis].clone();
        let size = s.value_of(&dim.size())?;
        let [start, end] = [starts, ends].map(|list| -> Result<Val<'c>> {
            let at = scalar(place as i64)?;
            let at = graph::Gather::build(b, list, at, graph::GatherAttrs::default())?.y();
            let at = graph::Cast::build(b, at, b.int(64), graph::CastAttrs::default())?.y();
            // Positions below zero count from the end.
            let behind = graph::Add::build(b, at, size)?.y();
            let is_behind = graph::Less::build(b, at, scalar(0)?)?.y();
            let at = graph::Where::build(b, is_behind, behind, at)?.y();
            let at = graph::Max::build(b, at, scalar(0)?)?.y();
            Ok(graph::Min::build(b, at, size)?.y())
        });
        let (start, end) = (start?, end?);
        let length = graph::Sub::build(b, end, start)?.y();
        let length = graph::Max::build(b, length, scalar(0)?)?.y();
        let room = s.room(&dim);
        let length =
            s.decide(b, &format!("length of {}", super::label(view.op())), (length, room))?;
        let all: Vec<_> = (0..room).collect();
        let all = integers(b, &[room], &all)?;
        let at = graph::Add::build(b, all, start)?.y();
        let at = graph::Min::build(b, at, scalar((room - 1).max(0))?)?.y();
        x = s.gathered(b, x, (axis, at), Dim::of(length))?;
    }
    Ok(Outcome::Replaced(vec![x]))
}

fn split<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(0), dims.len());
    let parts = ir::attr_i64s(op, "split").unwrap_or_default();
    let whole = Dim::known(parts.iter().sum());
    s.same(&dims[axis], &whole, "has elements, and parts for elements, of")?;
    let part = |size: i64| {
        let mut dims = dims.clone();
        dims[axis] = Dim::known(size);
        dims
    };
    Ok(Outcome::Stays(parts.into_iter().map(part).collect()))
}

/// Positions that count from the end of what counts, not from that of the buffer.
pub(super) fn counted<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (places, dim): (Val<'c>, &Dim),
) -> Result<Val<'c>> {
    if dim.is_known() {
        return Ok(places);
    }
    let Some(size) = dim.single().cloned() else {
        return Err(Error::invalid("takes elements along a product of sizes"));
    };
    if s.numbers(places).is_some_and(|all| all.iter().all(|at| *at >= 0)) {
        return Ok(places);
    }
    let element = ir::element_type(places.r#type());
    let size = s.value_of(&size)?;
    let size = match ir::element_type(size.r#type()) == element {
        true => size,
        false => graph::Cast::build(b, size, element, graph::CastAttrs::default())?.y(),
    };
    let zero = b.parse_attr(&format!("dense<0> : tensor<{element}>"))?;
    let zero = graph::Constant::build(b, zero)?.y();
    let negative = graph::Less::build(b, places, zero)?.y();
    let wrapped = graph::Add::build(b, places, size)?.y();
    let counted = graph::Where::build(b, negative, wrapped, places)?.y();
    let dims = s.dims(places);
    s.know(counted, dims);
    Ok(counted)
}

fn gather<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let [x, places] = ir::operands(op)[..] else {
        return Err(Error::internal("a gather without indices"));
    };
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(0), s.dims(x).len());
    let x = s.singled(b, x, axis)?;
    edit::set_operand(op, 0, x)?;
    let dims = s.dims(x);
    let counted = counted(s, b, (places, &dims[axis]))?;
    edit::set_operand(op, 1, counted)?;
    let inner = s.dims(places);
    let all = [&dims[..axis], &inner[..], &dims[axis + 1..]].concat();
    Ok(Outcome::Stays(vec![all]))
}

fn gather_elements<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let [x, places] = ir::operands(op)[..] else {
        return Err(Error::internal("gather_elements without indices"));
    };
    let dims = s.dims(x);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(0), dims.len());
    let counted = counted(s, b, (places, &dims[axis]))?;
    edit::set_operand(op, 1, counted)?;
    let dims = s.dims(places);
    Ok(Outcome::Stays(vec![dims]))
}

fn range<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let one = |value: Val<'c>| s.content(value).and_then(|content| content.first().cloned());
    let [start, limit, delta] = ir::operands(op)[..] else {
        return Err(Error::internal("a range without bounds"));
    };
    let (Some(start), Some(limit), Some(step)) =
        (one(start), one(limit), one(delta).and_then(|delta| delta.known()))
    else {
        return Err(Error::invalid(
            "counts between numbers that do not follow from sizes of inputs",
        ));
    };
    let length = match step {
        0 => return Err(Error::invalid("counts in steps of 0")),
        step if step > 0 => limit.minus(&start).plus(&(step - 1).into()).over(step),
        step => start.minus(&limit).plus(&(-step - 1).into()).over(-step),
    };
    let dim = Dim::of(length.or_more(&0.into(), &s.symbols));
    check(std::slice::from_ref(&dim), &s.symbols)?;
    let count = s.room(&dim);
    let all: Vec<_> = (0..count).map(|at| at * step).collect();
    let offsets = integers(b, &[count], &all)?;
    let first = s.value_of(&start)?;
    let y = graph::Add::build(b, offsets, first)?.y();
    let element = ir::element_type(ir::result0(op)?.r#type());
    let y = match ir::element_type(y.r#type()) == element {
        true => y,
        false => graph::Cast::build(b, y, element, graph::CastAttrs::default())?.y(),
    };
    s.know(y, vec![dim]);
    Ok(Outcome::Replaced(vec![y]))
}

fn one_hot<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let [places, depth, values] = ir::operands(op)[..] else {
        return Err(Error::internal("a one_hot without a depth"));
    };
    let Some(depth) = s.content(depth).and_then(|depth| depth.first().cloned()) else {
        return Err(Error::invalid("has as many classes as data say"));
    };
    let pair = s.dims(values)[0].clone();
    s.same(&pair, &Dim::known(2), "has values, and states, of")?;
    if depth.known().is_none() {
        // Positions below zero count from the end; those before the beginning are of no class.
        let dim = Dim::of(depth.clone());
        let room = s.room(&dim);
        let all = s.materialized(b, places)?;
        let own = counted(s, b, (all, &dim))?;
        let element = ir::element_type(own.r#type());
        let number = |text: i64| -> Result<Val<'c>> {
            let value = b.parse_attr(&format!("dense<{text}> : tensor<{element}>"))?;
            Ok(graph::Constant::build(b, value)?.y())
        };
        let none = graph::Less::build(b, own, number(0)?)?.y();
        let kept = graph::Where::build(b, none, number(room)?, own)?.y();
        let dims = s.dims(places);
        s.know(kept, dims);
        edit::set_operand(op, 0, kept)?;
        let list = ir::dims(ir::operands(op)[1].r#type()).len();
        let most = integers(b, &vec![1; list], &[room])?;
        edit::set_operand(op, 1, most)?;
    }
    s.materialize_all(b, op)?;
    let mut dims = s.dims(places);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(-1), dims.len() + 1);
    dims.insert(axis.min(dims.len()), Dim::of(depth));
    Ok(Outcome::Stays(vec![dims]))
}
