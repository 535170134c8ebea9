//! The results of a tile, from its products to where they are stored.

use super::{
    emit::{Block, Tile},
    transform::separable,
};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix, View,
        contraction::Place,
        store::{self, Results},
        tiling::{ChannelTiles, PointTiles},
        window::{AXES, COL, PLANE, ROW},
    },
    ir::Val,
    lower::loops::when,
};
use melior::ir::ValueLike;

impl<'c> Block<'_, 'c> {
    /// Makes the results of a tile from the products of some channels, which are read from `from` on.
    pub fn output(
        &self,
        e: &Emitter<'c>,
        tile: &Tile<'c>,
        (channels, channel): (&ChannelTiles, Ix<'c>),
        from: Ix<'c>,
    ) -> Result<()> {
        let plane = self.spec.product.y.plane;
        let points = self.points();
        let address =
            |e: &Emitter<'c>, point: i64, lane: i64| e.add(from, Ix::Const(point * plane + lane));
        let mut lane = 0;
        for width in &channels.widths {
            let products = (0..points.iter().product::<usize>() as i64)
                .map(|point| e.load(self.memory, address(e, point, lane)?, *width));
            let results = separable(
                products.collect::<Result<Vec<_>>>()?,
                points.to_vec(),
                AXES,
                |axis, line| self.maps[axis].output.emit(e, line),
            )?;
            // All products have been read.
            for (point, value) in results.into_iter().enumerate() {
                e.store(value, self.memory, address(e, point as i64, lane)?, *width)?;
            }
            lane += width.lanes;
        }
        let place = Place {
            batch: tile.batch,
            group: Ix::Const(0),
            channel,
            within: channel,
            plane: tile.first[PLANE],
            row: tile.first[ROW],
            col: tile.first[COL],
        };
        let [_, rows, cols] = self.spec.results;
        self.along(
            e,
            PLANE,
            (place.plane, from),
            |e, at, from| {
                let place = Place { plane: at, ..place };
                self.along(
                    e,
                    ROW,
                    (place.row, from),
                    |e, at, from| self.row(e, Place { row: at, ..place }, (channels, from)),
                    cols * plane,
                )
            },
            rows * cols * plane,
        )
    }

    /// Loops over the results of a tile along an axis that lie in the output. `body` gets the
    /// position of each, `first` being that of the first, and its place in the kept results. Those
    /// begin at `from`, with a step between them.
    fn along(
        &self,
        e: &Emitter<'c>,
        axis: usize,
        (first, from): (Ix<'c>, Ix<'c>),
        body: impl FnOnce(&Emitter<'c>, Ix<'c>, Ix<'c>) -> Result<()>,
        step: i64,
    ) -> Result<()> {
        let (results, all, apart) =
            (self.spec.results[axis], self.spec.conv.grid()[axis], self.step(axis));
        let count = if all % (results * apart) == 0 {
            Ix::Const(results)
        } else {
            let left = e.add(e.mul(first, -1)?, Ix::Const(all))?;
            e.min(e.fold_ceil_div(left, apart)?, results)?
        };
        e.repeat((Ix::Const(0), count, 1), vec![], |e, index, _| {
            let at = if results == 1 { first } else { e.add(e.mul(index, apart)?, first)? };
            body(e, at, e.add(e.mul(index, step)?, from)?)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Stores a row of a tile, whose last one in a row of the image may have fewer columns.
    fn row(
        &self,
        e: &Emitter<'c>,
        place: Place<'c>,
        (channels, from): (&ChannelTiles, Ix<'c>),
    ) -> Result<()> {
        let (cols, all) = (self.spec.results[COL], self.spec.conv.cols);
        if self.step(COL) > 1 {
            // They are no neighbours in the output.
            return self.along(
                e,
                COL,
                (place.col, from),
                |e, at, from| self.store(e, Place { col: at, ..place }, (channels, from), 1),
                self.spec.product.y.plane,
            );
        }
        let rest = all % cols;
        let Ix::Value(col) = place.col else {
            return self.store(e, place, (channels, from), cols.min(all));
        };
        if rest == 0 {
            return self.store(e, place, (channels, from), cols);
        }
        for (predicate, points) in [("ne", cols), ("eq", rest)] {
            let condition = e.builder.cmpi(predicate, col, e.builder.index(all - rest)?)?;
            when(&e.builder, condition, &[], |b| {
                self.store(&Emitter { builder: *b, ..*e }, place, (channels, from), points)?;
                Ok(vec![])
            })?;
        }
        Ok(())
    }

    fn store(
        &self,
        e: &Emitter<'c>,
        place: Place<'c>,
        (channels, from): (&ChannelTiles, Ix<'c>),
        points: i64,
    ) -> Result<()> {
        let mut values = vec![];
        for point in 0..points {
            let mut at = point * self.spec.product.y.plane;
            for width in &channels.widths {
                values.push(e.load(self.memory, e.add(from, Ix::Const(at))?, *width)?);
                at += width.lanes;
            }
        }
        self.add_starts(e, &place, (channels, points), &mut values)?;
        let operands = self.spec.conv.operands.iter().zip(self.operands.iter().copied());
        store::finish(
            e,
            Results {
                place: &place.coordinates(),
                points,
                widths: &channels.widths,
                values: &values,
                y: (&self.spec.conv.y, self.y),
                operands: &operands.collect::<Vec<(&View, Val<'c>)>>(),
                epilogue: self.epilogue,
            },
        )
    }
}

impl<'c> Block<'_, 'c> {
    /// Makes sums of what the products give, for neighbouring points of a row.
    fn add_starts(
        &self,
        e: &Emitter<'c>,
        place: &Place<'c>,
        (channels, points): (&ChannelTiles, i64),
        values: &mut [Val<'c>],
    ) -> Result<()> {
        let (spec, b) = (self.spec, e.builder);
        if spec.shift > 0 {
            for value in values.iter_mut() {
                let shift = b.constant_int(value.r#type(), spec.shift)?;
                *value = b.binary("arith.shrsi", *value, shift)?;
            }
        }
        let Some(start) = spec.conv.start else { return Ok(()) };
        let table = start.of_window(&spec.conv.window, spec.conv.grid());
        let at = [place.plane, place.row, place.col];
        let all = (place.channel, spec.conv.groups * spec.conv.channels);
        let tile = PointTiles { count: 1, size: points, start: 0 };
        let starts = table.load(e, &self.start, at, all, (&tile, &channels.widths))?;
        for (value, start) in values.iter_mut().zip(starts) {
            *value = b.binary("arith.addi", *value, start)?;
        }
        Ok(())
    }
}
