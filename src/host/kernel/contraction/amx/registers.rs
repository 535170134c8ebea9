//! The instructions of AMX.
//!
//! Registers are named by their numbers: LLVM's own allocation would have to be told the shape of
//! each, and would write the configuration anew for each call.

use super::{Amx, ROW_BYTES, ROWS};
use crate::{
    Result,
    host::kernel::{Element, Emitter, Ix},
    ir::{OpSpec, Val},
};

/// Registers that there are.
pub(super) const REGISTERS: i64 = 8;

/// The registers of the image and of weights of whole chunks.
const WHOLE: [i64; 2] = [6, 7];
/// The same of rests.
const REST: [i64; 2] = [4, 5];

/// Bytes of a configuration.
const CONFIGURATION: i64 = 64;

/// Registers for a chunk of a run.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub image: i64,
    pub weights: i64,
}

impl Operands {
    /// The registers for whole chunks, or for a rest.
    pub fn of(rest: bool) -> Self {
        let [image, weights] = if rest { REST } else { WHOLE };
        Self { image, weights }
    }
}

impl Amx {
    /// Sets the shapes of all registers.
    pub(super) fn configure(&self, e: &Emitter<'_>) -> Result<()> {
        let mut shapes = [(self.points, ROW_BYTES); REGISTERS as usize];
        for (bytes, [image, weights]) in [(self.rest, REST), (self.chunk, WHOLE)] {
            if bytes > 0 {
                shapes[image as usize] = (self.points, bytes);
                shapes[weights as usize] = (bytes / 4, ROW_BYTES);
            }
        }
        let mut bytes = [0; CONFIGURATION as usize];
        // Palette, bytes of rows as 16-bit numbers, numbers of rows.
        bytes[0] = 1;
        for (register, (rows, width)) in shapes.into_iter().enumerate() {
            bytes[16 + 2 * register] = width;
            bytes[48 + register] = rows;
        }
        let b = e.builder;
        let memory = e.scratch(CONFIGURATION, Element::I8)?;
        let list = bytes.map(|byte| byte.to_string()).join(", ");
        let values = b.parse_attr(&format!("dense<[{list}]> : vector<{CONFIGURATION}xi8>"))?;
        let ty = e.vector(CONFIGURATION, b.int(8));
        let values = b.op1_with("arith.constant", &[], ty, vec![("value", values)])?;
        let spec = OpSpec { operands: &[values, memory, b.index(0)?], ..Default::default() };
        b.create("vector.store", spec)?;
        let memory = pointer(e, address(e, memory)?)?;
        e.intrinsic("llvm.x86.ldtilecfg", &[memory], &[])?;
        Ok(())
    }
}

/// Gives up all registers.
pub(super) fn release(e: &Emitter<'_>) -> Result<()> {
    e.intrinsic("llvm.x86.tilerelease", &[], &[])?;
    Ok(())
}

/// The address of a buffer's first element, as an index.
pub(super) fn address<'c>(e: &Emitter<'c>, memref: Val<'c>) -> Result<Ix<'c>> {
    let b = e.builder;
    Ok(Ix::Value(b.op1("memref.extract_aligned_pointer_as_index", &[memref], b.index_type())?))
}

fn pointer<'c>(e: &Emitter<'c>, address: Ix<'c>) -> Result<Val<'c>> {
    let b = e.builder;
    let address = b.op1("arith.index_cast", &[e.value(address)?], b.int(64))?;
    b.op1("llvm.inttoptr", &[address], b.parse_type("!llvm.ptr")?)
}

fn number<'c>(e: &Emitter<'c>, register: i64) -> Result<Val<'c>> {
    e.builder.constant_int(e.builder.int(8), register)
}

/// Sets all elements of a register to 0.
pub(super) fn zero(e: &Emitter<'_>, register: i64) -> Result<()> {
    e.intrinsic("llvm.x86.tilezero", &[number(e, register)?], &[])?;
    Ok(())
}

/// Loads the rows of a register, which lie `step` bytes apart.
pub(super) fn load<'c>(e: &Emitter<'c>, register: i64, at: Ix<'c>, step: i64) -> Result<()> {
    let step = e.builder.constant_int(e.builder.int(64), step)?;
    e.intrinsic("llvm.x86.tileloadd64", &[number(e, register)?, pointer(e, at)?, step], &[])?;
    Ok(())
}

/// Brings the cache line at an address, which need not be one of memory, near.
pub(super) fn prefetch<'c>(e: &Emitter<'c>, at: Ix<'c>) -> Result<()> {
    let number = |value| e.builder.constant_int(e.builder.int(32), value);
    // For reading, to the first level, of data.
    let operands = [pointer(e, at)?, number(0)?, number(3)?, number(1)?];
    e.intrinsic("llvm.prefetch", &operands, &[])?;
    Ok(())
}

/// Stores the rows of a register, `step` bytes apart.
pub(super) fn store<'c>(e: &Emitter<'c>, register: i64, at: Ix<'c>, step: i64) -> Result<()> {
    let step = e.builder.constant_int(e.builder.int(64), step)?;
    e.intrinsic("llvm.x86.tilestored64", &[number(e, register)?, pointer(e, at)?, step], &[])?;
    Ok(())
}

/// Adds the product of an image, of bytes with signs or without, or of 16-bit floats, and weights to sums.
pub(super) fn multiply_add(
    e: &Emitter<'_>,
    sums: i64,
    operands: Operands,
    image: Element,
) -> Result<()> {
    let name = match image {
        Element::BF16 => "llvm.x86.tdpbf16ps",
        Element::U8 => "llvm.x86.tdpbusd",
        _ => "llvm.x86.tdpbssd",
    };
    let Operands { image, weights } = operands;
    e.intrinsic(name, &[number(e, sums)?, number(e, image)?, number(e, weights)?], &[])?;
    Ok(())
}

const _: () = assert!(ROWS * 4 == ROW_BYTES, "a row of sums has a lane for each row");
