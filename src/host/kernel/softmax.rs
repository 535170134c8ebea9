//! The kernel of softmax along rows or columns, and of its logarithm.
//!
//! A row that fits in registers is read once and written once. Of a longer one the exponentials wait in the output, or in
//! memory of the kernel where the output is of another type. Columns are done as many at a time as a vector has lanes.

use super::{
    Buffer, Element, Emitter, Epilogue, Found, HostKernel, Isa, Ix, Kind, Types, View,
    emit::{argument_types, function},
    lanes::{add, fold, greater, reduce, vectors},
    program::Program,
    recognize::{Scope, f32_dims},
    tiling::{Width, ceil_div},
};
use crate::{
    Result, approximate,
    ir::{self, Builder, Op, Val, graph, view::OpView},
    lower::normalize_axis,
};
use melior::ir::ValueLike;

/// Softmax along one of the last two dimensions of f32, and its logarithm.
pub const KIND: Kind = Kind {
    anchor: |op| of_matrix(op).map(|_| "softmax"),
    images: false,
    recognize,
};

/// The operand of a softmax, or of its logarithm, that has a kernel, and whether it is along the last dimension; else it
/// is along the one before.
fn of_matrix(op: Op<'_>) -> Option<(Val<'_>, bool)> {
    let (x, axis) = match (graph::Softmax::of(op), graph::LogSoftmax::of(op)) {
        (Some(op), _) => (op.x(), op.axis()),
        (_, Some(op)) => (op.x(), op.axis()),
        _ => return None,
    };
    let dims = f32_dims(x)?;
    let [.., rows, columns] = dims[..] else { return None };
    let (is_last, fits) = match dims.len() - normalize_axis(axis, dims.len()) {
        1 => (true, Softmax::fits(columns, None, Element::F32)),
        2 => (false, Softmax::fits(rows, Some(columns), Element::F32)),
        _ => return None,
    };
    (fits && !dims.contains(&0)).then_some((x, is_last))
}

fn recognize<'c>(scope: &Scope<'_, 'c>, op: Op<'c>) -> Option<Found> {
    let (x, is_last) = of_matrix(op)?;
    let [lead @ .., rows, columns] = scope.out else { return None };
    let y = Element::of(ir::result0(scope.composite).ok()?.r#type())?;
    let (rows, count, columns) =
        if is_last { (*rows, *columns, None) } else { (1, *rows, Some(*columns)) };
    let batch = lead.iter().product();
    let log = graph::LogSoftmax::is(op);
    let spec = Softmax { batch, rows, count, columns, log, operands: vec![] };
    let x = scope.operand(x)?;
    Softmax::fits(count, columns, y).then(|| Found { kernel: Box::new(spec), x })
}

/// Elements of a task, about.
const TASK: i64 = 4 << 10;
/// Tasks, at most.
const MOST_TASKS: i64 = 64;
/// Shorter rows, and rows of less columns, are left to loops, whose vectors lie across them.
const LEAST: i64 = 9;
/// Elements of memory that a kernel may have of its own.
const SCRATCH: i64 = 8 << 10;

/// A softmax with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// Matrices.
    pub batch: i64,
    /// Rows of a matrix.
    pub rows: i64,
    /// Elements of a row, or of a column.
    pub count: i64,
    /// Columns of a matrix, if softmax is along those.
    pub columns: Option<i64>,
    /// True for the logarithm of softmax.
    pub log: bool,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

/// The buffers of a kernel.
struct Row<'k, 'c> {
    spec: &'k Softmax,
    x: Val<'c>,
    y: Val<'c>,
    /// Buffer of the exponentials until their sum is known, and true if that is the output.
    memory: (Val<'c>, bool),
    operands: Vec<(&'k View, Val<'c>)>,
    program: &'k Program<'c>,
}

/// A row of a kernel: its first element, and its matrix and place in that.
#[derive(Clone, Copy)]
struct At<'c> {
    first: Ix<'c>,
    batch: Ix<'c>,
    row: Ix<'c>,
}

impl HostKernel for Softmax {
    fn types(&self) -> Types {
        Types::F32
    }

    fn operands(&mut self) -> &mut Vec<View> {
        &mut self.operands
    }

    /// Exponentials wait in an output of f32, else in memory of the kernel.
    fn stores_any(&self) -> bool {
        false
    }

    fn key(&self, isa: Isa) -> String {
        format!("Softmax({self:?}, {})", self.tasks(isa))
    }

    /// Elements.
    fn flops(&self) -> i64 {
        self.batch * self.rows * self.count * self.columns.unwrap_or(1)
    }

    fn rate(&self, isa: Isa) -> f64 {
        0.1 * isa.lanes as f64
    }

    fn tasks(&self, isa: Isa) -> i64 {
        ceil_div(self.units(isa).iter().sum(), self.step(isa))
    }

    fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        program: &Program<'c>,
    ) -> Result<()> {
        let own = buffers.last().is_some_and(|y| y.element != Element::F32);
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (flat, y, bounds) = e.buffers(arguments, buffers.len())?;
            let lanes = self.columns.map_or(1, |_| isa.lanes);
            let waits = lanes > 1 || self.count > isa.lanes * self.in_registers(isa);
            let memory = match own && waits {
                true => (e.scratch(self.count * lanes, Element::F32)?, false),
                false => (y, true),
            };
            let operands = self.operands.iter().zip(flat[1..].iter().copied()).collect();
            let row = Row { spec: self, x: flat[0], y, memory, operands, program };
            let [whole, partial] = self.units(isa);
            let lo = e.mul(Ix::Value(bounds[0]), self.step(isa))?;
            let hi = e.min(e.mul(Ix::Value(bounds[1]), self.step(isa))?, whole + partial)?;
            e.repeat((lo, e.min(hi, whole)?, 1), vec![], |e, unit, _| {
                row.unit(e, unit)?;
                Ok(vec![])
            })?;
            let from = e.add(e.max(lo, whole)?, Ix::Const(-whole))?;
            let to = e.add(e.max(hi, whole)?, Ix::Const(-whole))?;
            let columns = self.columns.unwrap_or(0);
            let used = columns % isa.lanes;
            if used > 0 {
                e.repeat((from, to, 1), vec![], |e, batch, _| {
                    let width = Width { lanes: isa.lanes, used };
                    row.columns(e, batch, Ix::Const(columns - used), width)?;
                    Ok(vec![])
                })?;
            }
            Ok(())
        })
    }
}

impl Softmax {
    /// Rows, or vectors of columns: those that are full, and then those that are not.
    fn units(&self, isa: Isa) -> [i64; 2] {
        match self.columns {
            None => [self.batch * self.rows, 0],
            Some(columns) => {
                let part = i64::from(columns % isa.lanes != 0);
                [self.batch * (columns / isa.lanes), self.batch * part]
            }
        }
    }

    /// Units of a task.
    fn step(&self, isa: Isa) -> i64 {
        let tasks = (self.flops() / TASK).clamp(1, MOST_TASKS);
        ceil_div(self.units(isa).iter().sum(), tasks)
    }

    /// True if there is a kernel for rows of this length whose results are of this type, or columns.
    pub fn fits(count: i64, columns: Option<i64>, y: Element) -> bool {
        let memory = count * columns.map_or(1, |_| Isa::WIDEST.lanes);
        columns.unwrap_or(count) >= LEAST && (y == Element::F32 || memory <= SCRATCH)
    }

    /// Vectors of a row that stay in registers, at most.
    fn in_registers(&self, isa: Isa) -> i64 {
        isa.registers / 2
    }
}

impl<'c> Row<'_, 'c> {
    /// A row, or a full vector of columns.
    fn unit(&self, e: &Emitter<'c>, unit: Ix<'c>) -> Result<()> {
        let lanes = e.isa.lanes;
        if let Some(columns) = self.spec.columns {
            let (batch, vector) = e.div_rem(unit, columns / lanes)?;
            return self.columns(e, batch, e.mul(vector, lanes)?, Width::full(lanes));
        }
        let first = e.mul(unit, self.spec.count)?;
        let (batch, row) = e.div_rem(unit, self.spec.rows)?;
        let at = At { first, batch, row };
        if ceil_div(self.spec.count, lanes) <= self.spec.in_registers(e.isa) {
            self.short(e, at)
        } else {
            self.long(e, at)
        }
    }

    /// The elements of a vector; those behind the row are less than all.
    fn load(&self, e: &Emitter<'c>, at: At<'c>, from: Ix<'c>, width: Width) -> Result<Val<'c>> {
        e.load_or(self.x, e.add(at.first, from)?, width, f64::NEG_INFINITY)
    }

    /// Second operand of all results of a row, besides exponentials or elements: the inverse of
    /// their sum, or its logarithm.
    fn rest(&self, e: &Emitter<'c>, sum: Val<'c>) -> Result<Val<'c>> {
        let b = e.builder;
        let rest = match self.spec.log {
            true => b.unary("math.log", sum)?,
            false => b.binary("arith.divf", b.constant(b.f32(), 1.0)?, sum)?,
        };
        e.broadcast(rest, e.isa.lanes)
    }

    fn short(&self, e: &Emitter<'c>, at: At<'c>) -> Result<()> {
        let b = e.builder;
        let all: Vec<_> = vectors(e.isa.lanes, 0, self.spec.count).collect();
        let values = all.iter().map(|(from, width)| self.load(e, at, Ix::Const(*from), *width));
        let values = values.collect::<Result<Vec<_>>>()?;
        let most = e.broadcast(reduce(e, values.clone(), greater)?, e.isa.lanes)?;
        let below = values.iter().map(|value| b.binary("arith.subf", *value, most));
        let below = below.collect::<Result<Vec<_>>>()?;
        let powers = below.iter().map(|value| approximate::exp_of_most_zero(&b, *value));
        let powers = powers.collect::<Result<Vec<_>>>()?;
        let rest = self.rest(e, reduce(e, powers.clone(), add)?)?;
        let results = if self.spec.log { below } else { powers };
        for ((from, width), value) in all.into_iter().zip(results) {
            self.store(e, at, (Ix::Const(from), width), (value, rest))?;
        }
        Ok(())
    }

    fn long(&self, e: &Emitter<'c>, at: At<'c>) -> Result<()> {
        let count = self.spec.count;
        let least = e.splat(f64::NEG_INFINITY, e.isa.lanes, Element::F32)?;
        let most = fold(e, count, Some(least), |e, (from, width, _), most| {
            let value = self.load(e, at, from, width)?;
            most.map(|most| greater(e, value, most)).transpose()
        })?;
        let most = e.broadcast(reduce(e, most, greater)?, e.isa.lanes)?;
        let zero = e.splat(0.0, e.isa.lanes, Element::F32)?;
        let sums = fold(e, count, Some(zero), |e, (from, width, _), sum| {
            let value = self.load(e, at, from, width)?;
            let b = e.builder;
            let power = approximate::exp_of_most_zero(&b, b.binary("arith.subf", value, most)?)?;
            if !self.spec.log {
                e.store(power, self.memory.0, self.waits(e, at, from)?, width)?;
            }
            sum.map(|sum| add(e, sum, power)).transpose()
        })?;
        let rest = self.rest(e, reduce(e, sums, add)?)?;
        fold(e, count, None, |e, (from, width, _), _| {
            let value = match self.spec.log {
                true => e.float("arith.subf", self.load(e, at, from, width)?, most)?,
                false => e.load(self.memory.0, self.waits(e, at, from)?, width)?,
            };
            self.store(e, at, (from, width), (value, rest))?;
            Ok(None)
        })?;
        Ok(())
    }

    /// Columns of a matrix from one on.
    fn columns(&self, e: &Emitter<'c>, batch: Ix<'c>, column: Ix<'c>, width: Width) -> Result<()> {
        let count = self.spec.count;
        let step = self.spec.columns.unwrap_or(1);
        let at = |e: &Emitter<'c>, row: Ix<'c>| {
            Ok::<_, crate::Error>(At {
                first: e.sum(0, &[(batch, count * step), (row, step)])?,
                batch,
                row,
            })
        };
        let rows = (Ix::Const(0), Ix::Const(count), 1);
        let least = e.splat(f64::NEG_INFINITY, width.lanes, Element::F32)?;
        let most = e.repeat(rows, vec![least], |e, row, most| {
            let value = self.load(e, at(e, row)?, column, width)?;
            Ok(vec![greater(e, value, most[0])?])
        })?[0];
        let zero = e.splat(0.0, width.lanes, Element::F32)?;
        let sum = e.repeat(rows, vec![zero], |e, row, sum| {
            let b = e.builder;
            let value = self.load(e, at(e, row)?, column, width)?;
            let power = approximate::exp_of_most_zero(&b, b.binary("arith.subf", value, most)?)?;
            if !self.spec.log {
                e.store(power, self.memory.0, self.column(e, at(e, row)?, column)?, width)?;
            }
            Ok(vec![add(e, sum[0], power)?])
        })?[0];
        let b = e.builder;
        let rest = match self.spec.log {
            true => b.unary("math.log", sum)?,
            false => b.binary("arith.divf", e.splat(1.0, width.lanes, Element::F32)?, sum)?,
        };
        e.repeat(rows, vec![], |e, row, _| {
            let at = at(e, row)?;
            let value = match self.spec.log {
                true => e.float("arith.subf", self.load(e, at, column, width)?, most)?,
                false => e.load(self.memory.0, self.column(e, at, column)?, width)?,
            };
            self.store(e, at, (column, width), (value, rest))?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Position of the stored exponentials of a row of columns.
    fn column(&self, e: &Emitter<'c>, at: At<'c>, column: Ix<'c>) -> Result<Ix<'c>> {
        if self.memory.1 { e.add(at.first, column) } else { e.mul(at.row, e.isa.lanes) }
    }

    /// Position of the stored exponentials from one on.
    fn waits(&self, e: &Emitter<'c>, at: At<'c>, from: Ix<'c>) -> Result<Ix<'c>> {
        if self.memory.1 { e.add(at.first, from) } else { Ok(from) }
    }

    /// Writes results, after what follows the softmax.
    fn store(
        &self,
        e: &Emitter<'c>,
        at: At<'c>,
        (from, width): (Ix<'c>, Width),
        (value, rest): (Val<'c>, Val<'c>),
    ) -> Result<()> {
        let value = match self.spec.log {
            true => e.float("arith.subf", value, rest)?,
            false => e.float("arith.mulf", value, rest)?,
        };
        let mut operands = vec![];
        for (view, buffer) in &self.operands {
            if view.table {
                operands.push(*buffer);
                continue;
            }
            let steps = [(at.batch, view.batch), (at.row, view.col), (from, view.channel)];
            operands.push(view.load(e, *buffer, e.sum(view.offset, &steps)?, width)?);
        }
        let value = self.program.emit(e, value, &operands)?;
        e.store(value, self.y, e.add(at.first, from)?, width)
    }
}
