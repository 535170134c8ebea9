//! Recognition of composites that have a kernel, and construction of that kernel.

pub mod attention;
mod form;
mod integer;
mod part;
pub mod points;
mod product;
mod sections;
mod steps;
pub mod stored;
pub mod windowed;

pub use self::{
    form::{Form, broadcast_strides, operand_view},
    part::Part,
};
use super::{
    Buffer, Contraction, Depthwise, Element, Found, HostKernel, Kind, Types, View,
    program::Program,
    weights::Source,
    window::{AXES, spread},
};
use crate::{
    ir::{
        self, Op, Val,
        constant::Elements,
        graph, op_name,
        view::{OpView, is_elementwise},
    },
    lower::normalize_axis,
};
use form::{collapse, matrix_steps, product_form};
use melior::ir::{BlockLike, ValueLike, operation::OperationLike};
use std::ops::RangeInclusive;

/// Names of composites that compute on NHWC what one op inside computes on NCHW.
pub const NHWC: &str = "nhwc.";

/// Ranks of images: batch, channels, and one to three spatial dimensions.
pub const IMAGE_RANKS: RangeInclusive<usize> = 3..=2 + AXES;

/// The kernel of a composite.
#[derive(Debug)]
pub enum Kernel {
    /// Convolution or product.
    Contraction(Contraction),
    /// Depthwise convolution or pool.
    Depthwise(Depthwise),
    /// Kernel without packed weights.
    Other {
        /// The kernel.
        kernel: Box<dyn HostKernel>,
        /// The dimensions of its result are those of an image, not of matrices.
        images: bool,
    },
}

impl Kernel {
    /// Element types.
    pub fn types(&self) -> Types {
        match self {
            Self::Contraction(spec) => spec.types,
            Self::Depthwise(spec) => spec.types,
            Self::Other { kernel, .. } => kernel.types(),
        }
    }
}

/// The operand with the weights.
#[derive(Clone, Debug)]
pub struct WeightsOperand {
    /// Index of the composite's operand.
    pub operand: usize,
    /// Memory layout of the weights, if they are constant and are to be packed.
    pub source: Option<Source>,
    /// Factor of the weights, applied when they are packed.
    pub scale: f64,
    /// The weights themselves less their zero points, if they are integers.
    pub integers: Option<Vec<i16>>,
    /// The same, if they are floats that bf16 has and that have factors.
    pub floats: Option<Vec<f32>>,
    /// Factors of either, `[block of the reduction][channel]`, if products are of floats.
    pub scales: Option<Vec<f32>>,
}

/// The zero point of an image of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroPoint {
    /// Known.
    Known(i64),
    /// An operand of the composite.
    Operand(usize),
}

/// Initial values of sums of integers.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// The zero point of the image.
    pub zero: ZeroPoint,
    /// An operand of the composite, a constant, that is added.
    pub bias: Option<usize>,
}

/// A composite that has a kernel.
pub struct Recognized<'c> {
    /// The kernel.
    pub kernel: Kernel,
    /// A word for names: `conv`, `matmul`.
    pub kind: &'static str,
    /// The operand of the composite that is the input.
    pub x: usize,
    /// The weights.
    pub weights: Option<WeightsOperand>,
    /// Initial values of the sums, if they are of integers.
    pub sums: Option<Sums>,
    /// An operand that is added to the result, and its factor.
    bias: Option<(usize, f64)>,
    /// The operands of the composite that the epilogue uses.
    pub operands: Vec<usize>,
    /// The epilogue.
    pub program: Program<'c>,
    /// The result is written to the part that was asked for.
    pub placed: bool,
}

/// Looks at a composite of the host. `None` means that it has no kernel.
pub fn recognize<'c>(composite: Op<'c>) -> Option<Recognized<'c>> {
    recognize_part(composite, None)
}

/// The same for a composite whose result is to be written into a larger buffer, if the kernel can.
pub fn recognize_part<'c>(composite: Op<'c>, part: Option<&Part>) -> Option<Recognized<'c>> {
    let alone = ir::attr_str(composite, "name")?.starts_with(NHWC);
    let results = ir::results(composite);
    let [y] = results[..] else { return None };
    let out = Buffer::of(y)?.shape;
    if out.contains(&0) {
        return None;
    }
    let body = ir::ops_of(composite);
    let (root, rest) = if alone { (composite, &[][..]) } else { (*body.first()?, &body[1..]) };
    let scope = Scope { composite, out: &out, form: product_form(root, &out)? };
    let mut found = scope.root(root)?;
    let value = if alone { None } else { Some(ir::result0(root).ok()?) };
    scope.epilogue(&mut found, value, rest)?;
    found.placed = part.is_some_and(|part| scope.place(&mut found, part));
    if let Kernel::Contraction(spec) = &mut found.kernel {
        if let Some(weights) = &found.weights {
            spec.sections = sections::sections(spec, weights, scope.outer(weights.operand));
        }
        points::rows_as_columns(spec);
        points::flatten(spec);
    }
    Some(found)
}

/// The dimensions of a static tensor of floats that kernels have.
pub fn float_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let buffer = Buffer::of(value)?;
    buffer.element.is_float().then_some(buffer.shape)
}

/// The dimensions of a static f32 tensor.
pub fn f32_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let buffer = Buffer::of(value)?;
    (buffer.element == Element::F32).then_some(buffer.shape)
}

/// The dimensions of a static tensor of elements that anchor ops read and compute; 16-bit floats
/// are only stored.
pub fn computed_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let is_half = |buffer: &Buffer| matches!(buffer.element, Element::F16 | Element::BF16);
    Buffer::of(value).filter(|it| it.element != Element::Bool && !is_half(it)).map(|it| it.shape)
}

/// The dimensions of a static tensor whose elements kernels store.
pub fn kernel_dims(value: Val<'_>) -> Option<Vec<i64>> {
    Buffer::of(value).filter(|buffer| buffer.element != Element::Bool).map(|buffer| buffer.shape)
}

/// The dimensions of a static tensor that epilogues can read.
pub fn operand_dims(value: Val<'_>) -> Option<Vec<i64>> {
    Buffer::of(value).map(|buffer| buffer.shape)
}

/// True if an operand of a step is the table that it looks things up in.
pub fn is_table<'c>(op: Op<'c>, operand: Val<'c>) -> bool {
    graph::Lookup::of(op).is_some_and(|lookup| lookup.table() == operand)
}

/// True if a kernel can take an op of these operands and result into its epilogue. Such an op is
/// elementwise, looks elements up in a table, or quantizes or dequantizes with parameters that
/// broadcast.
pub fn is_step(op: Op<'_>) -> bool {
    if is_elementwise(op) || graph::Lookup::of(op).is_some() {
        return true;
    }
    let (integer, real, axis, block) =
        match (graph::QuantizeLinear::of(op), graph::DequantizeLinear::of(op)) {
            (Some(op), _) => (op.y(), op.x(), op.axis(), op.block_size()),
            (_, Some(op)) => (op.x(), op.y(), op.axis(), op.block_size()),
            _ => return false,
        };
    let element = |value: Val<'_>| Element::of(value.r#type());
    let rank = ir::dims(real.r#type()).len();
    // Lists of parameters lie along the last dimension.
    let last = normalize_axis(axis, rank) + 1 == rank;
    let broadcasts = |value: &Val<'_>| {
        let dims = ir::dims(value.r#type());
        dims.iter().all(|dim| *dim == 1) || (dims.len() == 1 && last)
    };
    let operands = ir::operands(op);
    let integers = element(integer).is_some_and(|e| {
        e.is_byte() || (e == Element::I32 && integer == operands[0] && operands.len() == 2)
    });
    integers
        && element(real) == Some(Element::F32)
        && block == 0
        && operands.get(1).and_then(|scale| element(*scale)) == Some(Element::F32)
        && operands[1..].iter().all(broadcasts)
}

/// The composite at hand.
pub struct Scope<'s, 'c> {
    /// The composite.
    pub composite: Op<'c>,
    /// Dimensions of the result.
    pub out: &'s [i64],
    /// Form of the result of a product.
    form: Form,
}

impl<'c> Scope<'_, 'c> {
    /// The operand of the composite that a value inside stands for.
    pub fn operand(&self, value: Val<'c>) -> Option<usize> {
        if let Some(op) = ir::edit::defining_op(value) {
            // In `nhwc.*` operands are transposed first.
            return self.operand(graph::Transpose::of(op)?.x());
        }
        let (block, index) = ir::edit::owner_block(value)?;
        let parent = block.parent_operation()?;
        if ir::edit::same(parent, self.composite) {
            return Some(index);
        }
        self.operand(parent.operand(index).ok()?)
    }

    fn outer(&self, operand: usize) -> Option<Val<'c>> {
        self.composite.operand(operand).ok()
    }

    /// The dimensions of an operand whose elements kernels have.
    fn dims(&self, operand: usize) -> Option<Vec<i64>> {
        kernel_dims(self.outer(operand)?).filter(|dims| !dims.contains(&0))
    }

    fn element(&self, operand: usize) -> Option<Element> {
        Element::of(self.outer(operand)?.r#type())
    }

    /// The types of a sum of products of two operands of one type of floats.
    fn floats(&self, a: usize, b: usize) -> Option<Types> {
        let element = self.element(a)?;
        let fits = element.is_float() && self.element(b)? == element;
        fits.then(|| Types::uniform(element))
    }

    /// The integers of a constant operand.
    fn integers(&self, operand: usize) -> Option<Vec<i64>> {
        Some(Elements::of_value(self.outer(operand)?)?.ints())
    }

    fn is_constant(&self, operand: usize) -> bool {
        self.outer(operand).is_some_and(|value| Elements::of_value(value).is_some())
    }

    fn root(&self, root: Op<'c>) -> Option<Recognized<'c>> {
        match op_name(root) {
            graph::MatMul::NAME => self.matmul(root),
            graph::MatMulInteger::NAME => self.matmul_integer(root),
            graph::Gemm::NAME => self.gemm(root),
            graph::Composite::NAME if ir::attr_str(root, "name")?.starts_with(NHWC) => {
                let inner = ir::ops_of(root)
                    .into_iter()
                    .find(|op| !graph::Transpose::is(*op) && !graph::Yield::is(*op))?;
                if !IMAGE_RANKS.contains(&self.out.len()) {
                    return None;
                }
                match op_name(inner) {
                    graph::Conv::NAME => self.conv(inner),
                    graph::ConvInteger::NAME => self.conv_integer(inner),
                    _ => self.pool(inner),
                }
            }
            _ => {
                let (kind, name) = Kind::of(root)?;
                let Found { kernel, x } = (kind.recognize)(self, root)?;
                Some(self.found(name, Kernel::Other { kernel, images: kind.images }, x))
            }
        }
    }

    /// The batch and the output points along each axis, of images.
    fn grid(&self) -> Option<(i64, [i64; AXES])> {
        let (batch, rest) = self.out.split_first()?;
        let (_, spatial) = rest.split_last()?;
        Some((*batch, spread(spatial, 1)?))
    }

    fn found(&self, kind: &'static str, kernel: Kernel, x: usize) -> Recognized<'c> {
        Recognized {
            kernel,
            kind,
            x,
            weights: None,
            sums: None,
            bias: None,
            operands: vec![],
            program: Program::default(),
            placed: false,
        }
    }
}
