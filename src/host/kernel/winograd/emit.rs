//! The loops of Winograd's algorithm: tasks, blocks of tiles, and what is done to a tile.

use super::{Winograd, elements::packing, transform::Maps};
use crate::{
    Result,
    host::kernel::{
        Buffer, Element, Emitter, Epilogue, Isa, Ix, NoEpilogue,
        contraction::{Buffers, Kernel, Place},
        emit::{argument_types, function, memref_type},
        start::{Start, StartBuffers},
        tiling::{ChannelTiles, ceil_div},
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
            let operands = flat.split_off(2 + self.conv.start.map_or(0, Start::buffers));
            let start = StartBuffers::of(&flat[2..]);
            let [image, memory] = self.views(e, memory)?;
            let products = Buffers {
                x: image,
                w: flat[1],
                scales: None,
                start: StartBuffers::of(&[]),
                operands: vec![],
                y: memory,
            };
            let block = Block {
                spec: self,
                maps: self.maps()?,
                x: flat[0],
                image,
                memory,
                start,
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
                block.task(e, (task, lo), place)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }

    /// The working memory as it is for the transformed input, and for the products.
    fn views<'c>(&self, e: &Emitter<'c>, memory: Val<'c>) -> Result<[Val<'c>; 2]> {
        let types = self.product.types;
        if packing(types) == 1 {
            return Ok([memory; 2]);
        }
        let b = e.builder;
        let bytes = self.memory().bytes();
        let view = |element: Element| {
            let ty = memref_type(&[bytes / element.bytes()], element.r#type(&b));
            b.op1("memref.view", &[memory, b.index(0)?], ty)
        };
        Ok([view(types.image)?, view(types.sum)?])
    }
}

/// A tile: its image, and its first result along each axis.
pub(super) struct Tile<'c> {
    pub batch: Ix<'c>,
    pub first: [Ix<'c>; AXES],
}

pub(super) struct Block<'k, 'c> {
    pub spec: &'k Winograd,
    pub maps: [Maps; AXES],
    pub x: Val<'c>,
    /// The working memory of the transformed input.
    pub image: Val<'c>,
    /// The working memory of the products.
    pub memory: Val<'c>,
    pub start: StartBuffers<'c>,
    products: Kernel<'k, 'c>,
    pub operands: Vec<Val<'c>>,
    pub y: Val<'c>,
    pub epilogue: &'k dyn Epilogue<'c>,
}

impl<'c> Block<'_, 'c> {
    /// Some blocks of tiles, and a part of the blocks of channels. The working memory begins at `memory`; `lo` is the
    /// first task of the call.
    fn task(&self, e: &Emitter<'c>, (task, lo): (Ix<'c>, Ix<'c>), memory: Ix<'c>) -> Result<()> {
        let spec = self.spec;
        let (index, part) = e.div_rem(task, spec.parts)?;
        // The parts of a block follow each other and find its input transformed.
        let fresh = match spec.parts > 1 && spec.blocks == 1 {
            true => {
                let [task, lo, part] = [task, lo, part].map(|ix| e.value(ix));
                let begins = e.builder.cmpi("eq", task?, lo?)?;
                let first = e.builder.cmpi("eq", part?, e.builder.index(0)?)?;
                Some(e.builder.binary("arith.ori", begins, first)?)
            }
            false => None,
        };
        let (channels, _) = spec.blocking.counts();
        let step = ceil_div(channels, spec.parts);
        let from = e.mul(part, step)?;
        let channels = (from, e.min(e.add(from, Ix::Const(step))?, channels)?);
        let all = ceil_div(spec.count(), spec.tiles);
        let first = e.mul(index, spec.blocks)?;
        let last = e.min(e.add(first, Ix::Const(spec.blocks))?, all)?;
        e.repeat((first, last, 1), vec![], |e, block, _| {
            self.block(e, (block, fresh), channels, memory)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    fn block(
        &self,
        e: &Emitter<'c>,
        (block, fresh): (Ix<'c>, Option<Val<'c>>),
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
        let inputs = |e: &Emitter<'c>| {
            e.repeat((Ix::Const(0), Ix::Const(spec.tiles), 1), vec![], |e, index, _| {
                let tile = e.min(e.add(first, index)?, count - 1)?;
                let x = &spec.product.x;
                let to = e.sum(0, &[(index, x.col), (memory, x.row)])?;
                self.input(e, &self.tile(e, tile)?, to)?;
                Ok(vec![])
            })
        };
        match fresh {
            None => inputs(e)?,
            Some(fresh) => {
                when(&e.builder, fresh, &[], |b| inputs(&Emitter { builder: *b, ..*e }))?
            }
        };
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
                self.outputs(e, (first, used), (tiles, channel), memory)
            })?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Transforms the products of some channels back and stores them: of `used` tiles from `first` on.
    fn outputs(
        &self,
        e: &Emitter<'c>,
        (first, used): (Ix<'c>, Ix<'c>),
        channels: (&ChannelTiles, Ix<'c>),
        memory: Ix<'c>,
    ) -> Result<()> {
        e.repeat((Ix::Const(0), used, 1), vec![], |e, index, _| {
            let tile = self.tile(e, e.add(first, index)?)?;
            let view = &self.spec.product.y;
            let from = e.sum(view.offset, &[(index, view.col), (memory, 1)])?;
            self.output(e, &tile, channels, from)?;
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
    pub fn points(&self) -> [usize; AXES] {
        [0, 1, 2].map(|axis| self.maps[axis].positions.len())
    }

    /// Position of a point of a tile along an axis, from the first one on.
    pub fn position(&self, axis: usize, point: usize) -> i64 {
        self.maps[axis].positions[point] * self.spec.conv.window.dilation[axis]
    }

    /// Positions from one result of a tile to the next along an axis.
    pub fn step(&self, axis: usize) -> i64 {
        if self.spec.results[axis] == 1 { 1 } else { self.spec.conv.window.dilation[axis] }
    }

    /// The first result of a tile along an axis.
    fn first(&self, e: &Emitter<'c>, axis: usize, tile: Ix<'c>) -> Result<Ix<'c>> {
        let step = self.step(axis);
        let (index, phase) = e.div_rem(tile, step)?;
        e.add(e.mul(index, step * self.spec.results[axis])?, phase)
    }
}
