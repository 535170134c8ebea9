//! Multiplying and adding: which instructions a machine has for elements of some types.
//!
//! Each step of a reduction takes a few neighbouring elements of the image, which all lanes
//! share, and as many rows of weights. Sums of integers are exact: what could saturate or wrap
//! between is not used.

use super::{
    Emitter, Isa, Ix,
    isa::Dot,
    tiling::Width,
    types::{Element, Types},
};
use crate::{Error, Result, ir::Val, lower::scalar::widen};
use melior::ir::{Type, ValueLike};

/// Arithmetic of one step of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// One element: a multiplication and an addition, fused for floats where the machine can.
    Single,
    /// One element, whose weight is a byte or a float of 16 bits that becomes a float of 32.
    Widened,
    /// Two elements, whose weights are the halves of a byte and become floats.
    Nibbles,
    /// Four bytes as two pairs of 16-bit numbers.
    Words,
    /// Two 16-bit numbers, of an image whose bytes were widened before.
    Pairs,
    /// Four bytes of the image without signs, times four signed ones.
    Bytes,
    /// Four signed bytes times four signed ones.
    SignedBytes,
    /// Two 16-bit floats, upper halves of f32, whose products are added to f32.
    Halves,
    /// Four bytes times four signed ones, in registers that hold matrices: these have loops of their own
    /// (`contraction/amx`).
    Tiles,
    /// The same of two 16-bit floats.
    HalfTiles,
}

/// Points from which on words of weights are worth their memory. Bytes come from the caches in half
/// of the time, and cost an instruction more for each vector, which few points share.
const MANY_POINTS: i64 = 128;

/// The bits of a byte that adding or taking away 128 turns over: its sign.
const FLIP: i64 = -128;

impl Arithmetic {
    /// The best that the machine has.
    pub fn of(isa: Isa, types: Types) -> Self {
        match (isa.dot, types.weights) {
            (_, Element::I8 | Element::F16 | Element::BF16) if types.image == Element::F32 => {
                Self::Widened
            }
            (_, Element::I4) => Self::Nibbles,
            (_, Element::BF16) => Self::Halves,
            (Dot::Words | Dot::Bytes, _) if types.image == Element::I16 => Self::Pairs,
            _ if !types.image.is_byte() || types.sum != Element::I32 => Self::Single,
            (Dot::Bytes, Element::I8) => Self::Bytes,
            (Dot::SignedBytes, Element::I8) => Self::SignedBytes,
            (Dot::Bytes | Dot::Words, _) => Self::Words,
            (Dot::None | Dot::SignedBytes, _) => Self::Single,
        }
    }

    /// The elements of a step, vector of weights by vector of weights: a lane of a vector has
    /// these rows next to each other.
    pub fn parts(self) -> &'static [&'static [usize]] {
        match self {
            Self::Single | Self::Widened => &[&[0]],
            Self::Nibbles => &[&[0], &[1]],
            Self::Pairs | Self::Halves | Self::HalfTiles => &[&[0, 1]],
            // The lower and the upper halves of 16-bit lanes.
            Self::Words => &[&[0, 2], &[1, 3]],
            Self::Bytes | Self::SignedBytes | Self::Tiles => &[&[0, 1, 2, 3]],
        }
    }

    /// Elements of the reduction in a step.
    pub fn group(self) -> i64 {
        match self {
            Self::Single | Self::Widened => 1,
            Self::Nibbles | Self::Pairs | Self::Halves | Self::HalfTiles => 2,
            Self::Words | Self::Bytes | Self::SignedBytes | Self::Tiles => 4,
        }
    }

    /// Weights in an element of the memory that holds them.
    pub fn shared(self) -> i64 {
        if self == Self::Nibbles { 2 } else { 1 }
    }

    /// The type that weights are packed as. Few points per weight wait for memory, where bytes are
    /// half as long as the words that many points multiply with at once.
    pub fn packed(self, weights: Element, points: i64) -> Element {
        match (self, weights) {
            (Self::Words | Self::Pairs, Element::I8) if points < MANY_POINTS => Element::I8,
            (Self::Tiles, _) => Element::I8,
            (Self::Words | Self::Pairs, _) | (Self::Single, Element::I8) => Element::I16,
            (_, other) => other,
        }
    }

    /// Vector instructions for a step, apart from loads.
    pub fn instructions(self) -> i64 {
        match self {
            Self::Words => 4,
            Self::Nibbles | Self::Pairs => 2,
            _ => 1,
        }
    }

    /// Registers that a step needs for the image.
    pub fn image_registers(self) -> i64 {
        match self {
            Self::Words => 3,
            Self::Nibbles | Self::Pairs => 2,
            _ => 1,
        }
    }

    /// Offset that is added to the image's elements, and to their zero point with them.
    pub fn image_offset(self, image: Element) -> i64 {
        match (self, image) {
            (Self::Bytes, Element::I8) => 128,
            (Self::SignedBytes, Element::U8) => -128,
            _ => 0,
        }
    }

    /// The fewest lanes of a vector.
    pub fn least_lanes(self) -> i64 {
        if matches!(self, Self::Single | Self::Widened) { 1 } else { 4 }
    }

    /// Loads the weights of a part of a step.
    pub fn load_weights<'c>(
        self,
        e: &Emitter<'c>,
        memref: Val<'c>,
        at: Ix<'c>,
        width: Width,
    ) -> Result<Val<'c>> {
        let rows = self.parts()[0].len() as i64;
        let width = Width { lanes: width.lanes * rows, used: width.used * rows };
        let weights = e.load(memref, at, width)?;
        match (self, Element::of(weights.r#type())) {
            (Self::Single, Some(Element::I8 | Element::I16)) => e.extend(weights, true),
            (Self::Widened, _) => floats(e, weights),
            (Self::Words | Self::Pairs, Some(Element::I8)) => {
                let words = e.builder.like(weights.r#type(), e.builder.int(16));
                e.builder.op1("arith.extsi", &[weights], words)
            }
            _ => Ok(weights),
        }
    }

    /// Loads the image's elements of a step, of which there may be fewer than usual, as one
    /// operand for each part.
    pub fn load_image<'c>(
        self,
        e: &Emitter<'c>,
        memref: Val<'c>,
        at: Ix<'c>,
        (image, used): (Element, i64),
        lanes: i64,
    ) -> Result<Vec<Val<'c>>> {
        let b = e.builder;
        if self == Self::Nibbles {
            let first = e.load_splat(memref, at, lanes)?;
            let second = match used {
                // The weight is 0; nothing lies behind the last element.
                1 => e.splat(0.0, lanes, image)?,
                _ => e.load_splat(memref, e.add(at, Ix::Const(1))?, lanes)?,
            };
            return Ok(vec![first, second]);
        }
        if matches!(self, Self::Single | Self::Widened) {
            if !image.is_byte() {
                return Ok(vec![e.load_splat(memref, at, lanes)?]);
            }
            let scalar = e.load_scalar(memref, at)?;
            let wide = e.extend(scalar, image == Element::I8)?;
            return Ok(vec![e.broadcast(wide, lanes)?]);
        }
        let words = e.broadcast(load_word(e, memref, at, used)?, lanes)?;
        if matches!(self, Self::Pairs | Self::Halves) {
            let pairs = e.vector(lanes * 2, image.r#type(&b));
            return Ok(vec![b.op1("vector.bitcast", &[words], pairs)?]);
        }
        if matches!(self, Self::Bytes | Self::SignedBytes) {
            let bytes = b.op1("vector.bitcast", &[words], e.vector(lanes * 4, b.int(8)))?;
            if self.image_offset(image) == 0 {
                return Ok(vec![bytes]);
            }
            let flip = b.constant_int(bytes.r#type(), FLIP)?;
            return Ok(vec![b.binary("arith.xori", bytes, flip)?]);
        }
        let halves = b.op1("vector.bitcast", &[words], e.vector(lanes * 2, b.int(16)))?;
        let eight = b.constant_int(halves.r#type(), 8)?;
        if image == Element::U8 {
            let low = b.constant_int(halves.r#type(), 0xff)?;
            let even = b.binary("arith.andi", halves, low)?;
            return Ok(vec![even, b.binary("arith.shrui", halves, eight)?]);
        }
        let even = b.binary("arith.shrsi", b.binary("arith.shli", halves, eight)?, eight)?;
        Ok(vec![even, b.binary("arith.shrsi", halves, eight)?])
    }

    /// `sum + x * w`, for operands of one part.
    pub fn multiply_add<'c>(
        self,
        e: &Emitter<'c>,
        x: Val<'c>,
        w: Val<'c>,
        sum: Val<'c>,
    ) -> Result<Val<'c>> {
        match self {
            Self::Single | Self::Widened | Self::Nibbles if crate::ir::is_float(sum.r#type()) => {
                e.fma(x, w, sum)
            }
            Self::Single | Self::Widened | Self::Nibbles => {
                let product = e.builder.binary("arith.muli", x, w)?;
                e.builder.binary("arith.addi", sum, product)
            }
            Self::Words | Self::Pairs => add_pairs(e, x, w, sum),
            Self::Bytes => {
                let name = match lanes_of(sum) {
                    16 => "llvm.x86.avx512.vpdpbusd.512",
                    8 => "llvm.x86.avx512.vpdpbusd.256",
                    4 => "llvm.x86.avx512.vpdpbusd.128",
                    lanes => return Err(no_instruction(lanes)),
                };
                intrinsic(e, name, &[sum, x, w], sum.r#type())
            }
            Self::SignedBytes if lanes_of(sum) == 4 => {
                intrinsic(e, "llvm.aarch64.neon.sdot.v4i32.v16i8", &[sum, x, w], sum.r#type())
            }
            Self::SignedBytes => Err(no_instruction(lanes_of(sum))),
            Self::Halves => {
                let name = match lanes_of(sum) {
                    16 => "llvm.x86.avx512bf16.dpbf16ps.512",
                    8 => "llvm.x86.avx512bf16.dpbf16ps.256",
                    4 => "llvm.x86.avx512bf16.dpbf16ps.128",
                    lanes => return Err(no_instruction(lanes)),
                };
                intrinsic(e, name, &[sum, x, w], sum.r#type())
            }
            Self::Tiles | Self::HalfTiles => {
                Err(Error::internal("a kernel of AMX that multiplies vectors"))
            }
        }
    }
}

/// The first elements from `at` on as a number of 32 bits, the others of which are 0. Parts of words are read one by one:
/// not all machines have masks for bytes.
fn load_word<'c>(e: &Emitter<'c>, memref: Val<'c>, at: Ix<'c>, used: i64) -> Result<Val<'c>> {
    let b = e.builder;
    let element = Element::of(memref.r#type())
        .ok_or_else(|| Error::internal("an image whose elements kernels do not have"))?;
    let bits = 8 * element.bytes();
    let mut word: Option<Val<'c>> = None;
    let mut done = 0;
    while done < used {
        // As many as a power of two.
        let count = 1 << (used - done).ilog2();
        let from = e.add(at, Ix::Const(done))?;
        let part = e.load(memref, from, Width::full(count))?;
        let integer = b.int((bits * count) as u32);
        let part = b.op1("vector.bitcast", &[part], e.vector(1, integer))?;
        let position = vec![("static_position", b.i64s_attr(&[0]))];
        let part = b.op1_with("vector.extract", &[part], integer, position)?;
        let part = if bits * count < 32 { e.extend(part, false)? } else { part };
        word = Some(match word {
            None => part,
            Some(others) => {
                let shift = b.constant_int(part.r#type(), bits * done)?;
                b.binary("arith.ori", others, b.binary("arith.shli", part, shift)?)?
            }
        });
        done += count;
    }
    word.ok_or_else(|| Error::internal("a step of no elements"))
}

/// The lower and the upper halves of bytes as floats.
pub fn halves<'c>(e: &Emitter<'c>, bytes: Val<'c>) -> Result<[Val<'c>; 2]> {
    let b = e.builder;
    let four = b.constant_int(bytes.r#type(), 4)?;
    let lower = b.binary("arith.shrsi", b.binary("arith.shli", bytes, four)?, four)?;
    let upper = b.binary("arith.shrsi", bytes, four)?;
    Ok([floats(e, lower)?, floats(e, upper)?])
}

/// Bytes, or floats of 16 bits, as floats.
fn floats<'c>(e: &Emitter<'c>, narrow: Val<'c>) -> Result<Val<'c>> {
    let b = e.builder;
    if crate::ir::is_float(narrow.r#type()) {
        return widen(&b, narrow);
    }
    let words = e.extend(narrow, true)?;
    b.op1("arith.sitofp", &[words], b.like(words.r#type(), b.f32()))
}

/// 16-bit weights as [`multiply_add_lanes`] wants them.
pub fn weights_in_lanes<'c>(e: &Emitter<'c>, weights: Val<'c>) -> Result<Val<'c>> {
    let pairs = multiplies_pairs(e, weights);
    e.extend(weights, !pairs)
}

/// `sum + x * w` of lanes of 32 bits, where x and w are numbers of 16 bits. If the upper halves of
/// w are 0, this is one instruction on x86, unlike a multiplication of 32 bits.
pub fn multiply_add_lanes<'c>(
    e: &Emitter<'c>,
    x: Val<'c>,
    w: Val<'c>,
    sum: Val<'c>,
) -> Result<Val<'c>> {
    let b = e.builder;
    if !multiplies_pairs(e, sum) {
        return b.binary("arith.addi", sum, b.binary("arith.muli", x, w)?);
    }
    let pairs = e.vector(lanes_of(sum) * 2, b.int(16));
    let [x, w] = [x, w].map(|value| b.op1("vector.bitcast", &[value], pairs));
    add_pairs(e, x?, w?, sum)
}

fn multiplies_pairs(e: &Emitter<'_>, vector: Val<'_>) -> bool {
    matches!(e.isa.dot, Dot::Words | Dot::Bytes) && lanes_of(vector) >= 4
}

/// `sum` plus the products of pairs of 16-bit numbers.
fn add_pairs<'c>(e: &Emitter<'c>, x: Val<'c>, w: Val<'c>, sum: Val<'c>) -> Result<Val<'c>> {
    let lanes = lanes_of(sum);
    if e.isa.dot == Dot::Bytes {
        let name = match lanes {
            16 => "llvm.x86.avx512.vpdpwssd.512",
            8 => "llvm.x86.avx512.vpdpwssd.256",
            4 => "llvm.x86.avx512.vpdpwssd.128",
            lanes => return Err(no_instruction(lanes)),
        };
        return intrinsic(e, name, &[sum, x, w], sum.r#type());
    }
    let name = match lanes {
        16 => "llvm.x86.avx512.pmaddw.d.512",
        8 => "llvm.x86.avx2.pmadd.wd",
        4 => "llvm.x86.sse2.pmadd.wd",
        lanes => return Err(no_instruction(lanes)),
    };
    let product = intrinsic(e, name, &[x, w], sum.r#type())?;
    e.builder.binary("arith.addi", sum, product)
}

fn no_instruction(lanes: i64) -> Error {
    Error::internal(format!("a kernel that multiplies neighbours in {lanes} lanes"))
}

fn lanes_of(vector: Val<'_>) -> i64 {
    crate::ir::dims(vector.r#type()).first().copied().unwrap_or(1)
}

fn intrinsic<'c>(
    e: &Emitter<'c>,
    name: &str,
    operands: &[Val<'c>],
    result: Type<'c>,
) -> Result<Val<'c>> {
    crate::ir::result0(e.intrinsic(name, operands, &[result])?)
}
