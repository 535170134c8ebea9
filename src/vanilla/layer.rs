//! Reading a layer off a composite: its decomposition says all about it.

use crate::{
    Error, Result,
    ir::{self, Op, Val, edit},
    lower::Elements,
};
use melior::ir::{ValueLike, operation::OperationLike};

use super::pack::Weights;

/// The device's instruction for a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `vanilla_conv2d`.
    Conv2d,
    /// `vanilla_depthwise`.
    Depthwise,
    /// `vanilla_dense`.
    Dense,
}

/// What is applied to the result of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    None,
    /// max(x, 0).
    Relu,
    /// min(max(x, 0), 6).
    Relu6,
}

impl Activation {
    /// The enumerator of vanilla.h.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "VANILLA_NONE",
            Self::Relu => "VANILLA_RELU",
            Self::Relu6 => "VANILLA_RELU6",
        }
    }
}

/// A layer that the device can compute, tile by tile.
pub struct Layer<'c> {
    /// The instruction.
    pub kind: Kind,
    /// The position of the image, or the rows, among the composite's operands.
    pub input: usize,
    /// Weights.
    pub weights: Weights<'c>,
    /// What is added for each output channel.
    pub bias: Option<Vec<f32>>,
    /// Vertical and horizontal.
    pub strides: [i64; 2],
    /// Vertical and horizontal.
    pub dilations: [i64; 2],
    /// Zeros above and to the left.
    pub pads: [i64; 2],
    /// The function applied last.
    pub activation: Activation,
}

/// What a value of the decomposition is: a constant, in it or given to it, or anything else.
enum Source<'c> {
    Constant(Elements<'c>),
    Computed,
}

struct Reader<'c> {
    composite: Op<'c>,
    body: ir::Blk<'c>,
}

impl<'c> Layer<'c> {
    /// Reads a composite; the error says what the device cannot do.
    pub fn read(composite: Op<'c>) -> Result<Self> {
        let body =
            edit::entry_block(composite).ok_or_else(|| Error::invalid("has no decomposition"))?;
        let reader = Reader { composite, body };
        let mut layer: Option<Self> = None;
        for op in ir::ops(body) {
            match (ir::op_name(op), &mut layer) {
                ("graph.constant" | "graph.yield", _) => {}
                ("graph.conv", None) => layer = Some(reader.conv(op)?),
                ("graph.gemm", None) => layer = Some(reader.gemm(op)?),
                ("graph.matmul", None) => layer = Some(reader.matmul(op)?),
                ("graph.add", Some(layer)) => reader.add(op, layer)?,
                ("graph.relu", Some(layer)) if layer.activation == Activation::None => {
                    layer.activation = Activation::Relu;
                }
                ("graph.clip", Some(layer)) if layer.activation == Activation::None => {
                    layer.activation = reader.clip(op)?;
                }
                (name, _) => {
                    return Err(unsupported(format!("{name} at this place of its decomposition")));
                }
            }
        }
        layer.ok_or_else(|| unsupported("a decomposition without conv, gemm or matmul"))
    }

    /// Number of output channels.
    pub fn out_c(&self) -> usize {
        self.weights.out_c()
    }

    fn new(kind: Kind, input: usize, weights: Weights<'c>) -> Self {
        Self {
            kind,
            input,
            weights,
            bias: None,
            strides: [1; 2],
            dilations: [1; 2],
            pads: [0; 2],
            activation: Activation::None,
        }
    }

    fn add_bias(&mut self, values: impl Iterator<Item = f32>) {
        let count = self.out_c();
        let bias = self.bias.get_or_insert_with(|| vec![0.0; count]);
        bias.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

fn unsupported(what: impl std::fmt::Display) -> Error {
    Error::unsupported(format!(
        "is for vanilla, which cannot compute {what}: the predicates of its patterns have to \
         refuse it"
    ))
}

fn pair(list: Option<Vec<i64>>, default: i64) -> Result<[i64; 2]> {
    match list.unwrap_or_default()[..] {
        [] => Ok([default; 2]),
        [a, b] => Ok([a, b]),
        _ => Err(unsupported("a convolution that is not two-dimensional")),
    }
}

impl<'c> Reader<'c> {
    fn source(&self, value: Val<'c>) -> Source<'c> {
        if let Some(elements) = Elements::of_value(value) {
            return Source::Constant(elements);
        }
        let outside = edit::owner_block(value)
            .and_then(|(_, index)| ir::operands(self.composite).get(index).copied());
        outside.and_then(Elements::of_value).map_or(Source::Computed, Source::Constant)
    }

    fn input(&self, op: Op<'c>) -> Result<usize> {
        let value: Val<'c> = op.operand(0)?;
        let ty = value.r#type();
        if ir::static_dims(ty).is_none_or(|dims| dims.contains(&0)) {
            return Err(unsupported(format!("an input of type {ty}")));
        }
        let owner = edit::owner_block(value).map(|(block, index)| (block == self.body, index));
        match owner {
            Some((true, index)) => Ok(index),
            _ => Err(unsupported("a layer whose input is computed or constant inside of it")),
        }
    }

    fn constant(&self, op: Op<'c>, index: usize, what: &str) -> Result<Elements<'c>> {
        match self.source(op.operand(index)?) {
            Source::Constant(elements)
                if ir::element_type(elements.r#type()).to_string() == "f32" =>
            {
                Ok(elements)
            }
            _ => Err(unsupported(format!("{what} that is not an f32 constant"))),
        }
    }

    fn conv(&self, op: Op<'c>) -> Result<Layer<'c>> {
        let weights = self.constant(op, 1, "a weight")?;
        let [out_c, in_c, kh, kw] = ir::dims(weights.r#type())[..] else {
            return Err(unsupported("a convolution that is not two-dimensional"));
        };
        let group = ir::attr_i64(op, "group").unwrap_or(1);
        let kind = match (group, in_c) {
            (1, _) => Kind::Conv2d,
            (_, 1) if group == out_c => Kind::Depthwise,
            _ => return Err(unsupported(format!("a convolution of {group} groups"))),
        };
        let weights = Weights::conv(weights, [out_c, in_c, kh * kw]);
        let mut layer = Layer::new(kind, self.input(op)?, weights);
        layer.strides = pair(ir::attr_i64s(op, "strides"), 1)?;
        layer.dilations = pair(ir::attr_i64s(op, "dilations"), 1)?;
        let pads = ir::attr_i64s(op, "pads").unwrap_or_default();
        if pads.iter().any(|pad| *pad < 0) {
            return Err(unsupported("negative padding"));
        }
        layer.pads = pair(Some(pads.into_iter().take(2).collect()), 0)?;
        if op.operand_count() > 2 {
            let bias = self.constant(op, 2, "a bias")?;
            layer.add_bias((0..out_c as usize).map(|i| bias.float(i) as f32));
        }
        Ok(layer)
    }

    fn gemm(&self, op: Op<'c>) -> Result<Layer<'c>> {
        if ir::attr_bool(op, "trans_a").unwrap_or(false) {
            return Err(unsupported("a transposed input"));
        }
        let factor = |name| ir::attr_f64(op, name).unwrap_or(1.0) as f32;
        let transposed = ir::attr_bool(op, "trans_b").unwrap_or(false);
        let mut layer = self.dense(op, transposed, factor("alpha"))?;
        if op.operand_count() > 2 {
            let values = self.per_channel(op, 2, layer.out_c())?;
            let beta = factor("beta");
            layer.add_bias(values.into_iter().map(|value| beta * value));
        }
        Ok(layer)
    }

    fn matmul(&self, op: Op<'c>) -> Result<Layer<'c>> {
        let rank = ir::dims(Val::r#type(&op.operand(0)?)).len();
        if rank != 2 {
            return Err(unsupported(format!("a product of rank {rank}")));
        }
        self.dense(op, false, 1.0)
    }

    fn dense(&self, op: Op<'c>, transposed: bool, scale: f32) -> Result<Layer<'c>> {
        let weights = self.constant(op, 1, "a weight")?;
        let [rows, columns] = ir::dims(weights.r#type())[..] else {
            return Err(unsupported("weights that are not a matrix"));
        };
        let weights = if transposed {
            Weights::conv(weights, [rows, columns, 1])
        } else {
            Weights::matrix(weights, [columns, rows])
        };
        Ok(Layer::new(Kind::Dense, self.input(op)?, weights.scaled(scale)))
    }

    /// Operand `index`, broadcast to one number per output channel.
    fn per_channel(&self, op: Op<'c>, index: usize, channels: usize) -> Result<Vec<f32>> {
        let values = self.constant(op, index, "a bias")?;
        let rank = ir::dims(ir::result0(op).r#type()).len();
        let dims = ir::dims(values.r#type());
        // Channels are the second dimension of an image, and the last of a matrix.
        let behind = if rank == 4 { 2 } else { 0 };
        let per_channel = values.len() == channels
            && dims.len() > behind
            && dims[dims.len() - 1 - behind] == channels as i64;
        if values.len() != 1 && !per_channel {
            return Err(unsupported(format!("a bias of type {}", values.r#type())));
        }
        let at = |channel| if values.len() == 1 { 0 } else { channel };
        Ok((0..channels).map(|channel| values.float(at(channel)) as f32).collect())
    }

    fn add(&self, op: Op<'c>, layer: &mut Layer<'c>) -> Result<()> {
        if layer.activation != Activation::None {
            return Err(unsupported("an addition after the activation"));
        }
        let lhs_is_constant = matches!(self.source(op.operand(0)?), Source::Constant(_));
        let values = self.per_channel(op, usize::from(!lhs_is_constant), layer.out_c())?;
        layer.add_bias(values.into_iter());
        Ok(())
    }

    fn clip(&self, op: Op<'c>) -> Result<Activation> {
        let bounds: Vec<f64> = (1..op.operand_count())
            .map(|index| Ok(self.constant(op, index, "a bound")?.float(0)))
            .collect::<Result<_>>()?;
        match bounds[..] {
            [0.0, 6.0] => Ok(Activation::Relu6),
            _ => Err(unsupported("a clip other than to [0, 6]")),
        }
    }
}
