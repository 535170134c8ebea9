//! Emission of loops, addresses and vectors: what all kernels are written with.

mod indices;
mod vectors;

use super::{
    Isa,
    types::{Buffer, Element},
};
use crate::{
    Result,
    ir::{Blk, Builder, Op, OpSpec, Val, dims, edit, element_type, outline::NewFunction},
};
use melior::ir::{Location, Region, Type, ValueLike, block::BlockLike, r#type::MemRefType};

/// An index that is a constant, or an SSA value. Arithmetic on constants leaves no trace in the
/// kernel.
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
    /// Builder of the emitted operations.
    pub builder: Builder<'c>,
    /// Instruction set that the code is for.
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
        let iv = Ix::Value(block.argument(0).map_err(crate::ir::unexpected)?.into());
        let inside = (1..arguments.len())
            .map(|i| block.argument(i).map(Into::into))
            .collect::<Result<Vec<Val<'c>>, _>>()
            .map_err(crate::ir::unexpected)?;
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

    /// The arguments of a kernel with so many buffers: flattened inputs, the output, which is the
    /// last buffer, and the tasks.
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
    let fill = |b: &Builder<'c>, values: &[Val<'c>]| -> Result<Vec<Val<'c>>> {
        body(&Emitter { builder: *b, isa }, values).map(|()| vec![])
    };
    NewFunction::private(name).arguments(arguments.iter().copied()).define(&at, fill)?;
    Ok(())
}

/// A run of equal blocks.
pub struct Run {
    /// Number of blocks.
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
