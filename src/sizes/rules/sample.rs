//! Sampling of images at points that data give.

use super::{Outcome, Rule, resample::Arith};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
    sizes::{Bounding, Dim, mask::Neutral},
};
use melior::ir::ValueLike;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] =
        &[(graph::GridSample::NAME, grid_sample), (graph::RoiAlign::NAME, roi_align)];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Points count in the image that counts; they are given anew in the image that there is room for.
fn grid_sample<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::GridSample::of(op) else {
        return Err(Error::internal("a sampling that is not as ODS has it"));
    };
    let (mut x, mut grid) = (view.x(), view.grid());
    let (dims, points) = (s.dims(x), s.dims(grid));
    let rank = dims.len() - 2;
    s.same(&dims[0], &points[0], "has images, and points for images, of")?;
    s.same(&points[rank + 1], &Dim::known(rank as i64), "has coordinates, and axes, of")?;
    let result = [&dims[..2], &points[1..=rank]].concat();
    let open: Vec<_> = (2..dims.len()).filter(|axis| !dims[*axis].is_known()).collect();
    if open.is_empty() {
        return Ok(Outcome::Stays(vec![result]));
    }
    let (mode, corners) = (view.padding_mode(), view.align_corners());
    if mode == "reflection" && view.mode() == "cubic" {
        return Err(Error::invalid(
            "reflects elements that a cubic takes at an end that is known at run time",
        ));
    }
    if open.iter().any(|axis| dims[*axis].single().is_none()) {
        return Err(Error::invalid("samples an image whose side is a product of sizes"));
    }
    let a = Arith(b);
    let element = ir::element_type(grid.r#type());
    let mut parts = vec![];
    for place in 0..rank {
        // Coordinates run from the last axis to the first.
        let axis = 1 + rank - place;
        let mut part = s.part(b, grid, place)?;
        if dims[axis].is_known() {
            parts.push(part);
            continue;
        }
        let size = a.cast(s.value_of(&dims[axis].size())?, element)?;
        let room = s.room(&dims[axis]) as f64;
        let one = a.float(1.0, part)?;
        let (span, roomy) = match corners {
            true => (a.minus(size, one)?, room - 1.0),
            false => (size, room),
        };
        if mode == "reflection" {
            // From -1 to 1 and back again.
            let (two, four) = (a.float(2.0, part)?, a.float(4.0, part)?);
            let from_start = graph::Abs::build(b, a.plus(part, one)?)?.y();
            let attributes = graph::ModAttrs { fmod: true };
            let around = graph::Mod::build(b, from_start, four, attributes)?.y();
            let back = a.minus(four, around)?;
            let near = graph::LessOrEqual::build(b, around, two)?.y();
            part = a.minus(graph::Where::build(b, near, around, back)?.y(), one)?;
        }
        if roomy > 0.0 {
            let from_start = a.times(a.plus(part, one)?, span)?;
            let shared = graph::Div::build(b, from_start, a.float(roomy, part)?)?.y();
            part = a.minus(shared, one)?;
        }
        parts.push(part);
    }
    grid = graph::Concat::build(b, &parts, rank as i64 + 1)?.y();
    s.know(grid, points);
    x = match mode {
        "zeros" => s.masked(b, x, &open, Neutral::Zero)?,
        _ => {
            for axis in open {
                x = s.edge_filled(b, x, axis)?;
            }
            x
        }
    };
    edit::set_operand(op, 0, x)?;
    edit::set_operand(op, 1, grid)?;
    Ok(Outcome::Stays(vec![result]))
}

impl<'c> Bounding<'c> {
    /// One coordinate of all points.
    fn part(&mut self, b: &Builder<'c>, grid: Val<'c>, place: usize) -> Result<Val<'c>> {
        let rank = self.dims(grid).len() as i64;
        let place = place as i64;
        let list = |value: i64| crate::sizes::mask::integers(b, &[1], &[value]);
        let (start, end, axis) = (list(place)?, list(place + 1)?, list(rank - 1)?);
        Ok(graph::Slice::build(b, grid, start, end, Some(axis), None)?.y())
    }
}

/// Regions are in elements. Behind the end of an image there is nothing, so its sides have to be known.
fn roi_align<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::RoiAlign::of(op) else {
        return Err(Error::internal("an operation that is not as ODS has it"));
    };
    let (dims, rois) = (s.dims(view.x()), s.dims(view.rois()));
    let batch = s.dims(view.batch())[0].clone();
    s.same(&rois[0], &batch, "has regions, and images for regions, of")?;
    s.same(&rois[1], &Dim::known(4), "has coordinates, and ends, of")?;
    if dims[2..].iter().any(|dim| !dim.is_known()) {
        return Err(Error::invalid(
            "cuts regions out of an image whose sides are known at run time",
        ));
    }
    let sides = [view.output_height(), view.output_width()].map(Dim::known);
    Ok(Outcome::Stays(vec![[&rois[..1], &dims[1..2], &sides[..]].concat()]))
}
