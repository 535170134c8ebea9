//! Scales and zero points that are known.

use crate::Result;
use crate::{
    host::kernel::{Element, weights},
    ir::{self, Builder, Op, Val, constant::Elements, edit, graph, view::OpView},
};
use melior::ir::ValueLike;

/// Integers of 8 bits and what they stand for.
pub struct Quantized<'c> {
    /// The integers.
    pub value: Val<'c>,
    /// One scale for all, or one for each position along an axis.
    pub scales: Vec<f32>,
    /// The zero point, of which there may be none, one, or as many as scales.
    pub zero: Option<Val<'c>>,
}

impl<'c> Quantized<'c> {
    /// Integers with these parameters; none if they are of other types or not known.
    pub fn new(value: Val<'c>, scale: Val<'c>, zero: Option<Val<'c>>) -> Option<Self> {
        Element::of(value.r#type()).filter(|element| element.is_byte())?;
        ir::static_dims(value.r#type())?;
        // A zero point of rank 1 and one element is no scalar to the sums.
        let known = |zero: Val<'c>| Elements::of_value(zero).is_some();
        if zero.is_some_and(|zero| !known(zero)) {
            return None;
        }
        Some(Self { value, scales: floats(scale)?, zero })
    }

    /// Integers and parameters of a dequantized value. Lists of scales lie along `axis`.
    pub fn of(value: Val<'c>, axis: usize) -> Option<Self> {
        let op = graph::DequantizeLinear::of(edit::defining_op(value)?)?;
        let found = Self::new(op.x(), op.scale(), op.zero_point())?;
        let rank = ir::dims(value.r#type()).len();
        let along = crate::lower::normalize_axis(op.axis(), rank) == axis;
        (op.block_size() == 0 && (found.is_per_tensor() || along)).then_some(found)
    }

    /// True for one scale and at most one zero point, without dimensions.
    pub fn is_per_tensor(&self) -> bool {
        let scalar = self.zero.is_none_or(|zero| ir::dims(zero.r#type()).is_empty());
        self.scales.len() == 1 && scalar
    }

    /// True if the integers are a constant.
    pub fn is_constant(&self) -> bool {
        Elements::of_value(self.value).is_some()
    }
}

/// The numbers of a constant that is dequantized.
pub fn dequantized(value: Val<'_>) -> Option<Vec<f32>> {
    let op = graph::DequantizeLinear::of(edit::defining_op(value)?)?;
    let elements = Elements::of_value(op.x())?;
    let scales = floats(op.scale())?;
    let zeros = match op.zero_point() {
        Some(zero) => Elements::of_value(zero)?.floats(),
        None => vec![0.0],
    };
    let dims = ir::static_dims(value.r#type())?;
    let bits = ir::types::bits(ir::element_type(op.x().r#type()))?;
    if !(bits <= 8 || bits == 32) || elements.len() > MAX_DEQUANTIZED {
        return None;
    }
    let axis = crate::lower::normalize_axis(op.axis(), dims.len());
    let size = dims.get(axis).copied().unwrap_or(1) as usize;
    let inner: usize = dims.iter().skip(axis + 1).product::<i64>() as usize;
    let block = op.block_size() as usize;
    let parameter = |i: usize| match block {
        0 => i / inner % size,
        // Parameters have the shape of the tensor, with fewer positions along the axis.
        _ => {
            (i / (inner * size) * size.div_ceil(block) + i / inner % size / block) * inner
                + i % inner
        }
    };
    let number = |i: usize| {
        let along = parameter(i);
        let zero = zeros[if zeros.len() == 1 { 0 } else { along }];
        let scale = scales[if scales.len() == 1 { 0 } else { along }];
        (elements.float(i) - zero) as f32 * scale
    };
    Some((0..elements.len()).map(number).collect())
}

/// Elements that a constant may have to be dequantized when a model is compiled.
const MAX_DEQUANTIZED: usize = 1 << 28;
/// Elements from which on a constant stays as it is stored: weights that a product reads so, large tables.
const STAYS_STORED: usize = 1 << 14;

/// Puts the numbers in place of a small constant that is dequantized.
pub fn fold(op: graph::DequantizeLinear<'_>) -> Result<()> {
    let value = op.y();
    let few = Elements::of_value(op.x()).is_some_and(|elements| elements.len() < STAYS_STORED);
    if !few || Element::of(value.r#type()) != Some(Element::F32) {
        return Ok(());
    }
    if let Some(numbers) = dequantized(value) {
        let b = Builder::before(op.op())?;
        let dims = ir::dims(value.r#type());
        edit::replace_uses(value, weights::constant(&b, &dims, numbers, "dequantized")?);
    }
    Ok(())
}

/// The elements of a constant of f32.
pub fn floats(value: Val<'_>) -> Option<Vec<f32>> {
    (Element::of(value.r#type()) == Some(Element::F32)).then(|| weights::floats(value)).flatten()
}

/// The products of two lists, one of which may have one element for all.
pub fn products(a: &[f32], b: &[f32]) -> Vec<f32> {
    let count = a.len().max(b.len());
    let at = |list: &[f32], i: usize| list[if list.len() == 1 { 0 } else { i }];
    (0..count).map(|i| at(a, i) * at(b, i)).collect()
}

/// A constant with scales: a list, or a scalar if there is one.
pub fn scale<'c>(b: &Builder<'c>, scales: Vec<f32>) -> Result<Val<'c>> {
    let count = scales.len() as i64;
    let shape: &[i64] = if count == 1 { &[] } else { &[count] };
    weights::constant(b, shape, scales, "quantized_scales")
}

/// Bias of a layer's sums.
pub enum Bias {
    /// Integers with the scale of the sums.
    Integers(Vec<i32>),
    /// Real numbers.
    Reals(Vec<f32>),
}

impl Bias {
    /// The constant that a value is, or is dequantized from, for sums with these scales.
    pub fn of(value: Val<'_>, scales: &[f32]) -> Option<Self> {
        if let Some(reals) = floats(value) {
            return Some(Self::Reals(reals));
        }
        let op = graph::DequantizeLinear::of(edit::defining_op(value)?)?;
        let elements = Elements::of_value(op.x())?;
        let own = floats(op.scale())?;
        let zeros = match op.zero_point() {
            Some(zero) => Elements::of_value(zero)?.ints(),
            None => vec![],
        };
        if op.block_size() != 0 || ir::dims(value.r#type()).len() > 1 {
            return None;
        }
        let zero = |i: usize| zeros.get(i).or(zeros.first()).copied().unwrap_or(0);
        let at = |list: &[f32], i: usize| list[if list.len() == 1 { 0 } else { i }];
        let same = (0..elements.len()).all(|i| {
            let (own, sums) = (at(&own, i), at(scales, i));
            (own - sums).abs() <= sums.abs() * SAME_SCALE
        });
        let centered = (0..elements.len()).map(|i| elements.int(i) - zero(i));
        if same && let Ok(integers) = centered.clone().map(i32::try_from).collect() {
            return Some(Self::Integers(integers));
        }
        Some(Self::Reals(centered.enumerate().map(|(i, v)| v as f32 * at(&own, i)).collect()))
    }
}

/// Scales of a bias and of sums that differ by less than this part come from the same numbers.
const SAME_SCALE: f32 = 1e-6;

/// True if two parameters are constants of the same one element.
pub fn is_same_number(a: Val<'_>, b: Val<'_>) -> bool {
    let number = |value| {
        let elements = Elements::of_value(value)?;
        (elements.len() == 1).then(|| elements.float(0))
    };
    number(a).is_some() && number(a) == number(b)
}

/// True if the only use of an operation's result is `user`.
pub fn is_only_user(op: Op<'_>, user: Op<'_>) -> bool {
    matches!(ir::users_of(op)[..], [only] if edit::same(only, user))
}
