//! The loops of Winograd's algorithm: tasks, blocks of tiles, and what is done to a tile.

use super::{
    Winograd,
    transform::{Maps, separable},
};
use crate::{
    Result,
    host::kernel::{
        Buffer, Element, Emitter, Epilogue, Isa, Ix, NoEpilogue, View,
        contraction::{Buffers, Kernel, Place},
        emit::{argument_types, function},
        lanes::vectors,
        start::StartBuffers,
        store::{self, Coordinate, Results},
        tiling::{ChannelTiles, Width, ceil_div},
        window::{AXES, COL, PLANE, ROW},
    },
    ir::{Builder, Val},
    lower::loops::when,
};

impl Winograd {
    /// Emits the kernel as function `name(x, w, operands.., y, memory, lo, hi)`, whose buffers are `buffers`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, memory, bounds) = e.buffers(arguments, buffers.len())?;
            let y = flat.pop().unwrap_or(memory);
            let operands = flat.split_off(2);
            let start = StartBuffers::of(&[]);
            let products =
                Buffers { x: memory, w: flat[1], scales: None, start, operands: vec![], y: memory };
            let block = Block {
                spec: self,
                maps: self.maps()?,
                x: flat[0],
                memory,
                products: Kernel {
                    spec: &self.product,
                    grouping: self.product.grouping(isa),
                    blocking: &self.blocking,
                    buffers: products,
                    epilogue: &NoEpilogue,
                },
                operands,
                y,
                epilogue,
            };
            let (lo, hi) = (Ix::Value(bounds[0]), Ix::Value(bounds[1]));
            let place = e.mul(lo, self.memory_of_task())?;
            e.repeat((lo, hi, 1), vec![], |e, task, _| {
                block.task(e, task, place)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

/// A tile: its image, and its first result along each axis.
struct Tile<'c> {
    batch: Ix<'c>,
    first: [Ix<'c>; AXES],
}

struct Block<'k, 'c> {
    spec: &'k Winograd,
    maps: [Maps; AXES],
    x: Val<'c>,
    memory: Val<'c>,
    products: Kernel<'k, 'c>,
    operands: Vec<Val<'c>>,
    y: Val<'c>,
    epilogue: &'k dyn Epilogue<'c>,
}

impl<'c> Block<'_, 'c> {
    fn element(&self) -> Element {
        self.spec.conv.types.sum
    }

    /// Some blocks of tiles, and a part of the blocks of channels. The working memory begins at `memory`.
    fn task(&self, e: &Emitter<'c>, task: Ix<'c>, memory: Ix<'c>) -> Result<()> {
        let spec = self.spec;
        let (index, part) = e.div_rem(task, spec.parts)?;
        let (channels, _) = spec.blocking.counts();
        let step = ceil_div(channels, spec.parts);
        let from = e.mul(part, step)?;
        let channels = (from, e.min(e.add(from, Ix::Const(step))?, channels)?);
        let all = ceil_div(spec.count(), spec.tiles);
        let first = e.mul(index, spec.blocks)?;
        let last = e.min(e.add(first, Ix::Const(spec.blocks))?, all)?;
        e.repeat((first, last, 1), vec![], |e, block, _| {
            self.block(e, block, channels, memory)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    fn block(
        &self,
        e: &Emitter<'c>,
        block: Ix<'c>,
        channels: (Ix<'c>, Ix<'c>),
        memory: Ix<'c>,
    ) -> Result<()> {
        let spec = self.spec;
        let first = e.mul(block, spec.tiles)?;
        // The last block may have fewer tiles: the last one fills it, and is written once.
        let count = spec.count();
        let short = e.add(e.mul(first, -1)?, Ix::Const(count))?;
        let used =
            if count % spec.tiles == 0 { Ix::Const(spec.tiles) } else { e.min(short, spec.tiles)? };
        e.repeat((Ix::Const(0), Ix::Const(spec.tiles), 1), vec![], |e, index, _| {
            let tile = e.min(e.add(first, index)?, count - 1)?;
            let to = e.add(e.mul(index, spec.product.x.col)?, memory)?;
            self.input(e, &self.tile(e, tile)?, to)?;
            Ok(vec![])
        })?;
        let zero = Ix::Const(0);
        let place = Place {
            batch: zero,
            group: zero,
            channel: zero,
            within: zero,
            plane: zero,
            row: memory,
            col: zero,
        };
        e.repeat((zero, Ix::Const(spec.conv.groups), 1), vec![], |e, group, _| {
            self.products.channel_blocks(e, channels, |e, tiles, within| {
                let planes = (zero, Ix::Const(spec.product.planes), 1);
                e.repeat(planes, vec![], |e, plane, _| {
                    let (_, all) = spec.blocking.counts();
                    let place = Place { batch: group, plane, within, ..place };
                    self.products.strip(e, tiles, (zero, Ix::Const(all)), place)?;
                    Ok(vec![])
                })?;
                let channel = e.add(e.mul(group, spec.conv.channels)?, within)?;
                e.repeat((zero, used, 1), vec![], |e, index, _| {
                    let tile = self.tile(e, e.add(first, index)?)?;
                    let view = &spec.product.y;
                    let from = e.sum(view.offset, &[(index, view.col), (memory, 1)])?;
                    self.output(e, &tile, (tiles, channel), from)?;
                    Ok(vec![])
                })?;
                Ok(())
            })?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The place of a tile.
    fn tile(&self, e: &Emitter<'c>, index: Ix<'c>) -> Result<Tile<'c>> {
        let grid = self.spec.grid();
        let (rest, col) = e.div_rem(index, grid[COL])?;
        let (rest, row) = e.div_rem(rest, grid[ROW])?;
        let (batch, plane) = e.div_rem(rest, grid[PLANE])?;
        let known = |count: i64, ix: Ix<'c>| if count == 1 { Ix::Const(0) } else { ix };
        let at = [known(grid[PLANE], plane), known(grid[ROW], row), known(grid[COL], col)];
        let first = [
            self.first(e, PLANE, at[PLANE])?,
            self.first(e, ROW, at[ROW])?,
            self.first(e, COL, at[COL])?,
        ];
        Ok(Tile { batch: known(self.spec.conv.batch, batch), first })
    }

    /// Points of a tile along each axis.
    fn points(&self) -> [usize; AXES] {
        [0, 1, 2].map(|axis| self.maps[axis].positions.len())
    }

    /// Where a point of a tile is along an axis, from the first one on.
    fn position(&self, axis: usize, point: usize) -> i64 {
        self.maps[axis].positions[point] * self.spec.conv.window.dilation[axis]
    }

    /// Positions from one result of a tile to the next along an axis.
    fn step(&self, axis: usize) -> i64 {
        if self.spec.results[axis] == 1 { 1 } else { self.spec.conv.window.dilation[axis] }
    }

    /// The first result of a tile along an axis.
    fn first(&self, e: &Emitter<'c>, axis: usize, tile: Ix<'c>) -> Result<Ix<'c>> {
        let step = self.step(axis);
        let (index, phase) = e.div_rem(tile, step)?;
        e.add(e.mul(index, step * self.spec.results[axis])?, phase)
    }

    /// Transforms the input of a tile; the first point of the result is written from `to` on.
    fn input(&self, e: &Emitter<'c>, tile: &Tile<'c>, to: Ix<'c>) -> Result<()> {
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
        let lanes = e.isa.lanes_of(self.element());
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
                let load =
                    |e: &Emitter<'c>| e.load(self.x, e.add(corner, Ix::Const(*offset))?, width);
                vectors.push(match condition {
                    None => load(e)?,
                    Some(condition) => {
                        let zero = e.splat(0.0, width.lanes, self.element())?;
                        let body =
                            |b: &Builder<'c>| Ok(vec![load(&Emitter { builder: *b, ..*e })?]);
                        when(&e.builder, *condition, &[zero], body)?[0]
                    }
                });
            }
            values.extend(self.maps[COL].input.emit(e, &vectors, self.element())?);
        }
        let values = separable(values, points.to_vec(), COL, |axis, line| {
            self.maps[axis].input.emit(e, line, self.element())
        })?;
        let to = e.add(to, channel)?;
        for (point, value) in values.into_iter().enumerate() {
            let at = e.add(to, Ix::Const(point as i64 * self.spec.product.x.plane))?;
            e.store(value, self.memory, at, width)?;
        }
        Ok(())
    }

    /// Makes the results of a tile from the products of some channels, which are read from `from` on.
    fn output(
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
                |axis, line| self.maps[axis].output.emit(e, line, self.element()),
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

    /// Goes through the results of a tile along an axis that lie in the output: the position of the first one, and what
    /// is kept from `from` on, with a step between them.
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
        let coordinates: [Coordinate<'c>; 5] = [
            (place.batch, |view| view.batch),
            (place.plane, |view| view.plane),
            (place.row, |view| view.row),
            (place.col, |view| view.col),
            (place.channel, |view| view.channel),
        ];
        let operands = self.spec.conv.operands.iter().zip(self.operands.iter().copied());
        store::finish(
            e,
            Results {
                place: &coordinates,
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
