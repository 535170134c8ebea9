//! Vectors: from memory and back, from scalars and lanes, and float operations on them.

use super::{Emitter, Ix};
use crate::{
    Result,
    host::kernel::{tiling::Width, types::Element},
    ir::{OpSpec, Val, element_type},
};
use melior::ir::{Type, ValueLike};

/// Bytes of a vector of AVX-512.
const BYTES: i64 = 64;
/// A lane of a shuffle that may be anything.
const NO_LANE: i64 = -1;
/// Takes bytes from two vectors, in the order of the lower seven bits of others.
const TWO_TABLES: &str = "llvm.x86.avx512.vpermi2var.qi.512";

impl<'c> Emitter<'c> {
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

    /// A vector of scalars.
    pub fn with_elements(&self, scalars: &[Val<'c>]) -> Result<Val<'c>> {
        let ty = self.vector(scalars.len() as i64, scalars[0].r#type());
        self.builder.op1("vector.from_elements", scalars, ty)
    }

    /// Some lanes of a vector.
    pub fn shuffle(&self, vector: Val<'c>, lanes: &[i64]) -> Result<Val<'c>> {
        let ty = self.vector(lanes.len() as i64, element_type(vector.r#type()));
        let mask = vec![("mask", self.builder.i64s_attr(lanes))];
        self.builder.op1_with("vector.shuffle", &[vector, vector], ty, mask)
    }

    /// Table lookup of up to 64 bytes in a table of 256 bytes: one in each half of the table. The
    /// uppermost bit of a byte selects the result.
    pub fn lookup(&self, bytes: Val<'c>, table: Val<'c>) -> Result<Val<'c>> {
        let b = self.builder;
        let ty = bytes.r#type();
        let count = crate::ir::dims(ty).first().copied().unwrap_or(1);
        let lanes: Vec<i64> = (0..BYTES).map(|at| if at < count { at } else { NO_LANE }).collect();
        let places = if count == BYTES { bytes } else { self.shuffle(bytes, &lanes)? };
        let half = |from: i64| {
            let quarter = |from| self.load(table, Ix::Const(from), Width::full(BYTES));
            let operands = [quarter(from)?, places, quarter(from + BYTES)?];
            let op = self.intrinsic(TWO_TABLES, &operands, &[places.r#type()])?;
            crate::ir::result0(op)
        };
        let (low, high) = (half(0)?, half(2 * BYTES)?);
        let upper = b.cmpi("slt", places, b.constant_int(places.r#type(), 0)?)?;
        let found = b.select(upper, high, low)?;
        if count == BYTES { Ok(found) } else { self.part(found, 0, count) }
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
