//! Emission of loops, addresses and vectors: what all kernels are written with.

use super::{
    Isa,
    tiling::Width,
    types::{Buffer, Element},
};
use crate::{
    Result,
    ir::{Blk, Builder, Op, OpSpec, Val, dims, edit, element_type},
};
use melior::ir::{
    Attribute, Location, Region, Type, ValueLike,
    attribute::TypeAttribute,
    block::BlockLike,
    r#type::{FunctionType, MemRefType},
};

/// An index that is known now or when the kernel runs. Arithmetic on known ones leaves no trace
/// in the kernel.
#[derive(Clone, Copy, Debug)]
pub enum Ix<'c> {
    /// Known.
    Const(i64),
    /// An SSA value of type `index`.
    Value(Val<'c>),
}

/// Emits into one block.
#[derive(Clone, Copy)]
pub struct Emitter<'c> {
    /// Where operations go.
    pub builder: Builder<'c>,
    /// What the code is for.
    pub isa: Isa,
}

impl<'c> Emitter<'c> {
    /// The SSA value of an index.
    pub fn value(&self, ix: Ix<'c>) -> Result<Val<'c>> {
        match ix {
            Ix::Const(value) => self.builder.index(value),
            Ix::Value(value) => Ok(value),
        }
    }

    fn fold(
        &self,
        name: &str,
        (a, b): (Ix<'c>, Ix<'c>),
        known: fn(i64, i64) -> i64,
    ) -> Result<Ix<'c>> {
        if let (Ix::Const(a), Ix::Const(b)) = (a, b) {
            return Ok(Ix::Const(known(a, b)));
        }
        Ok(Ix::Value(self.builder.binary(name, self.value(a)?, self.value(b)?)?))
    }

    /// `a + b`.
    pub fn add(&self, a: Ix<'c>, b: Ix<'c>) -> Result<Ix<'c>> {
        match (a, b) {
            (Ix::Const(0), other) | (other, Ix::Const(0)) => Ok(other),
            both => self.fold("arith.addi", both, |a, b| a + b),
        }
    }

    /// `a * factor`.
    pub fn mul(&self, a: Ix<'c>, factor: i64) -> Result<Ix<'c>> {
        match factor {
            0 => Ok(Ix::Const(0)),
            1 => Ok(a),
            _ => self.fold("arith.muli", (a, Ix::Const(factor)), |a, b| a * b),
        }
    }

    /// `offset` plus each index times its step.
    pub fn sum(&self, offset: i64, steps: &[(Ix<'c>, i64)]) -> Result<Ix<'c>> {
        steps.iter().try_fold(Ix::Const(offset), |sum, (index, step)| {
            self.add(self.mul(*index, *step)?, sum)
        })
    }

    /// The quotient and remainder of a non-negative `a` by a constant.
    pub fn div_rem(&self, a: Ix<'c>, by: i64) -> Result<(Ix<'c>, Ix<'c>)> {
        if by == 1 {
            return Ok((a, Ix::Const(0)));
        }
        let by = Ix::Const(by);
        let quotient = self.fold("arith.divui", (a, by), |a, b| a / b)?;
        Ok((quotient, self.fold("arith.remui", (a, by), |a, b| a % b)?))
    }

    /// The smaller of `a` and a constant.
    pub fn min(&self, a: Ix<'c>, b: i64) -> Result<Ix<'c>> {
        self.fold("arith.minsi", (a, Ix::Const(b)), i64::min)
    }

    /// The smaller of two.
    pub fn smaller(&self, a: Ix<'c>, b: Ix<'c>) -> Result<Ix<'c>> {
        self.fold("arith.minsi", (a, b), i64::min)
    }

    /// The greater of `a` and a constant.
    pub fn max(&self, a: Ix<'c>, b: i64) -> Result<Ix<'c>> {
        self.fold("arith.maxsi", (a, Ix::Const(b)), i64::max)
    }

    /// `a / by` rounded up, for a positive constant.
    pub fn fold_ceil_div(&self, a: Ix<'c>, by: i64) -> Result<Ix<'c>> {
        if by == 1 {
            return Ok(a);
        }
        let known = |a: i64, b: i64| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0);
        self.fold("arith.ceildivsi", (a, Ix::Const(by)), known)
    }

    /// `for iv in lo..hi step by`, with values carried from one iteration to the next. A loop that
    /// is known to run not at all or once is not emitted as a loop.
    pub fn repeat(
        &self,
        (lo, hi, by): (Ix<'c>, Ix<'c>, i64),
        carried: Vec<Val<'c>>,
        body: impl FnOnce(&Self, Ix<'c>, Vec<Val<'c>>) -> Result<Vec<Val<'c>>>,
    ) -> Result<Vec<Val<'c>>> {
        if let (Ix::Const(lo), Ix::Const(hi)) = (lo, hi) {
            if lo >= hi {
                return Ok(carried);
            }
            if hi - lo <= by {
                return body(self, Ix::Const(lo), carried);
            }
        }
        let at = self.builder.location;
        let types: Vec<Type<'c>> = carried.iter().map(|value| value.r#type()).collect();
        let arguments: Vec<(Type<'c>, Location<'c>)> = std::iter::once(self.builder.index_type())
            .chain(types.iter().copied())
            .map(|ty| (ty, at))
            .collect();
        let region = Region::new();
        let block = edit::append_block(&region, &arguments);
        let inner = self.at_end_of(block);
        let iv = Ix::Value(block.argument(0)?.into());
        let inside = (1..arguments.len())
            .map(|i| block.argument(i).map(Into::into))
            .collect::<Result<Vec<Val<'c>>, _>>()?;
        let yielded = body(&inner, iv, inside)?;
        inner.builder.create("scf.yield", OpSpec { operands: &yielded, ..Default::default() })?;
        let mut operands = vec![self.value(lo)?, self.value(hi)?, self.builder.index(by)?];
        operands.extend(carried);
        // Loops are written the way they are to run; LLVM would unroll short ones to many times
        // their size.
        let keep = self
            .builder
            .parse_attr("#llvm.loop_annotation<unroll = #llvm.loop_unroll<disable = true>>")?;
        let spec = OpSpec {
            operands: &operands,
            results: &types,
            attributes: vec![("loop_annotation", keep)],
            regions: vec![region],
            infer: false,
        };
        Ok(crate::ir::results(self.builder.create("scf.for", spec)?))
    }

    fn at_end_of(&self, block: Blk<'c>) -> Self {
        let Builder { context, location, .. } = self.builder;
        Self { builder: Builder::at_end(context, block, location), isa: self.isa }
    }

    /// The same elements as one row. Buffers of kernels are contiguous.
    pub fn flatten(&self, memref: Val<'c>) -> Result<Val<'c>> {
        let ty = memref.r#type();
        let shape = dims(ty);
        if shape.len() == 1 {
            return Ok(memref);
        }
        let count = shape.iter().product();
        let b = self.builder;
        let flat = memref_type(&[count], element_type(ty));
        let segments = b.parse_attr("array<i32: 1, 0, 0, 0>")?;
        let attributes = vec![
            ("static_offsets", b.i64s_attr(&[0])),
            ("static_sizes", b.i64s_attr(&[count])),
            ("static_strides", b.i64s_attr(&[1])),
            ("operandSegmentSizes", segments),
        ];
        b.op1_with("memref.reinterpret_cast", &[memref], flat, attributes)
    }

    /// The vector type of `lanes` lanes.
    pub fn vector(&self, lanes: i64, element: Type<'c>) -> Type<'c> {
        Type::vector(&[lanes as u64], element)
    }

    /// Consecutive elements from `at`; lanes that are not used are 0.
    pub fn load(&self, memref: Val<'c>, at: Ix<'c>, width: Width) -> Result<Val<'c>> {
        self.load_or(memref, at, width, 0.0)
    }

    /// Consecutive elements from `at`; lanes that are not used are `other`.
    pub fn load_or(
        &self,
        memref: Val<'c>,
        at: Ix<'c>,
        width: Width,
        other: f64,
    ) -> Result<Val<'c>> {
        let ty = self.vector(width.lanes, element_type(memref.r#type()));
        if width.used == width.lanes {
            return self.builder.op1("vector.load", &[memref, self.value(at)?], ty);
        }
        if width.used == 1 {
            let position = vec![("static_position", self.builder.i64s_attr(&[0]))];
            let operands = [self.load_scalar(memref, at)?, self.builder.constant(ty, other)?];
            return self.builder.op1_with("vector.insert", &operands, ty, position);
        }
        let (at, mask) = (self.value(at)?, self.mask(width)?);
        let operands = [memref, at, mask, self.builder.constant(ty, other)?];
        self.builder.op1("vector.maskedload", &operands, ty)
    }

    /// The mask of the lanes that are used.
    fn mask(&self, width: Width) -> Result<Val<'c>> {
        let ty = Type::vector(&[width.lanes as u64], self.builder.i1());
        let sizes = vec![("mask_dim_sizes", self.builder.i64s_attr(&[width.used]))];
        self.builder.op1_with("vector.constant_mask", &[], ty, sizes)
    }

    /// One element.
    pub fn load_scalar(&self, memref: Val<'c>, at: Ix<'c>) -> Result<Val<'c>> {
        let element = element_type(memref.r#type());
        self.builder.op1("memref.load", &[memref, self.value(at)?], element)
    }

    /// An integer or a vector of them as 32 bits.
    pub fn extend(&self, value: Val<'c>, signed: bool) -> Result<Val<'c>> {
        let b = self.builder;
        let to = b.like(value.r#type(), b.int(32));
        b.op1(if signed { "arith.extsi" } else { "arith.extui" }, &[value], to)
    }

    /// One element in all of `lanes` lanes.
    pub fn load_splat(&self, memref: Val<'c>, at: Ix<'c>, lanes: i64) -> Result<Val<'c>> {
        self.broadcast(self.load_scalar(memref, at)?, lanes)
    }

    /// A number in all of `lanes` lanes.
    pub fn broadcast(&self, scalar: Val<'c>, lanes: i64) -> Result<Val<'c>> {
        let ty = self.vector(lanes, scalar.r#type());
        self.builder.op1("vector.broadcast", &[scalar], ty)
    }

    /// Writes the used lanes of a vector to consecutive elements from `at`.
    pub fn store(&self, value: Val<'c>, memref: Val<'c>, at: Ix<'c>, width: Width) -> Result<()> {
        let at = self.value(at)?;
        if width.used == 1 && width.lanes > 1 {
            // LLVM 22 makes a masked store of a single truncated element (AVX-512) one of the
            // element as it was before, which is wider.
            let one = self.element(value)?;
            let spec = OpSpec { operands: &[one, memref, at], ..Default::default() };
            self.builder.create("memref.store", spec)?;
            return Ok(());
        }
        let partial = width.used < width.lanes;
        let (name, operands) = if partial {
            ("vector.maskedstore", vec![memref, at, self.mask(width)?, value])
        } else {
            ("vector.store", vec![value, memref, at])
        };
        self.builder.create(name, OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    }

    /// Asks for the line of the cache that holds an element.
    pub fn prefetch(&self, memref: Val<'c>, at: Ix<'c>, write: bool) -> Result<()> {
        let b = self.builder;
        let attributes = vec![
            ("isWrite", b.parse_attr(if write { "true" } else { "false" })?),
            ("localityHint", b.parse_attr("3 : i32")?),
            ("isDataCache", b.parse_attr("true")?),
        ];
        let operands = &[memref, self.value(at)?];
        b.create("memref.prefetch", OpSpec { operands, attributes, ..Default::default() })?;
        Ok(())
    }

    /// Memory of `count` elements for as long as the kernel runs.
    pub fn scratch(&self, count: i64, element: Element) -> Result<Val<'c>> {
        let b = self.builder;
        let attributes = vec![
            ("alignment", b.i64_attr(64)),
            ("operandSegmentSizes", b.parse_attr("array<i32: 0, 0>")?),
        ];
        b.op1_with("memref.alloca", &[], memref_type(&[count], element.r#type(&b)), attributes)
    }

    /// A vector of scalars.
    pub fn from_elements(&self, scalars: &[Val<'c>]) -> Result<Val<'c>> {
        let ty = self.vector(scalars.len() as i64, scalars[0].r#type());
        self.builder.op1("vector.from_elements", scalars, ty)
    }

    /// Some lanes of a vector.
    pub fn shuffle(&self, vector: Val<'c>, lanes: &[i64]) -> Result<Val<'c>> {
        let ty = self.vector(lanes.len() as i64, element_type(vector.r#type()));
        let mask = vec![("mask", self.builder.i64s_attr(lanes))];
        self.builder.op1_with("vector.shuffle", &[vector, vector], ty, mask)
    }

    /// The arguments of a kernel with so many buffers: these as they lie in memory, the last one apart,
    /// then the tasks.
    pub fn buffers<'v>(
        &self,
        arguments: &'v [Val<'c>],
        count: usize,
    ) -> Result<(Vec<Val<'c>>, Val<'c>, &'v [Val<'c>])> {
        let (memrefs, bounds) = arguments.split_at(count);
        let mut flat =
            memrefs.iter().map(|memref| self.flatten(*memref)).collect::<Result<Vec<_>>>()?;
        let last = flat.pop().ok_or_else(|| crate::Error::internal("a kernel without buffers"))?;
        Ok((flat, last, bounds))
    }

    /// A call of an intrinsic of LLVM.
    pub fn intrinsic(
        &self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
    ) -> Result<Op<'c>> {
        let b = self.builder;
        let attributes = vec![
            ("intrin", b.str_attr(name)),
            ("op_bundle_sizes", b.parse_attr("array<i32>")?),
            ("operandSegmentSizes", b.parse_attr(&format!("array<i32: {}, 0>", operands.len()))?),
        ];
        let spec = OpSpec { operands, results, attributes, ..Default::default() };
        b.create("llvm.call_intrinsic", spec)
    }

    /// The first element of a vector.
    pub fn element(&self, vector: Val<'c>) -> Result<Val<'c>> {
        let position = vec![("static_position", self.builder.i64s_attr(&[0]))];
        let element = element_type(vector.r#type());
        self.builder.op1_with("vector.extract", &[vector], element, position)
    }

    /// `lanes` lanes of a vector from one on.
    pub fn part(&self, vector: Val<'c>, from: i64, lanes: i64) -> Result<Val<'c>> {
        let b = self.builder;
        let list = |value| b.parse_attr(&format!("[{value} : i64]"));
        let attributes =
            vec![("offsets", list(from)?), ("sizes", list(lanes)?), ("strides", list(1)?)];
        let ty = self.vector(lanes, element_type(vector.r#type()));
        b.op1_with("vector.extract_strided_slice", &[vector], ty, attributes)
    }

    /// A vector with `value` in each lane.
    pub fn splat(&self, value: f64, lanes: i64, element: Element) -> Result<Val<'c>> {
        self.builder.constant(self.vector(lanes, element.r#type(&self.builder)), value)
    }

    /// A vector of as many lanes as `vector` with `value` in each.
    pub fn splat_like(&self, vector: Val<'c>, value: f64, element: Element) -> Result<Val<'c>> {
        let b = self.builder;
        b.constant(b.like(vector.r#type(), element.r#type(&b)), value)
    }

    /// `a * b + c`, fused where the machine can.
    pub fn fma(&self, a: Val<'c>, b: Val<'c>, c: Val<'c>) -> Result<Val<'c>> {
        if self.isa.fma {
            return self.builder.op1("vector.fma", &[a, b, c], c.r#type());
        }
        let product = self.float("arith.mulf", a, b)?;
        self.float("arith.addf", product, c)
    }

    /// A float operation that may be contracted with others.
    pub fn float(&self, name: &str, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let contract = self.builder.parse_attr("#arith.fastmath<contract>")?;
        self.builder.op1_with(name, &[a, b], a.r#type(), vec![("fastmath", contract)])
    }
}

/// A contiguous memref type.
pub fn memref_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    MemRefType::new(element, shape, None, None).into()
}

/// The types of a kernel's arguments: the buffers and the range of tasks.
pub fn argument_types<'c>(b: &Builder<'c>, buffers: &[Buffer]) -> Vec<Type<'c>> {
    let memref = |buffer: &Buffer| memref_type(&buffer.shape, buffer.element.r#type(b));
    buffers.iter().map(memref).chain([b.index_type(); 2]).collect()
}

/// Appends `func.func private @name(arguments)` to `module_body` and emits its body, which gets the
/// arguments; the function returns nothing.
pub fn function<'c>(
    at: Builder<'c>,
    isa: Isa,
    name: &str,
    arguments: &[Type<'c>],
    body: impl FnOnce(&Emitter<'c>, &[Val<'c>]) -> Result<()>,
) -> Result<()> {
    let with_locations: Vec<_> = arguments.iter().map(|ty| (*ty, at.location)).collect();
    let region = Region::new();
    let block = edit::append_block(&region, &with_locations);
    let values = (0..arguments.len())
        .map(|i| block.argument(i).map(Into::into))
        .collect::<Result<Vec<Val<'c>>, _>>()?;
    let inner = Builder::at_end(at.context, block, at.location);
    body(&Emitter { builder: inner, isa }, &values)?;
    inner.create("func.return", OpSpec::default())?;
    let ty = FunctionType::new(at.context, arguments, &[]);
    let attributes: Vec<(&str, Attribute<'c>)> = vec![
        ("sym_name", at.str_attr(name)),
        ("function_type", TypeAttribute::new(ty.into()).into()),
        ("sym_visibility", at.str_attr("private")),
    ];
    at.create("func.func", OpSpec { attributes, regions: vec![region], ..Default::default() })?;
    Ok(())
}

/// A run of equal blocks.
pub struct Run {
    /// How many.
    pub count: i64,
    /// Elements of each.
    pub size: i64,
    /// Blocks before them.
    pub blocks_before: i64,
    /// Elements before them.
    pub start: i64,
}

/// Loops over the blocks of `run` that are in `lo..hi`; `body` gets the first element of each.
pub fn repeat_run<'c>(
    e: &Emitter<'c>,
    run: &Run,
    (lo, hi): (Ix<'c>, Ix<'c>),
    body: impl FnOnce(&Emitter<'c>, Ix<'c>) -> Result<()>,
) -> Result<()> {
    let from = e.max(lo, run.blocks_before)?;
    let to = e.min(hi, run.blocks_before + run.count)?;
    e.repeat((from, to, 1), vec![], |e, block, _| {
        let element = if run.count == 1 {
            Ix::Const(run.start)
        } else {
            e.add(e.mul(block, run.size)?, Ix::Const(run.start - run.blocks_before * run.size))?
        };
        body(e, element)?;
        Ok(vec![])
    })?;
    Ok(())
}
