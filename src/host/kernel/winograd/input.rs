//! The input of a tile, as the products read it.

use super::{
    emit::{Block, Tile},
    transform::separable,
};
use crate::{
    Result,
    host::kernel::{
        Element, Emitter, Ix,
        lanes::vectors,
        tiling::Width,
        window::{AXES, COL, PLANE, ROW},
    },
    ir::{Builder, Val},
    lower::loops::when,
};
use melior::ir::ValueLike;

impl<'c> Block<'_, 'c> {
    /// Transforms the input of a tile; the first point of the result is written from `to` on.
    pub fn input(&self, e: &Emitter<'c>, tile: &Tile<'c>, to: Ix<'c>) -> Result<()> {
        let conv = &self.spec.conv;
        let window = &conv.window;
        let view = &conv.x;
        let steps = [view.plane, view.row, view.col];
        let mut corner = vec![(tile.batch, view.batch)];
        let mut inside = vec![];
        for (axis, step) in steps.into_iter().enumerate() {
            corner.push((tile.first[axis], window.stride[axis] * step));
            inside.push(self.inside(e, axis, tile.first[axis])?);
        }
        let corner = e.sum(window.corner(view), &corner)?;
        let points = self.points();
        let mut loads = vec![];
        for plane in 0..points[PLANE] {
            for row in 0..points[ROW] {
                for col in 0..points[COL] {
                    let at = [plane, row, col];
                    let offset =
                        (0..AXES).map(|axis| self.position(axis, at[axis]) * steps[axis]).sum();
                    let conditions = (0..AXES).filter_map(|axis| inside[axis][at[axis]]);
                    loads.push((offset, all_of(e, conditions)?));
                }
            }
        }
        let lanes = e.isa.lanes_of(self.spec.product.types.image);
        let all = conv.groups * conv.depth;
        let whole = all - all % lanes;
        e.repeat((Ix::Const(0), Ix::Const(whole), lanes), vec![], |e, channel, _| {
            self.transform(e, &loads, (corner, to), (channel, Width::full(lanes)))?;
            Ok(vec![])
        })?;
        for (channel, width) in vectors(lanes, whole, all) {
            self.transform(e, &loads, (corner, to), (Ix::Const(channel), width))?;
        }
        Ok(())
    }

    /// For each point of a tile along an axis whether it lies in the image, if that has to be asked.
    fn inside(&self, e: &Emitter<'c>, axis: usize, first: Ix<'c>) -> Result<Vec<Option<Val<'c>>>> {
        let window = &self.spec.conv.window;
        let (step, pad, input) = (self.step(axis), window.pad[axis], window.input[axis]);
        let last = (self.spec.grid()[axis] / step - 1) * step * self.spec.results[axis] + step - 1;
        let points = (0..self.points()[axis]).map(|point| {
            let mut conditions = vec![];
            let offset = self.position(axis, point) - pad;
            let stride = window.stride[axis];
            let at = e.value(e.add(e.mul(first, stride)?, Ix::Const(offset))?)?;
            if offset < 0 {
                conditions.push(e.builder.cmpi("sge", at, e.builder.index(0)?)?);
            }
            if last * stride + offset >= input {
                conditions.push(e.builder.cmpi("slt", at, e.builder.index(input)?)?);
            }
            all_of(e, conditions.into_iter())
        });
        points.collect()
    }

    /// Transforms some channels of a tile, the points of which lie at some distance from the corner.
    fn transform(
        &self,
        e: &Emitter<'c>,
        loads: &[(i64, Option<Val<'c>>)],
        (corner, to): (Ix<'c>, Ix<'c>),
        (channel, width): (Ix<'c>, Width),
    ) -> Result<()> {
        let corner = e.add(corner, channel)?;
        let points = self.points();
        let mut values = vec![];
        // Lines are transformed as they are loaded, which leaves more registers free.
        for line in loads.chunks(points[COL]) {
            let mut vectors = vec![];
            for (offset, condition) in line {
                let load = |e: &Emitter<'c>| {
                    let value = e.load(self.x, e.add(corner, Ix::Const(*offset))?, width)?;
                    self.widened(e, value)
                };
                vectors.push(match condition {
                    None => load(e)?,
                    Some(condition) => {
                        let zero = e.splat(0.0, width.lanes, self.spec.product.types.image)?;
                        let body =
                            |b: &Builder<'c>| Ok(vec![load(&Emitter { builder: *b, ..*e })?]);
                        when(&e.builder, *condition, &[zero], body)?[0]
                    }
                });
            }
            values.extend(self.maps[COL].input.emit(e, &vectors)?);
        }
        let values = separable(values, points.to_vec(), COL, |axis, line| {
            self.maps[axis].input.emit(e, line)
        })?;
        let to = e.add(to, channel)?;
        for (point, value) in values.into_iter().enumerate() {
            let at = e.add(to, Ix::Const(point as i64 * self.spec.product.x.plane))?;
            e.store(value, self.image, at, width)?;
        }
        Ok(())
    }
}

impl<'c> Block<'_, 'c> {
    /// Elements of the image as those that are transformed.
    fn widened(&self, e: &Emitter<'c>, value: Val<'c>) -> Result<Val<'c>> {
        let image = self.spec.conv.types.image;
        if !image.is_byte() {
            return Ok(value);
        }
        let to = e.builder.like(value.r#type(), e.builder.int(16));
        let name = if image == Element::I8 { "arith.extsi" } else { "arith.extui" };
        e.builder.op1(name, &[value], to)
    }
}

/// The conjunction of some conditions, if there are any.
fn all_of<'c>(
    e: &Emitter<'c>,
    conditions: impl Iterator<Item = Val<'c>>,
) -> Result<Option<Val<'c>>> {
    let mut all = None;
    for condition in conditions {
        all = Some(match all {
            Some(others) => e.builder.binary("arith.andi", others, condition)?,
            None => condition,
        });
    }
    Ok(all)
}
