//! The loops of a tiled layer.

use super::{
    layer::{Activation, Kind},
    params::Params,
    pieces::{Axis, Piece, Run},
    tile::{Shape, Tile},
};
use crate::{
    Result,
    ir::{self, Blk, Builder, OpSpec, Val, edit},
};
use melior::ir::{
    Attribute, Block, Region, RegionLike, Type, ValueLike, attribute::DenseI32ArrayAttribute,
    block::BlockLike,
};

/// The dimensions of a layer, in the order of [`Bound::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dim {
    Image,
    OutChannels,
    Rows,
    Columns,
    InChannels,
}

const DIMS: [Dim; 5] = [Dim::Image, Dim::OutChannels, Dim::Rows, Dim::Columns, Dim::InChannels];

/// Where a tile is in one dimension: at `base + step * iv`, with all else as in the piece.
#[derive(Clone, Copy)]
struct Place<'c> {
    run: Run,
    iv: Option<Val<'c>>,
}

/// An offset that is known, or computed when the program runs.
#[derive(Clone, Copy)]
pub(super) enum Offset<'c> {
    Known(i64),
    Value(Val<'c>),
}

impl<'c> Offset<'c> {
    /// `base + step * iv`, or `base` outside of a loop.
    pub(super) fn of(b: &Builder<'c>, iv: Option<Val<'c>>, base: i64, step: i64) -> Result<Self> {
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
}

impl<'c> Place<'c> {
    fn output(&self, b: &Builder<'c>) -> Result<Offset<'c>> {
        Offset::of(b, self.iv, self.run.piece.output, self.run.output_step)
    }

    fn input(&self, b: &Builder<'c>) -> Result<Offset<'c>> {
        Offset::of(b, self.iv, self.run.piece.input, self.run.input_step)
    }

    fn block(&self, b: &Builder<'c>) -> Result<Offset<'c>> {
        let lanes = super::LANES;
        Offset::of(b, self.iv, self.run.piece.output / lanes, self.run.output_step / lanes)
    }
}

/// What is known inside of some of the loops: places, and tiles that are loaded.
#[derive(Clone, Copy, Default)]
struct Bound<'c> {
    places: [Option<Place<'c>>; 5],
    input: Option<Val<'c>>,
    weights: Option<Val<'c>>,
    bias: Option<Val<'c>>,
}

impl<'c> Bound<'c> {
    fn at(&self, dim: Dim) -> Option<Place<'c>> {
        self.places[dim as usize]
    }

    fn with(mut self, dim: Dim, place: Place<'c>) -> Self {
        self.places[dim as usize] = Some(place);
        self
    }
}

/// Emits the loops of one layer.
pub struct Emitter<'c> {
    builder: Builder<'c>,
    params: Params,
    input: Val<'c>,
    weights: Val<'c>,
    bias: Option<Val<'c>>,
    /// The shape of the layer.
    pub shape: Shape,
    /// The size of its tiles.
    pub tile: Tile,
}

impl<'c> Emitter<'c> {
    /// For a layer of these parameters and operands; its tile is the whole layer at first.
    pub fn new(
        builder: Builder<'c>,
        params: Params,
        [input, weights]: [Val<'c>; 2],
        bias: Option<Val<'c>>,
    ) -> Self {
        let shape = shape(&params, &ir::dims(input.r#type()));
        let tile = Tile {
            out_c: shape.out_c,
            height: shape.height.output,
            width: shape.width.output,
            in_c: shape.in_c,
            channels_outside: true,
        };
        Self { builder, params, input, weights, bias, shape, tile }
    }

    /// The layer's result, in `output`.
    pub fn emit(&self, output: Val<'c>) -> Result<Val<'c>> {
        let mut bound = Bound::default();
        let image = [Dim::Image, Dim::Rows, Dim::Columns];
        let order = if self.tile.channels_outside {
            [&[Dim::OutChannels], &image[..]].concat()
        } else {
            [&image[..], &[Dim::OutChannels]].concat()
        };
        let mut loops = vec![];
        // What is not cut has its place from the start, so that tiles are loaded as far outside
        // as they can be.
        for dim in order.into_iter().chain([Dim::InChannels]) {
            match self.runs(dim)[..] {
                [run] if run.count == 1 => bound = bound.with(dim, Place { run, iv: None }),
                _ if dim != Dim::InChannels => loops.push(dim),
                _ => {}
            }
        }
        self.outer(&self.builder, &loops, bound, output)
    }

    fn runs(&self, dim: Dim) -> Vec<Run> {
        let (shape, tile) = (&self.shape, &self.tile);
        match dim {
            Dim::Image => Axis::plain(shape.batch).runs(1, false),
            Dim::OutChannels => Axis::plain(shape.out_c).runs(tile.out_c, false),
            Dim::Rows => shape.height.runs(tile.height, false),
            Dim::Columns => shape.width.runs(tile.width, false),
            Dim::InChannels if shape.depthwise => Axis::plain(1).runs(1, true),
            Dim::InChannels => Axis::plain(shape.in_c).runs(tile.in_c, true),
        }
    }

    /// The loops around one tile of the output, which is written into `target`.
    fn outer(
        &self,
        b: &Builder<'c>,
        loops: &[Dim],
        bound: Bound<'c>,
        target: Val<'c>,
    ) -> Result<Val<'c>> {
        let bound = self.load(b, bound)?;
        let Some((dim, rest)) = loops.split_first() else {
            return self.store(b, &bound, target);
        };
        self.runs(*dim).into_iter().try_fold(target, |target, run| {
            repeat(b, run.count, target, |b, iv, target| {
                self.outer(b, rest, bound.with(*dim, Place { run, iv }), target)
            })
        })
    }

    /// Computes one tile of the output and puts it into `target`.
    fn store(&self, b: &Builder<'c>, bound: &Bound<'c>, target: Val<'c>) -> Result<Val<'c>> {
        let [channels, rows, columns] =
            [Dim::OutChannels, Dim::Rows, Dim::Columns].map(|dim| piece(bound, dim).output_size);
        let sizes = match self.params.kind {
            Kind::Dense => vec![rows, channels],
            _ => vec![1, channels, rows, columns],
        };
        let ty = b.tensor(&sizes, b.f32());
        let space = ("memory_space", space(b)?);
        let tile = allocate(b, ty, None, space)?;
        let tile = if bound.at(Dim::InChannels).is_some() {
            self.call(b, bound, tile)?
        } else {
            self.runs(Dim::InChannels).into_iter().try_fold(tile, |tile, run| {
                repeat(b, run.count, tile, |b, iv, tile| {
                    let bound = bound.with(Dim::InChannels, Place { run, iv });
                    self.call(b, &self.load(b, bound)?, tile)
                })
            })?
        };
        let offset = |dim| -> Result<Offset<'c>> {
            bound.at(dim).map_or(Ok(Offset::Known(0)), |place| place.output(b))
        };
        let mut offsets = vec![offset(Dim::Rows)?, offset(Dim::OutChannels)?];
        if self.params.kind != Kind::Dense {
            offsets.swap(0, 1);
            offsets.insert(0, offset(Dim::Image)?);
            offsets.push(offset(Dim::Columns)?);
        }
        insert(b, tile, target, &offsets, &sizes)
    }

    /// Loads the tiles whose places are known by now.
    fn load(&self, b: &Builder<'c>, mut bound: Bound<'c>) -> Result<Bound<'c>> {
        let depthwise = self.shape.depthwise;
        let channels = bound.at(Dim::OutChannels);
        if let (None, Some(channels), Some(inner)) =
            (bound.weights, channels, bound.at(Dim::InChannels))
        {
            let blocks = (channels.run.piece.output_size + super::LANES - 1) / super::LANES;
            let lanes = ir::dims(self.weights.r#type())[2];
            let sizes = [blocks, inner.run.piece.input_size, lanes];
            let offsets = [channels.block(b)?, inner.input(b)?, Offset::Known(0)];
            bound.weights = Some(fetch(b, self.weights, &offsets, &sizes)?);
        }
        if let (None, Some(bias), Some(channels)) = (bound.bias, self.bias, channels) {
            let sizes = [channels.run.piece.output_size];
            bound.bias = Some(fetch(b, bias, &[channels.output(b)?], &sizes)?);
        }
        let needs: &[Dim] =
            if depthwise { &DIMS } else { &[Dim::Image, Dim::Rows, Dim::Columns, Dim::InChannels] };
        if bound.input.is_none() && needs.iter().all(|dim| bound.at(*dim).is_some()) {
            let (offsets, sizes) = self.input_slice(b, &bound)?;
            bound.input = Some(fetch(b, self.input, &offsets, &sizes)?);
        }
        Ok(bound)
    }

    fn input_slice(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c>,
    ) -> Result<(Vec<Offset<'c>>, Vec<i64>)> {
        let inner = if self.shape.depthwise { Dim::OutChannels } else { Dim::InChannels };
        let dims = match self.params.kind {
            Kind::Dense => vec![Dim::Rows, inner],
            _ => vec![Dim::Image, inner, Dim::Rows, Dim::Columns],
        };
        let mut offsets = vec![];
        for dim in &dims {
            let place = bound.at(*dim);
            offsets.push(place.map_or(Ok(Offset::Known(0)), |place| place.input(b))?);
        }
        Ok((offsets, dims.iter().map(|dim| piece(bound, *dim).input_size).collect()))
    }

    /// The instruction for one tile.
    fn call(&self, b: &Builder<'c>, bound: &Bound<'c>, tile: Val<'c>) -> Result<Val<'c>> {
        let [channels, rows, columns, inner] =
            [Dim::OutChannels, Dim::Rows, Dim::Columns, Dim::InChannels]
                .map(|dim| piece(bound, dim));
        let mut params = self.params.clone();
        let in_c = if self.shape.depthwise { channels.output_size } else { inner.input_size };
        let sizes: &[(&str, i64)] = match params.kind {
            Kind::Dense => {
                &[("rows", rows.output_size), ("in", in_c), ("out", channels.output_size)]
            }
            _ => &[
                ("in_c", in_c),
                ("in_h", rows.input_size),
                ("in_w", columns.input_size),
                ("out_c", channels.output_size),
                ("out_h", rows.output_size),
                ("out_w", columns.output_size),
                ("pad_top", rows.pad),
                ("pad_left", columns.pad),
            ],
        };
        for (name, size) in sizes {
            if let Some(number) = params.numbers.get_mut(name) {
                *number = *size;
            }
        }
        params.has_bias &= inner.first;
        params.accumulate = !inner.first;
        if !inner.last {
            params.activation = Activation::None;
        }
        let missing = || crate::Error::internal("a tile is computed before it is loaded");
        let input = bound.input.ok_or_else(missing)?;
        let weights = bound.weights.ok_or_else(missing)?;
        let bias = bound.bias.filter(|_| params.has_bias);
        let call = params.call(b, input, weights, bias, tile)?;
        Ok(ir::result0(call.build(b, &[tile.r#type()])?))
    }
}

/// The shape of a layer from its parameters and the dimensions of its input.
fn shape(params: &Params, input: &[i64]) -> Shape {
    let number = |name: &str| params.number(name);
    if params.kind == Kind::Dense {
        return Shape {
            batch: 1,
            in_c: number("in"),
            out_c: number("out"),
            height: Axis::plain(number("rows")),
            width: Axis::plain(1),
            depthwise: false,
        };
    }
    let axis = |letter: &str, pad: &str| Axis {
        input: number(&format!("in_{letter}")),
        output: number(&format!("out_{letter}")),
        kernel: number(&format!("kernel_{letter}")),
        stride: number(&format!("stride_{letter}")),
        dilation: number(&format!("dilation_{letter}")),
        pad: number(pad),
    };
    Shape {
        batch: input.first().copied().unwrap_or(1),
        in_c: number("in_c"),
        out_c: number("out_c"),
        height: axis("h", "pad_top"),
        width: axis("w", "pad_left"),
        depthwise: params.kind == Kind::Depthwise,
    }
}

/// The piece of a dimension; all dimensions are known where this is asked.
fn piece(bound: &Bound<'_>, dim: Dim) -> Piece {
    bound.at(dim).map_or_else(|| Axis::plain(1).piece(0, 1), |place| place.run.piece)
}

pub(super) fn space<'c>(b: &Builder<'c>) -> Result<Attribute<'c>> {
    b.parse_attr("#tir.space<\"scratchpad\">")
}

/// A tensor in the scratchpad with the contents of `copy`.
pub(super) fn allocate<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    copy: Option<Val<'c>>,
    space: (&str, Attribute<'c>),
) -> Result<Val<'c>> {
    let sizes = [0, i32::from(copy.is_some()), 0];
    let segments = DenseI32ArrayAttribute::new(b.context, &sizes).into();
    let attributes = vec![space, ("operandSegmentSizes", segments)];
    b.op1_with("bufferization.alloc_tensor", copy.as_slice(), ty, attributes)
}

/// A part of `source` in the scratchpad.
pub(super) fn fetch<'c>(
    b: &Builder<'c>,
    source: Val<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
) -> Result<Val<'c>> {
    let ty = b.tensor(sizes, b.f32());
    let part = if ty == source.r#type() {
        source
    } else {
        let (values, attributes) = slice(b, offsets, sizes, &[1]);
        let operands = [&[source], &values[..]].concat();
        b.op1_with("tensor.extract_slice", &operands, ty, attributes)?
    };
    allocate(b, ty, Some(part), ("memory_space", space(b)?))
}

/// Puts a tile into its place of `target`.
pub(super) fn insert<'c>(
    b: &Builder<'c>,
    tile: Val<'c>,
    target: Val<'c>,
    offsets: &[Offset<'c>],
    sizes: &[i64],
) -> Result<Val<'c>> {
    // The tile is copied before it is inserted. An insertion alone would fold: who reads the same
    // part again would get the tile itself, which is to be gone from the scratchpad by then.
    let copy = |place: Val<'c>| {
        let name = "bufferization.materialize_in_destination";
        b.op1(name, &[tile, place], tile.r#type())
    };
    if tile.r#type() == target.r#type() {
        return copy(target);
    }
    let (values, attributes) = slice(b, offsets, sizes, &[1]);
    let operands = [&[target], &values[..]].concat();
    let place = b.op1_with("tensor.extract_slice", &operands, tile.r#type(), attributes)?;
    let copied = copy(place)?;
    let (values, attributes) = slice(b, offsets, sizes, &[1, 1]);
    let operands = [&[copied, target], &values[..]].concat();
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

/// Runs `body` `count` times on what it gave the time before: in a loop, unless it is once. The
/// body gets the number of the iteration.
pub(super) fn repeat<'c>(
    b: &Builder<'c>,
    count: i64,
    start: Val<'c>,
    body: impl FnOnce(&Builder<'c>, Option<Val<'c>>, Val<'c>) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    if count == 1 {
        return body(b, None, start);
    }
    let region = Region::new();
    let block = region
        .append_block(Block::new(&[(b.index_type(), b.location), (start.r#type(), b.location)]));
    // SAFETY: the block belongs to the region that the loop takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    let arguments = edit::arguments(block);
    let inside = Builder::at_end(b.context, block, b.location);
    let value = body(&inside, Some(arguments[0]), arguments[1])?;
    inside.create("scf.yield", OpSpec { operands: &[value], ..Default::default() })?;
    let operands = [b.index(0)?, b.index(count)?, b.index(1)?, start];
    let spec = OpSpec {
        operands: &operands,
        results: &[start.r#type()],
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::result0(b.create("scf.for", spec)?))
}
