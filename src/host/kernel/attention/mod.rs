//! The kernel of attention: a product, a softmax of its rows, and a product with the result.
//!
//! A block of rows goes through all of it before the next. Thus the scores of the block stay in
//! cache, and those of all rows are never in memory. Both products are contractions as elsewhere,
//! cut into the same tiles of rows. The first one writes to the task's part of the working memory,
//! the second reads from it.

mod softmax;

use super::{
    Buffer, Contraction, Emitter, Epilogue, Isa, Ix, View,
    choose::MIN_TASKS,
    contraction::{Buffers, Kernel, Place},
    emit::{argument_types, function},
    program::Program,
    start::StartBuffers,
    tiling::{Blocking, ceil_div},
    types::Element,
};
use crate::{
    Result,
    ir::{Builder, Val},
};
use softmax::Rows;

/// Bytes of scores of a block of rows: a part of the second level cache.
const BLOCK_BYTES: i64 = 160 << 10;
/// Rows of a block from which on nothing is gained by more.
const BLOCK_ROWS: i64 = 64;
/// Elements of a line of the cache.
const LINE: i64 = 16;

/// Attention with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    /// The product whose rows softmax takes; its output is the working memory.
    pub scores: Contraction,
    /// Operands of what is done to the results of softmax.
    pub operands: Vec<View>,
    /// The product of those and the values.
    pub values: Contraction,
}

/// Elementwise programs of attention, one for each value that they apply to.
pub struct Programs<'p, 'c> {
    /// Applied to the scores.
    pub scores: &'p Program<'c>,
    /// Applied to the results of softmax.
    pub weights: &'p Program<'c>,
    /// Applied to the results.
    pub values: &'p Program<'c>,
}

impl Programs<'_, '_> {
    /// A text that is the same for programs that compute the same way.
    pub fn key(&self) -> String {
        [self.scores, self.weights, self.values].map(|program| program.key() + "/").concat()
    }
}

/// Tiling of attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionBlocking {
    scores: Blocking,
    values: Blocking,
    /// Tiles of rows of a block.
    tiles: i64,
    /// Blocks of a matrix.
    parts: i64,
    /// Blocks of a task.
    blocks: i64,
    /// Tasks.
    tasks: i64,
    /// Rows of a block, at most.
    rows: i64,
}

impl AttentionBlocking {
    /// Number of tasks of the kernel.
    pub fn tasks(&self) -> i64 {
        self.tasks
    }
}

/// Multiplies with the inverse sum of the row, the last operand, before anything else.
struct Normalized<'p, 'c>(&'p Program<'c>);

impl<'c> Epilogue<'c> for Normalized<'_, 'c> {
    fn emit(&self, e: &Emitter<'c>, sum: Val<'c>, operands: &[Val<'c>]) -> Result<Val<'c>> {
        let Some((inverse, operands)) = operands.split_last() else { return Ok(sum) };
        self.0.emit(e, e.float("arith.mulf", sum, *inverse)?, operands)
    }

    fn is_large(&self) -> bool {
        self.0.is_large()
    }
}

/// Elements from one row of the working memory to the next, with a line for what is kept of a row.
/// The number of lines is odd, so that neighbouring rows are in different sets of the cache.
pub fn row_step(columns: i64) -> i64 {
    let lines = ceil_div(columns, LINE) + 1;
    (lines + (lines + 1) % 2) * LINE
}

impl Attention {
    /// Matrices of scores.
    fn matrices(&self) -> i64 {
        self.scores.batch * self.scores.planes
    }

    fn step(&self) -> i64 {
        row_step(self.scores.channels)
    }

    /// View of the inverse sums of rows in the working memory: the last element of each row.
    fn inverse_sums(&self) -> View {
        let step = self.step();
        View { offset: step - 1, row: 1, col: step, ..View::default() }
    }

    /// Multiplications and additions of both products.
    pub fn flops(&self) -> i64 {
        self.scores.flops() + self.values.flops()
    }

    /// The shape of the working memory: rows of each task.
    pub fn memory(&self, blocking: &AttentionBlocking) -> Buffer {
        let shape = vec![blocking.tasks, blocking.rows, self.step()];
        Buffer { shape, element: Element::F32 }
    }

    /// Chooses register tiles, blocks and tasks.
    pub fn blocking(&self, isa: Isa) -> AttentionBlocking {
        let tilings = (1..isa.registers - 2).filter_map(|points| {
            self.scores.tiling_of(isa, points).zip(self.values.tiling_of(isa, points))
        });
        let best = tilings.reduce(|best, other| {
            if other.0.cost + other.1.cost < best.0.cost + best.1.cost { other } else { best }
        });
        let (scores, values) = best.unwrap_or_default();
        let size = scores.cols.iter().map(|tiles| tiles.size).max().unwrap_or(1);
        let scores = self.scores.with_tasks(scores.cols, scores.channels, isa);
        let values = self.values.with_tasks(values.cols, values.channels, isa);
        let (_, all) = scores.counts();
        let rows = (BLOCK_BYTES / (4 * self.step())).min(BLOCK_ROWS);
        let wanted = ceil_div(MIN_TASKS, self.matrices());
        let parts = ceil_div(all, (rows / size).max(1)).max(wanted.min(all));
        let tiles = ceil_div(all, parts);
        let parts = ceil_div(all, tiles);
        let blocks = ceil_div(parts * self.matrices(), 2 * MIN_TASKS);
        let tasks = ceil_div(parts * self.matrices(), blocks);
        AttentionBlocking { scores, values, tiles, parts, blocks, tasks, rows: tiles * size }
    }

    /// Emits the kernel as function `name(q, k, operands of scores.., operands of weights.., v,
    /// operands of results.., y, memory, lo, hi)`, whose buffers are `buffers`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &AttentionBlocking,
        programs: &Programs<'_, 'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, memory, bounds) = e.buffers(arguments, buffers.len())?;
            let y = flat.pop().unwrap_or(memory);
            let rest = flat.split_off(2 + self.scores.operands.len());
            let (between, rest) = rest.split_at(self.operands.len());
            let normalizes = !programs.weights.steps.is_empty();
            let mut values = self.values.clone();
            let mut operands = rest[1..].to_vec();
            let normalized = Normalized(programs.values);
            if !normalizes {
                values.operands.push(self.inverse_sums());
                operands.push(memory);
            }
            let block = Block {
                spec: self,
                blocking,
                scores: Kernel {
                    spec: &self.scores,
                    grouping: self.scores.grouping(isa),
                    blocking: &blocking.scores,
                    buffers: product_buffers(flat[0], flat[1], &flat[2..], memory),
                    epilogue: programs.scores,
                },
                rows: Rows {
                    count: self.scores.channels,
                    step: self.step(),
                    memory,
                    operands: self.operands.iter().zip(between.iter().copied()).collect(),
                    program: normalizes.then_some(programs.weights),
                },
                values: Kernel {
                    spec: &values,
                    grouping: values.grouping(isa),
                    blocking: &blocking.values,
                    buffers: product_buffers(memory, rest[0], &operands, y),
                    epilogue: if normalizes { programs.values } else { &normalized },
                },
            };
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                block.task(e, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

/// The buffers of a product whose sums start from 0.
fn product_buffers<'c>(x: Val<'c>, w: Val<'c>, operands: &[Val<'c>], y: Val<'c>) -> Buffers<'c> {
    let (start, operands) = (StartBuffers::of(&[]), operands.to_vec());
    Buffers { x, w, scales: None, start, operands, y }
}

struct Block<'k, 'c> {
    spec: &'k Attention,
    blocking: &'k AttentionBlocking,
    scores: Kernel<'k, 'c>,
    rows: Rows<'k, 'c>,
    values: Kernel<'k, 'c>,
}

impl<'c> Block<'_, 'c> {
    fn task(&self, e: &Emitter<'c>, task: Ix<'c>) -> Result<()> {
        let AttentionBlocking { blocks, parts, .. } = *self.blocking;
        let memory = e.mul(task, self.blocking.rows * self.spec.step())?;
        let first = e.mul(task, blocks)?;
        let last = e.min(e.add(first, Ix::Const(blocks))?, parts * self.spec.matrices())?;
        if blocks == 1 {
            return self.block(e, first, memory);
        }
        e.repeat((first, last, 1), vec![], |e, block, _| {
            self.block(e, block, memory)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The first row of a tile.
    fn row_of(&self, e: &Emitter<'c>, tile: Ix<'c>) -> Result<Ix<'c>> {
        match &self.blocking.scores.cols[..] {
            // Tiles after the first `count` have one row less.
            [large, small] => {
                let short = e.add(e.mul(tile, small.size)?, Ix::Const(large.count))?;
                e.smaller(e.mul(tile, large.size)?, short)
            }
            [tiles] => e.mul(tile, tiles.size),
            _ => Ok(Ix::Const(0)),
        }
    }

    /// A block of rows, whose scores are written from `memory` on.
    fn block(&self, e: &Emitter<'c>, block: Ix<'c>, memory: Ix<'c>) -> Result<()> {
        let AttentionBlocking { tiles, parts, .. } = *self.blocking;
        let (_, all) = self.blocking.scores.counts();
        let (matrix, part) = e.div_rem(block, parts)?;
        let (batch, plane) = e.div_rem(matrix, self.spec.scores.planes)?;
        let from = e.mul(part, tiles)?;
        let to = e.min(e.add(from, Ix::Const(tiles))?, all)?;
        let (first, last) = (self.row_of(e, from)?, self.row_of(e, to)?);
        // What has a step of 1 along `row` is in the working memory.
        let row = e.add(memory, e.mul(first, -self.spec.step())?)?;
        let zero = Ix::Const(0);
        let place =
            Place { batch, plane, row, group: zero, channel: zero, within: zero, col: zero };
        let product = |kernel: &Kernel<'_, 'c>| {
            let (channels, _) = kernel.blocking.counts();
            kernel.channel_blocks(e, (zero, Ix::Const(channels)), |e, widths, channel| {
                let place = Place { channel, within: channel, ..place };
                kernel.strip(e, widths, (from, to), place)
            })
        };
        product(&self.scores)?;
        self.rows.emit(e, (first, last), place)?;
        product(&self.values)
    }
}
