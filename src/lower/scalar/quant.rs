//! Linear quantization of one element, or of the lanes of a vector.
//!
//! Real numbers are f32, or f64 where 32-bit integers take part. Rounding is to nearest, ties to
//! even; NaN quantizes to the lowest integer.

use super::{
    convert,
    float::{add, div, mul},
};
use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val, graph,
        types::{is_unsigned, signless},
        view::OpView,
    },
    lower::Lowering,
};
use melior::ir::{Type, ValueLike};

/// An integer type that numbers are quantized to or from.
#[derive(Clone, Copy)]
pub struct Quantized<'c> {
    /// The type, without a sign.
    pub element: Type<'c>,
    /// True for integers without a sign.
    pub unsigned: bool,
    /// Width.
    pub bits: u32,
}

impl<'c> Quantized<'c> {
    /// The element type of a tensor of the graph; none if it is no integer.
    pub fn of(b: &Builder<'c>, ty: Type<'c>) -> Option<Self> {
        let element = ir::element_type(signless(b.context, ty));
        let bits = ir::integer_width(element)?;
        Some(Self { element, unsigned: is_unsigned(ty), bits })
    }

    /// The element type of an operand.
    pub fn of_operand(l: &Lowering<'c>, index: usize) -> Result<Self> {
        Self::of_type(l, l.operand_type(index)?)
    }

    /// The element type of a result.
    pub fn of_result(l: &Lowering<'c>, index: usize) -> Result<Self> {
        let value: Val<'c> = l.op.result(index).map_err(ir::unexpected)?.into();
        Self::of_type(l, value.r#type())
    }

    /// The element type of a type of the graph.
    pub fn of_type(l: &Lowering<'c>, ty: Type<'c>) -> Result<Self> {
        Self::of(&l.b, ty).ok_or_else(|| l.unsupported(format!("quantized elements of type {ty}")))
    }

    /// The lowest and highest integer.
    fn range(self) -> (f64, f64) {
        let half = 2f64.powi(self.bits as i32 - 1);
        if self.unsigned { (0.0, 2.0 * half - 1.0) } else { (-half, half - 1.0) }
    }

    /// The float type in which all of the integers are exact.
    pub fn real(self, b: &Builder<'c>) -> Type<'c> {
        if self.bits > 16 { b.f64() } else { b.f32() }
    }

    /// `saturate(round(value) + zero)` for a real `value`.
    pub fn saturate(
        self,
        b: &Builder<'c>,
        value: Val<'c>,
        zero: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let real = value.r#type();
        let mut rounded = b.unary("math.roundeven", value)?;
        if let Some(zero) = zero {
            rounded = add(b, rounded, convert(b, zero, self.unsigned, real, false)?)?;
        }
        let (low, high) = self.range();
        let (low, high) = (b.constant(real, low)?, b.constant(real, high)?);
        let value = b.select(b.cmpf("ogt", rounded, low)?, rounded, low)?;
        let value = b.select(b.cmpf("olt", value, high)?, value, high)?;
        let wide = b.int(if self.bits > 16 { 64 } else { 32 });
        let integer = b.op1("arith.fptosi", &[value], b.like(real, wide))?;
        if wide == self.element {
            return Ok(integer);
        }
        b.op1("arith.trunci", &[integer], b.like(real, self.element))
    }

    /// An integer less its zero point, as `wide`.
    pub fn centered(
        self,
        b: &Builder<'c>,
        value: Val<'c>,
        zero: Option<Val<'c>>,
        wide: Type<'c>,
    ) -> Result<Val<'c>> {
        let wide = b.like(value.r#type(), wide);
        let value = convert(b, value, self.unsigned, wide, false)?;
        match zero {
            Some(zero) => {
                b.binary("arith.subi", value, convert(b, zero, self.unsigned, wide, false)?)
            }
            None => Ok(value),
        }
    }
}

/// `(x - zero) * scale`, in the type of the scale.
pub fn dequantize<'c>(
    b: &Builder<'c>,
    from: Quantized<'c>,
    x: Val<'c>,
    scale: Val<'c>,
    zero: Option<Val<'c>>,
) -> Result<Val<'c>> {
    let element = scale.r#type();
    let is_double = ir::element_type(element) == b.f64();
    let real = b.like(element, if is_double { b.f64() } else { b.f32() });
    // A float rounds the integer once, of whatever width that is.
    let centered = match (zero, from.bits) {
        (None, 32) => x,
        (zero, bits) => from.centered(b, x, zero, b.int(if bits > 16 { 64 } else { 32 }))?,
    };
    let unsigned = from.unsigned && centered == x;
    let centered = convert(b, centered, unsigned, real, false)?;
    let product = mul(b, centered, convert(b, scale, false, real, false)?)?;
    convert(b, product, false, element, false)
}

/// The element of a table of 256 that a byte stands for, or those of the lanes of a vector; the table
/// is a tensor, or for vectors a buffer.
pub fn lookup<'c>(b: &Builder<'c>, x: Val<'c>, table: Val<'c>) -> Result<Val<'c>> {
    let element = ir::element_type(table.r#type());
    let lanes = ir::dims(x.r#type());
    if lanes.is_empty() {
        let place = b.op1("arith.index_castui", &[x], b.index_type())?;
        let read = if ir::is_tensor(table.r#type()) { "tensor.extract" } else { "memref.load" };
        return b.op1(read, &[table, place], element);
    }
    let places = b.op1("arith.extui", &[x], b.like(x.r#type(), b.int(32)))?;
    let result = b.like(x.r#type(), element);
    if lanes[0] < WORD_LANES {
        return gather(b, table, places, result);
    }
    // Machines gather words. The one that a byte stands in is as far into the table, where words begin.
    let ty = places.r#type();
    let number = |value| b.constant_int(ty, value);
    let words = b.op1("memref.view", &[table, b.index(0)?], b.parse_type("memref<64xi32>")?)?;
    let word = gather(b, words, b.binary("arith.shrui", places, number(2)?)?, ty)?;
    let bits = b.binary("arith.shli", b.binary("arith.andi", places, number(3)?)?, number(3)?)?;
    b.op1("arith.trunci", &[b.binary("arith.shrui", word, bits)?], result)
}

/// Lanes of the vectors of which machines gather the words at once: those of AVX-512, which are little-endian. With
/// AVX2 some do, and on others eight words take longer than eight bytes.
const WORD_LANES: i64 = 16;

fn gather<'c>(b: &Builder<'c>, from: Val<'c>, places: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    let all = b.constant_int(b.like(places.r#type(), b.int(1)), -1)?;
    let nothing = b.constant_int(ty, 0)?;
    b.op1("vector.gather", &[from, b.index(0)?, places, all, nothing], ty)
}

/// `graph.quantize_linear`, `graph.dequantize_linear` or `graph.lookup` of one element; `None` for other
/// operations, and for types that take more than that.
pub(super) fn emit<'c>(b: &Builder<'c>, op: Op<'c>, args: &[Val<'c>]) -> Result<Option<Val<'c>>> {
    if graph::Lookup::of(op).is_some() {
        let [x, table] = args else { return Err(Error::internal("a lookup without a table")) };
        return lookup(b, *x, *table).map(Some);
    }
    let (quantizes, value) = match (graph::QuantizeLinear::of(op), graph::DequantizeLinear::of(op))
    {
        (Some(op), _) => (true, op.y()),
        (_, Some(op)) => (false, op.x()),
        _ => return Ok(None),
    };
    let (Some(integer), [x, scale, zero @ ..]) = (Quantized::of(b, value.r#type()), args) else {
        return Err(Error::internal("a quantization without a scale, or to floats"));
    };
    let zero = zero.first().copied();
    if !quantizes {
        return dequantize(b, integer, *x, *scale, zero).map(Some);
    }
    integer.saturate(b, div(b, *x, *scale)?, zero).map(Some)
}
