//! Parts of tensors, and loops around operations on them.

use crate::{
    Result,
    ir::{self, Builder, OpSpec, Val, edit},
};
use melior::ir::{Attribute, Region, Type, ValueLike, attribute::DenseI32ArrayAttribute};

/// An offset that is known, or computed when the program runs.
#[derive(Clone, Copy)]
pub enum Offset<'c> {
    /// Known.
    Known(i64),
    /// Computed.
    Value(Val<'c>),
}

impl<'c> Offset<'c> {
    /// `base + step * iv`, or `base` outside of a loop.
    pub fn of(b: &Builder<'c>, iv: Option<Val<'c>>, base: i64, step: i64) -> Result<Self> {
        let Some(iv) = iv else { return Ok(Self::Known(base)) };
        let mut value = iv;
        if step != 1 {
            value = b.binary("arith.muli", value, b.index(step)?)?;
        }
        if base != 0 {
            value = b.binary("arith.addi", value, b.index(base)?)?;
        }
        Ok(Self::Value(value))
    }

    /// So many positions behind it.
    pub fn behind(self, b: &Builder<'c>, positions: i64) -> Result<Self> {
        Ok(match self {
            Self::Known(number) => Self::Known(number + positions),
            Self::Value(value) if positions == 0 => Self::Value(value),
            Self::Value(value) => {
                Self::Value(b.binary("arith.addi", value, b.index(positions)?)?)
            }
        })
    }
}

/// A tensor in a memory space with the contents of `copy`.
pub fn allocate<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    copy: Option<Val<'c>>,
    space: Attribute<'c>,
) -> Result<Val<'c>> {
    let sizes = [0, i32::from(copy.is_some()), 0];
    let segments = DenseI32ArrayAttribute::new(b.context, &sizes).into();
    let attributes = vec![("memory_space", space), ("operandSegmentSizes", segments)];
    b.op1_with("bufferization.alloc_tensor", copy.as_slice(), ty, attributes)
}

/// A part of `source`.
pub fn part<'c>(
    b: &Builder<'c>,
    source: Val<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
) -> Result<Val<'c>> {
    let ty = b.tensor(sizes, ir::element_type(source.r#type()));
    if ty == source.r#type() {
        return Ok(source);
    }
    let (values, attributes) = slice(b, offsets, sizes, &[1]);
    let operands = [&[source], &values[..]].concat();
    b.op1_with("tensor.extract_slice", &operands, ty, attributes)
}

/// The part of a tile that is used: the rest fills up its rows.
pub fn used<'c>(b: &Builder<'c>, tile: Val<'c>, sizes: &[i64]) -> Result<Val<'c>> {
    part(b, tile, &vec![Offset::Known(0); sizes.len()], sizes)
}

/// Puts a copy of a tile into its place of `target`.
pub fn insert<'c>(
    b: &Builder<'c>,
    tile: Val<'c>,
    target: Val<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
) -> Result<Val<'c>> {
    // The tile is copied before it is inserted. An insertion alone would fold: who reads the same
    // part again would get the tile itself, which is to be gone from the device by then.
    let copy = |place: Val<'c>| {
        let name = "bufferization.materialize_in_destination";
        b.op1(name, &[tile, place], tile.r#type())
    };
    if tile.r#type() == target.r#type() {
        return copy(target);
    }
    let copied = copy(part(b, target, offsets, sizes)?)?;
    replace(b, copied, target, offsets, sizes)
}

/// `target` with `new` in the place of a part.
pub fn replace<'c>(
    b: &Builder<'c>,
    new: Val<'c>,
    target: Val<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
) -> Result<Val<'c>> {
    if new.r#type() == target.r#type() {
        return Ok(new);
    }
    let (values, attributes) = slice(b, offsets, sizes, &[1, 1]);
    let operands = [&[new, target], &values[..]].concat();
    b.op1_with("tensor.insert_slice", &operands, target.r#type(), attributes)
}

/// The offsets that are operands, and the attributes of a slice; `lead` are the numbers of the
/// operands before the offsets.
fn slice<'c>(
    b: &Builder<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
    lead: &[i32],
) -> (Vec<Val<'c>>, Vec<(&'static str, Attribute<'c>)>) {
    let mut values = vec![];
    let known: Vec<i64> = offsets
        .iter()
        .map(|offset| match offset {
            Offset::Known(number) => *number,
            Offset::Value(value) => {
                values.push(*value);
                ir::DYNAMIC
            }
        })
        .collect();
    let segments = [lead, &[values.len() as i32, 0, 0]].concat();
    let attributes = vec![
        ("static_offsets", b.i64s_attr(&known)),
        ("static_sizes", b.i64s_attr(sizes)),
        ("static_strides", b.i64s_attr(&vec![1; sizes.len()])),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &segments).into()),
    ];
    (values, attributes)
}

/// Runs `body` `count` times, each on the results of the last: in a loop, unless it is once. The
/// body gets the number of the iteration.
pub fn repeat<'c>(
    b: &Builder<'c>,
    count: i64,
    start: Vec<Val<'c>>,
    body: impl FnOnce(&Builder<'c>, Option<Val<'c>>, Vec<Val<'c>>) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    if count == 1 {
        return body(b, None, start);
    }
    let types: Vec<_> = start.iter().map(|value| value.r#type()).collect();
    let arguments: Vec<_> =
        [b.index_type()].iter().chain(&types).map(|ty| (*ty, b.location)).collect();
    let region = Region::new();
    let block = edit::append_block(&region, &arguments);
    let arguments = edit::arguments(block);
    let inside = Builder::at_end(b.context, block, b.location);
    let values = body(&inside, Some(arguments[0]), arguments[1..].to_vec())?;
    inside.create("scf.yield", OpSpec { operands: &values, ..Default::default() })?;
    let operands = [&[b.index(0)?, b.index(count)?, b.index(1)?][..], &start].concat();
    let spec = OpSpec {
        operands: &operands,
        results: &types,
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::results(b.create("scf.for", spec)?))
}
