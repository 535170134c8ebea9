//! Moves images from NCHW, which models have, to NHWC, which host kernels read. The names stand
//! for images of any rank: NCW and NWC, NCDHW and NDHWC.

mod constant;
mod norm;
mod phases;
mod rules;
mod transposed;
mod wrap;

use crate::{
    Result,
    host::kernel::recognize::{IMAGE_RANKS, computed_dims, windowed::pool},
    ir::{
        self, Builder, Op, OpSpec, Val, constant::Elements, edit, graph, names, op_name,
        view::OpView,
    },
};
use melior::ir::{Type, ValueLike, r#type::RankedTensorType};
use std::collections::HashMap;

/// Permutation of `graph.transpose` from NCHW of a rank to NHWC.
fn to_nhwc(rank: usize) -> Vec<i64> {
    [0].into_iter().chain(2..rank as i64).chain([1]).collect()
}

/// Permutation from NHWC back to NCHW.
fn to_nchw(rank: usize) -> Vec<i64> {
    [0, rank as i64 - 1].into_iter().chain(1..rank as i64 - 1).collect()
}

/// Position in NHWC of a dimension of NCHW.
fn axis_in_nhwc(axis: usize, rank: usize) -> i64 {
    to_nchw(rank)[axis.min(rank - 1)]
}

/// The state of the walk over a function.
pub struct Layout<'c> {
    target: String,
    /// The NHWC form of images, by the pointer of their NCHW form.
    nhwc_of: HashMap<ir::Id, Val<'c>>,
    /// Transpositions that were made, which may turn out to have no use.
    made: Vec<Op<'c>>,
    /// Number of constants made.
    constants: usize,
}

fn permuted(dims: &[i64], perm: &[i64]) -> Vec<i64> {
    perm.iter().map(|axis| dims[*axis as usize]).collect()
}

/// The type with its dimensions in another order.
fn permuted_type<'c>(ty: Type<'c>, perm: &[i64]) -> Type<'c> {
    let dims: Vec<u64> = permuted(&ir::dims(ty), perm).into_iter().map(|dim| dim as u64).collect();
    RankedTensorType::new(&dims, ir::element_type(ty), None).into()
}

/// The dimensions of a static tensor that may be an image.
fn image_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let ty = value.r#type();
    let dims = if ir::is_tensor(ty) { ir::static_dims(ty)? } else { return None };
    IMAGE_RANKS.contains(&dims.len()).then_some(dims)
}

impl<'c> Layout<'c> {
    /// Assigns layouts in the first block of a function.
    pub fn assign(function: Op<'c>) -> Result<()> {
        let Some(block) = edit::entry_block(function) else { return Ok(()) };
        let target = ir::attr_str(function, names::TARGET).unwrap_or_else(|| "llvm".to_owned());
        let mut layout = Self { target, nhwc_of: HashMap::new(), made: vec![], constants: 0 };
        for op in ir::ops(block) {
            layout.visit(op)?;
        }
        // Later ones may use earlier ones.
        for op in layout.made.into_iter().rev() {
            if ir::users_of(op).is_empty() {
                edit::erase(op);
            }
        }
        Ok(())
    }

    fn visit(&mut self, op: Op<'c>) -> Result<()> {
        match op_name(op) {
            graph::Transpose::NAME => self.visit_transpose(op),
            graph::Reshape::NAME => self.visit_reshape(op),
            graph::Conv::NAME | graph::ConvInteger::NAME if is_image_conv(op) => {
                self.wrap(op)?;
                Ok(())
            }
            graph::ConvTranspose::NAME => self.visit_transposed(op),
            _ => match pool(op) {
                Some((x, _)) if self.is_nhwc(x) && computed_dims(x).is_some() => {
                    self.wrap(op)?;
                    Ok(())
                }
                _ if norm::normalize(self, op)? => Ok(()),
                _ => rules::follow(self, op),
            },
        }
    }

    fn is_nhwc(&self, value: Val<'c>) -> bool {
        self.nhwc_of.contains_key(&ir::id(value))
    }

    /// A transposition in the model may already be one between the two layouts.
    fn visit_transpose(&mut self, op: Op<'c>) -> Result<()> {
        let Some(transpose) = graph::Transpose::of(op) else { return Ok(()) };
        let (x, perm, result) = (transpose.x(), transpose.perm(), transpose.y());
        if image_dims(x).is_none() {
            return Ok(());
        }
        let rank = perm.len();
        if perm == to_nhwc(rank)
            && let Some(nhwc) = self.nhwc_of.get(&ir::id(x))
            && nhwc.r#type() == result.r#type()
        {
            edit::replace_uses(result, *nhwc);
            edit::erase(op);
        } else if perm == to_nchw(rank) && (rank == 4 || is_read_as_image(result)) {
            self.nhwc_of.insert(ir::id(result), x);
            self.made.push(op);
        }
        Ok(())
    }

    /// Reshapes between tokens, `[N, L, C]`, and an image. The places of an image become more or
    /// fewer dimensions; with channels last that takes no more than another reshape.
    fn visit_reshape(&mut self, op: Op<'c>) -> Result<()> {
        let Some(reshape) = graph::Reshape::of(op) else { return Ok(()) };
        let (x, y) = (reshape.x(), reshape.y());
        let Some(nhwc) = self.nhwc_of.get(&ir::id(x)).copied() else { return Ok(()) };
        let (Some(from), Some(to)) = (image_dims(x), image_dims(y)) else { return Ok(()) };
        if from[..2] != to[..2] || !(to.len() == 4 || is_read_as_image(y)) {
            return Ok(());
        }
        let b = Builder::before(op)?;
        let shape = self.shape_constant(&b, &permuted(&to, &to_nhwc(to.len())))?;
        let ty = permuted_type(y.r#type(), &to_nhwc(to.len()));
        let spec = OpSpec { operands: &[nhwc, shape], results: &[ty], ..Default::default() };
        let made = b.create(graph::Reshape::NAME, spec)?;
        self.made.extend([op, made]);
        self.nhwc_of.insert(ir::id(y), ir::result0(made)?);
        Ok(())
    }

    /// The NHWC form of an image.
    fn nhwc(&mut self, b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
        if let Some(nhwc) = self.nhwc_of.get(&ir::id(value)) {
            return Ok(*nhwc);
        }
        let nhwc = self.permute(b, value, &to_nhwc(ir::dims(value.r#type()).len()))?;
        self.nhwc_of.insert(ir::id(value), nhwc);
        Ok(nhwc)
    }

    /// A transposition, or a reshape when only dimensions of size 1 change places.
    fn permute(&mut self, b: &Builder<'c>, value: Val<'c>, perm: &[i64]) -> Result<Val<'c>> {
        let dims = ir::dims(value.r#type());
        let moving: Vec<i64> =
            perm.iter().copied().filter(|axis| dims[*axis as usize] != 1).collect();
        let made = if moving.is_sorted() {
            let ty = permuted_type(value.r#type(), perm);
            let shape = self.shape_constant(b, &ir::dims(ty))?;
            let spec = OpSpec { operands: &[value, shape], results: &[ty], ..Default::default() };
            b.create(graph::Reshape::NAME, spec)?
        } else {
            graph::Transpose::build(b, value, perm)?.op()
        };
        self.made.push(made);
        ir::result0(made)
    }

    /// A constant list of sizes.
    fn shape_constant(&mut self, b: &Builder<'c>, dims: &[i64]) -> Result<Val<'c>> {
        let list = int_list(b, dims)?;
        self.made.extend(edit::defining_op(list));
        Ok(list)
    }

    /// Puts `replacement`, on NHWC, in place of the result `old`, on NCHW.
    fn replace(&mut self, b: &Builder<'c>, old: Val<'c>, replacement: Val<'c>) -> Result<()> {
        let back = self.permute(b, replacement, &to_nchw(ir::dims(old.r#type()).len()))?;
        edit::replace_uses(old, back);
        self.nhwc_of.insert(ir::id(back), replacement);
        Ok(())
    }
}

/// A `graph.constant` with a list of integers.
pub(super) fn int_list<'c>(b: &Builder<'c>, values: &[i64]) -> Result<Val<'c>> {
    let ty = b.tensor(&[values.len() as i64], b.int(64));
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    let attribute = b.parse_attr(&format!("dense<[{}]> : {ty}", texts.join(", ")))?;
    Ok(graph::Constant::build(b, attribute)?.y())
}

fn is_image_conv(op: Op<'_>) -> bool {
    let [x, w, ..] = ir::operands(op)[..] else { return false };
    let image = |v| computed_dims(v).is_some_and(|d| IMAGE_RANKS.contains(&d.len()));
    // Kernels pack integers when a model is compiled.
    let packs = graph::Conv::is(op) || Elements::of_value(w).is_some();
    image(x) && image(w) && packs && ir::result0(op).is_ok_and(|y| computed_dims(y).is_some())
}

/// True for a value of any rank with a user that reads images. Such are a convolution, a
/// transposition that puts its channels last, and a reshape that makes a matrix of points out of
/// it.
fn is_read_as_image(value: Val<'_>) -> bool {
    let dims = ir::dims(value.r#type());
    ir::users(value).into_iter().any(|user| {
        let transposed = graph::ConvTranspose::of(user).is_some_and(|conv| conv.x() == value);
        let last = graph::Transpose::of(user)
            .is_some_and(|transpose| transpose.perm() == to_nhwc(dims.len()));
        let reshaped = graph::Reshape::of(user).is_some_and(|reshape| {
            let to = ir::dims(reshape.y().r#type());
            to.len() == 4 && to[..2] == dims[..2]
        });
        let image = is_image_conv(user) && ir::operands(user).first() == Some(&value);
        transposed || last || reshaped || image
    })
}
