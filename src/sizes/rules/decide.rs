//! Operations whose results have as many elements as data decide.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, op_name, view::OpView},
    lower::normalize_axis,
    sizes::{
        Bounding, Dim,
        mask::{Neutral, integers},
    },
};
use melior::ir::{Type, ValueLike};
use phaseline_base::size::Size;

const RULES: &[&str] = &[
    graph::NonZero::NAME,
    graph::Compress::NAME,
    graph::NonMaxSuppression::NAME,
    graph::Slice::NAME,
    graph::Scan::NAME,
];

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::NonZero::NAME, non_zero),
        (graph::Compress::NAME, compress),
        (graph::NonMaxSuppression::NAME, non_max_suppression),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// True if the data of a network decide on sizes.
pub(in crate::sizes) fn decides(main: Op<'_>) -> bool {
    let is_open = |value: &Val<'_>| ir::static_dims(value.r#type()).is_none();
    let ops = edit::entry_block(main).map(ir::ops).unwrap_or_default();
    ops.into_iter().any(|op| RULES.contains(&op_name(op)) && ir::results(op).iter().any(is_open))
}

/// A tensor of integers with one dimension.
fn list<'c>(b: &Builder<'c>, values: &[i64]) -> Result<Val<'c>> {
    integers(b, &[values.len() as i64], values)
}

fn scalar<'c>(b: &Builder<'c>, value: i64) -> Result<Val<'c>> {
    integers(b, &[], &[value])
}

fn cast<'c>(b: &Builder<'c>, value: Val<'c>, to: Type<'c>) -> Result<Val<'c>> {
    if ir::element_type(value.r#type()) == to {
        return Ok(value);
    }
    Ok(graph::Cast::build(b, value, to, graph::CastAttrs::default())?.y())
}

/// Another shape of the same elements.
fn shaped<'c>(b: &Builder<'c>, value: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
    if ir::dims(value.r#type()) == dims {
        return Ok(value);
    }
    let attributes = graph::ReshapeAttrs { allowzero: true };
    Ok(graph::Reshape::build(b, value, list(b, dims)?, attributes)?.y())
}

/// `0, 1, ..., count - 1`.
fn counting<'c>(b: &Builder<'c>, count: i64) -> Result<Val<'c>> {
    Ok(graph::Range::build(b, scalar(b, 0)?, scalar(b, count)?, scalar(b, 1)?)?.y())
}

/// A number as the type of another value.
fn number_like<'c>(b: &Builder<'c>, value: Val<'c>, text: &str) -> Result<Val<'c>> {
    let element = ir::element_type(value.r#type());
    let value = b.parse_attr(&format!("dense<{text}> : tensor<{element}>"))?;
    Ok(graph::Constant::build(b, value)?.y())
}

impl<'c> Bounding<'c> {
    /// The positions of the true elements of a list, in order, and their number. Behind them the
    /// list holds 0.
    fn positions(
        &mut self,
        b: &Builder<'c>,
        flags: Val<'c>,
        op: Op<'c>,
    ) -> Result<(Val<'c>, Size)> {
        let count = ir::dims(flags.r#type())[0];
        let name = format!("count of {}", super::label(op));
        let ones = cast(b, flags, b.int(64))?;
        if count == 0 {
            let none = scalar(b, 0)?;
            return Ok((list(b, &[0])?, self.decide(b, &name, (none, 0))?));
        }
        let attributes = graph::ReduceSumAttrs { axes: vec![0], keepdims: false };
        let total = graph::ReduceSum::build(b, ones, attributes)?.y();
        let before = graph::CumSumAttrs { exclusive: true, reverse: false };
        let before = graph::CumSum::build(b, ones, 0, before)?.y();
        // Unwanted positions go behind the end.
        let places = graph::Where::build(b, flags, before, scalar(b, count)?)?.y();
        let room = b.parse_attr(&format!("dense<0> : tensor<{}xi64>", count + 1))?;
        let room = graph::Constant::build(b, room)?.y();
        let attributes = graph::ScatterElementsAttrs::default();
        let all = counting(b, count)?;
        let found = graph::ScatterElements::build(b, room, places, all, attributes)?.y();
        let found =
            graph::Slice::build(b, found, list(b, &[0])?, list(b, &[count])?, None, None)?.y();
        let size = self.decide(b, &name, (total, count))?;
        self.know(found, vec![Dim::of(size.clone())]);
        Ok((found, size))
    }

    /// True for the elements other than 0 that count.
    fn flags(&mut self, b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
        let x = self.materialized(b, x)?;
        let axes: Vec<_> = (0..self.dims(x).len()).collect();
        let masked = self.masked(b, x, &axes, Neutral::Zero)?;
        cast(b, masked, b.int(1))
    }
}

/// The rooms of dimensions that are single sizes each.
fn rooms(s: &Bounding<'_>, dims: &[Dim]) -> Result<Vec<i64>> {
    if dims.iter().any(|dim| dim.single().is_none()) {
        return Err(Error::invalid("takes positions along a product of sizes"));
    }
    Ok(dims.iter().map(|dim| s.room(dim)).collect())
}

/// The positions along each dimension of elements that are counted row by row, as rows of a tensor.
fn unravel<'c>(b: &Builder<'c>, found: Val<'c>, rooms: &[i64]) -> Result<Val<'c>> {
    let mut rows = vec![];
    let mut stride: i64 = rooms.iter().product();
    for room in rooms {
        stride /= (*room).max(1);
        let outer = match stride {
            1 => found,
            stride => graph::Div::build(b, found, scalar(b, stride.max(1))?)?.y(),
        };
        let attributes = graph::ModAttrs::default();
        let place = graph::Mod::build(b, outer, scalar(b, (*room).max(1))?, attributes)?.y();
        rows.push(graph::Unsqueeze::build(b, place, &[0])?.y());
    }
    match rows[..] {
        [] => Err(Error::invalid("has no dimension")),
        [single] => Ok(single),
        _ => Ok(graph::Concat::build(b, &rows, 0)?.y()),
    }
}

fn non_zero<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let mut x = s.materialized(b, ir::operands(op)[0])?;
    for axis in 0..s.dims(x).len() {
        x = s.singled(b, x, axis)?;
    }
    let dims = s.dims(x);
    let rooms = rooms(s, &dims)?;
    let flags = s.flags(b, x)?;
    let flags = shaped(b, flags, &[rooms.iter().product()])?;
    let (found, size) = s.positions(b, flags, op)?;
    if rooms.is_empty() {
        // A scalar has no positions, but as many columns as it is.
        return Err(Error::invalid("finds positions in a scalar: give it one dimension"));
    }
    let y = unravel(b, found, &rooms)?;
    s.know(y, vec![Dim::known(rooms.len() as i64), Dim::of(size)]);
    Ok(Outcome::Replaced(vec![y]))
}

fn compress<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let Some(view) = graph::Compress::of(op) else {
        return Err(Error::internal("a compress that is not as ODS has it"));
    };
    let mut x = s.materialized(b, view.x())?;
    let mut dims = s.dims(x);
    let axis = match view.axis() {
        Some(axis) => normalize_axis(axis, dims.len()),
        None => {
            if dims.len() != 1 && !dims.iter().all(Dim::is_known) {
                return Err(Error::invalid(
                    "picks from all elements of a tensor with sizes that are known at run time: give it an axis",
                ));
            }
            if dims.len() != 1 {
                let count = dims.iter().map(|dim| s.room(dim)).product();
                x = shaped(b, x, &[count])?;
                dims = vec![Dim::known(count)];
                s.know(x, dims.clone());
            }
            0
        }
    };
    let flags = s.flags(b, view.condition())?;
    let (found, size) = s.positions(b, flags, op)?;
    // A condition that is longer than the axis has no true elements behind it.
    let last = scalar(b, (s.room(&dims[axis]) - 1).max(0))?;
    let found = graph::Min::build(b, found, last)?.y();
    let attributes = graph::GatherAttrs { axis: axis as i64 };
    let y = graph::Gather::build(b, x, found, attributes)?.y();
    dims[axis] = Dim::of(size);
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

/// Boxes by class in the order of their scores, step by step: the best one, without those that overlap it.
fn non_max_suppression<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Result<Outcome<'c>> {
    let Some(view) = graph::NonMaxSuppression::of(op) else {
        return Err(Error::internal("a non_max_suppression that is not as ODS has it"));
    };
    let most = match view.max_output() {
        Some(most) => s.numbers(most).and_then(|all| all.first().copied()),
        None => Some(0),
    };
    let [mut boxes, mut scores] = [view.boxes(), view.scores()];
    for axis in 0..3 {
        boxes = s.singled(b, boxes, axis)?;
        scores = s.singled(b, scores, axis)?;
    }
    let dims = s.dims(scores);
    let sizes = rooms(s, &dims)?;
    let [batch, classes, count] = sizes[..] else {
        return Err(Error::invalid("has scores of another rank than 3"));
    };
    let steps = most.unwrap_or(count).clamp(0, count);
    if steps == 0 || batch * classes == 0 {
        let none = integers(b, &[0, 3], &[])?;
        s.know(none, vec![Dim::known(0), Dim::known(3)]);
        return Ok(Outcome::Replaced(vec![none]));
    }
    let boxes = s.materialized(b, boxes)?;
    let scores = s.materialized(b, scores)?;
    let scores = s.masked(b, scores, &[0, 1, 2], Neutral::Least)?;
    let least = number_like(b, scores, least_of(ir::element_type(scores.r#type()))?)?;
    let one = |value: Val<'c>| shaped(b, value, &[]);
    let threshold = view.score_threshold().map(one).transpose()?.unwrap_or(least);
    let overlap = view.iou_threshold().map(one).transpose()?;
    let overlap = overlap.map_or_else(|| number_like(b, boxes, "0.0"), Ok)?;
    let limit = {
        // No class takes more steps than it has boxes with enough score.
        let enough = graph::Greater::build(b, scores, threshold)?.y();
        let enough = cast(b, enough, b.int(64))?;
        let attributes = graph::ReduceSumAttrs { axes: vec![2], keepdims: false };
        let each = graph::ReduceSum::build(b, enough, attributes)?.y();
        let attributes = graph::ReduceMaxAttrs { axes: vec![0, 1], keepdims: false };
        let limit = graph::ReduceMax::build(b, each, attributes)?.y();
        let limit = graph::Min::build(b, limit, scalar(b, steps)?)?.y();
        match (most, view.max_output()) {
            (None, Some(most)) => {
                let most = s.materialized(b, most)?;
                let most = cast(b, shaped(b, most, &[])?, b.int(64))?;
                graph::Min::build(b, limit, most)?.y()
            }
            _ => limit,
        }
    };
    let centered = view.center_point_box();
    let search = Search { scores, boxes, least, threshold, overlap, limit, steps, centered };
    let (chosen, valid) = search.build(b)?;
    // Steps behind the limit have no particular values.
    let run = graph::Less::build(b, counting(b, steps)?, limit)?.y();
    let valid = graph::And::build(b, valid, run)?.y();
    let all = batch * classes * steps;
    let (found, size) = {
        let flags = shaped(b, valid, &[all])?;
        s.positions(b, flags, op)?
    };
    let place = unravel(b, found, &[batch, classes, steps])?;
    let pair = {
        let (from, to) = (list(b, &[0, 0])?, list(b, &[2, all])?);
        graph::Slice::build(b, place, from, to, None, None)?.y()
    };
    let chosen = shaped(b, chosen, &[all])?;
    let chosen = graph::Gather::build(b, chosen, found, graph::GatherAttrs { axis: 0 })?.y();
    let chosen = shaped(b, chosen, &[1, all])?;
    let rows = graph::Concat::build(b, &[pair, chosen], 0)?.y();
    let y = graph::Transpose::build(b, rows, &[1, 0])?.y();
    s.know(y, vec![Dim::of(size), Dim::known(3)]);
    Ok(Outcome::Replaced(vec![y]))
}

/// The least value of a type of scores.
fn least_of(element: Type<'_>) -> Result<&'static str> {
    match element.to_string().as_str() {
        "f16" => Ok("0xFC00"),
        "bf16" => Ok("0xFF80"),
        "f32" => Ok("0xFF800000"),
        "f64" => Ok("0xFFF0000000000000"),
        other => Err(Error::invalid(format!("has scores of type {other}"))),
    }
}

/// The search for boxes of all classes at once.
struct Search<'c> {
    scores: Val<'c>,
    boxes: Val<'c>,
    least: Val<'c>,
    threshold: Val<'c>,
    overlap: Val<'c>,
    limit: Val<'c>,
    steps: i64,
    centered: bool,
}

/// Corners of boxes.
#[derive(Clone, Copy)]
struct Corners<'c> {
    top: Val<'c>,
    left: Val<'c>,
    bottom: Val<'c>,
    right: Val<'c>,
}

impl<'c> Corners<'c> {
    /// Corners of boxes in a tensor whose last dimension has four numbers, each with that dimension
    /// of size 1.
    fn of(b: &Builder<'c>, boxes: Val<'c>, centered: bool) -> Result<Self> {
        let axis = ir::dims(boxes.r#type()).len() as i64 - 1;
        let at = |place: i64| -> Result<Val<'c>> {
            let (from, to) = (list(b, &[place])?, list(b, &[place + 1])?);
            Ok(graph::Slice::build(b, boxes, from, to, Some(list(b, &[axis])?), None)?.y())
        };
        let [one, two, three, four] = [at(0)?, at(1)?, at(2)?, at(3)?];
        let min = |a, c| graph::Min::build(b, a, c).map(graph::Min::y);
        let max = |a, c| graph::Max::build(b, a, c).map(graph::Max::y);
        if !centered {
            let (top, bottom) = (min(one, three)?, max(one, three)?);
            return Ok(Self { top, left: min(two, four)?, bottom, right: max(two, four)? });
        }
        // Centre and size, x first.
        let half = number_like(b, boxes, "0.5")?;
        let wide = graph::Mul::build(b, three, half)?.y();
        let high = graph::Mul::build(b, four, half)?.y();
        Ok(Self {
            top: graph::Sub::build(b, two, high)?.y(),
            left: graph::Sub::build(b, one, wide)?.y(),
            bottom: graph::Add::build(b, two, high)?.y(),
            right: graph::Add::build(b, one, wide)?.y(),
        })
    }

    fn map(self, mut change: impl FnMut(Val<'c>) -> Result<Val<'c>>) -> Result<Self> {
        Ok(Self {
            top: change(self.top)?,
            left: change(self.left)?,
            bottom: change(self.bottom)?,
            right: change(self.right)?,
        })
    }

    fn area(&self, b: &Builder<'c>) -> Result<Val<'c>> {
        let high = graph::Sub::build(b, self.bottom, self.top)?.y();
        let wide = graph::Sub::build(b, self.right, self.left)?.y();
        Ok(graph::Mul::build(b, high, wide)?.y())
    }

    /// The area that both have.
    fn common(&self, b: &Builder<'c>, other: &Self) -> Result<Val<'c>> {
        let zero = number_like(b, self.top, "0.0")?;
        let side = |low: [Val<'c>; 2], high: [Val<'c>; 2]| -> Result<Val<'c>> {
            let low = graph::Max::build(b, low[0], low[1])?.y();
            let high = graph::Min::build(b, high[0], high[1])?.y();
            let length = graph::Sub::build(b, high, low)?.y();
            Ok(graph::Max::build(b, length, zero)?.y())
        };
        let high = side([self.top, other.top], [self.bottom, other.bottom])?;
        let wide = side([self.left, other.left], [self.right, other.right])?;
        Ok(graph::Mul::build(b, high, wide)?.y())
    }
}

impl<'c> Search<'c> {
    /// The boxes that are chosen, `[batch, classes, steps]`, with a mask of the steps that had a
    /// box with enough score.
    fn build(&self, b: &Builder<'c>) -> Result<(Val<'c>, Val<'c>)> {
        let [batch, classes, count] = ir::dims(self.scores.r#type())[..] else {
            return Err(Error::internal("scores of another rank"));
        };
        let corners = Corners::of(b, self.boxes, self.centered)?;
        let area = corners.area(b)?;
        // All boxes as `[batch, 1, count]`, and their five numbers by position as `[batch, count, 5]`.
        let parts = [corners.top, corners.left, corners.bottom, corners.right, area];
        let table = graph::Concat::build(b, &parts, 2)?.y();
        let rows = corners.map(|value| shaped(b, value, &[batch, 1, count]))?;
        let areas = shaped(b, area, &[batch, 1, count])?;
        let captured = [
            rows.top,
            rows.left,
            rows.bottom,
            rows.right,
            areas,
            table,
            self.least,
            self.threshold,
            self.overlap,
        ];
        let body = super::super::region::Body {
            steps: self.steps,
            limit: self.limit,
            states: &[self.scores],
            captured: &captured,
            axes: &[2, 2],
        };
        let results = body.build(b, |b, states, captured| {
            let [scores] = states[..] else { return Err(Error::internal("another state")) };
            let [top, left, bottom, right, areas, table, least, threshold, overlap] = captured[..]
            else {
                return Err(Error::internal("other captured values"));
            };
            let rows = Corners { top, left, bottom, right };
            let attributes = graph::ReduceMaxAttrs { axes: vec![2], keepdims: true };
            let best = graph::ReduceMax::build(b, scores, attributes)?.y();
            let attributes = graph::ArgMaxAttrs { axis: 2, ..Default::default() };
            let at = graph::ArgMax::build(b, scores, attributes)?.y();
            let valid = graph::Greater::build(b, best, threshold)?.y();
            let own =
                graph::GatherND::build(b, table, at, graph::GatherNDAttrs { batch_dims: 1 })?.y();
            let own_at = |place: i64| -> Result<Val<'c>> {
                let (from, to) = (list(b, &[place])?, list(b, &[place + 1])?);
                Ok(graph::Slice::build(b, own, from, to, Some(list(b, &[2])?), None)?.y())
            };
            let own = Corners {
                top: own_at(0)?,
                left: own_at(1)?,
                bottom: own_at(2)?,
                right: own_at(3)?,
            };
            let common = own.common(b, &rows)?;
            let both = graph::Add::build(b, own_at(4)?, areas)?.y();
            let union = graph::Sub::build(b, both, common)?.y();
            // Boxes without an area overlap nothing.
            let zero = number_like(b, union, "0.0")?;
            let ratio = graph::Div::build(b, common, union)?.y();
            let is_proper = graph::Greater::build(b, common, zero)?.y();
            let ratio = graph::Where::build(b, is_proper, ratio, zero)?.y();
            let overlaps = graph::Greater::build(b, ratio, overlap)?.y();
            let overlaps = graph::And::build(b, overlaps, is_proper)?.y();
            let is_own = graph::Equal::build(b, counting(b, count)?, at)?.y();
            let gone = graph::Or::build(b, overlaps, is_own)?.y();
            let next = graph::Where::build(b, gone, least, scores)?.y();
            let pair = [batch, classes];
            Ok((vec![next], vec![shaped(b, at, &pair)?, shaped(b, valid, &pair)?]))
        })?;
        match results[..] {
            [_, chosen, valid] => Ok((chosen, valid)),
            _ => Err(Error::internal("a loop with other results")),
        }
    }
}
