//! Moves images from NCHW, which models have, to NHWC, which host kernels read.

mod rules;

use crate::{
    Result,
    host::kernel::{
        Element,
        recognize::{NHWC, kernel_dims},
        weights,
    },
    ir::{self, Builder, Op, OpSpec, Val, constant::Elements, edit, names, op_name},
};
use melior::ir::{
    Block, Region, RegionLike, Type, ValueLike, block::BlockLike, operation::OperationLike,
    r#type::RankedTensorType,
};
use mlir_sys as sys;
use std::collections::HashMap;

/// What `graph.transpose` takes NCHW to NHWC with.
const TO_NHWC: [i64; 4] = [0, 2, 3, 1];
/// What it takes NHWC back to NCHW with.
const TO_NCHW: [i64; 4] = [0, 3, 1, 2];
/// Where each dimension of NCHW is in NHWC.
const AXIS_IN_NHWC: [i64; 4] = [0, 3, 1, 2];

/// The state of the walk over a function.
pub struct Layout<'c> {
    target: String,
    /// The NHWC form of values of rank 4, by the pointer of their NCHW form.
    twins: HashMap<usize, Val<'c>>,
    /// Transpositions that were made, which may turn out to have no use.
    made: Vec<Op<'c>>,
    /// Number of constants made.
    constants: usize,
}

fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

fn permuted(dims: &[i64], perm: &[i64]) -> Vec<i64> {
    perm.iter().map(|axis| dims[*axis as usize]).collect()
}

/// The type with its dimensions in another order.
fn permuted_type<'c>(ty: Type<'c>, perm: &[i64]) -> Type<'c> {
    let dims: Vec<u64> = permuted(&ir::dims(ty), perm).into_iter().map(|dim| dim as u64).collect();
    RankedTensorType::new(&dims, ir::element_type(ty), None).into()
}

/// A static tensor of rank 4.
fn image_dims(value: Val<'_>) -> Option<Vec<i64>> {
    let ty = value.r#type();
    let dims = if ir::is_tensor(ty) { ir::static_dims(ty)? } else { return None };
    (dims.len() == 4).then_some(dims)
}

impl<'c> Layout<'c> {
    /// Assigns layouts in the first block of a function.
    pub fn assign(function: Op<'c>) -> Result<()> {
        let Some(block) = edit::entry_block(function) else { return Ok(()) };
        let target = ir::attr_str(function, names::TARGET).unwrap_or_else(|| "llvm".to_owned());
        let mut layout = Self { target, twins: HashMap::new(), made: vec![], constants: 0 };
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
            "graph.transpose" => self.visit_transpose(op),
            "graph.conv" | "graph.conv_integer" if is_image_conv(op) => self.wrap(op),
            "graph.max_pool"
            | "graph.average_pool"
            | "graph.global_average_pool"
            | "graph.global_max_pool"
                if self.is_nhwc(op.operand(0)?) && kernel_dims(op.operand(0)?).is_some() =>
            {
                self.wrap(op)
            }
            _ => rules::follow(self, op),
        }
    }

    fn is_nhwc(&self, value: Val<'c>) -> bool {
        self.twins.contains_key(&key(value))
    }

    /// A transposition in the model may already be one between the two layouts.
    fn visit_transpose(&mut self, op: Op<'c>) -> Result<()> {
        let (x, result) = (op.operand(0)?, ir::result0(op)?);
        let perm = ir::attr_i64s(op, "perm").unwrap_or_default();
        if image_dims(x).is_none() {
            return Ok(());
        }
        if perm == TO_NHWC
            && let Some(twin) = self.twins.get(&key(x))
            && twin.r#type() == result.r#type()
        {
            edit::replace_uses(result, *twin);
            edit::erase(op);
        } else if perm == TO_NCHW {
            self.twins.insert(key(result), x);
            self.made.push(op);
        }
        Ok(())
    }

    /// The NHWC form of a value of rank 4.
    fn nhwc(&mut self, b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
        if let Some(twin) = self.twins.get(&key(value)) {
            return Ok(*twin);
        }
        let twin = self.permute(b, value, &TO_NHWC)?;
        self.twins.insert(key(value), twin);
        Ok(twin)
    }

    /// A transposition, or a reshape when only dimensions of size 1 change places.
    fn permute(&mut self, b: &Builder<'c>, value: Val<'c>, perm: &[i64]) -> Result<Val<'c>> {
        let ty = permuted_type(value.r#type(), perm);
        let dims = ir::dims(value.r#type());
        let moving: Vec<i64> =
            perm.iter().copied().filter(|axis| dims[*axis as usize] != 1).collect();
        let made = if moving.is_sorted() {
            let shape = self.shape_constant(b, &ir::dims(ty))?;
            let spec = OpSpec { operands: &[value, shape], results: &[ty], ..Default::default() };
            b.create("graph.reshape", spec)?
        } else {
            let attributes = vec![("perm", b.i64s_attr(perm))];
            let spec =
                OpSpec { operands: &[value], results: &[ty], attributes, ..Default::default() };
            b.create("graph.transpose", spec)?
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
        let back = self.permute(b, replacement, &TO_NCHW)?;
        edit::replace_uses(old, back);
        self.twins.insert(key(back), replacement);
        Ok(())
    }

    /// Wraps a convolution or pool in a composite on NHWC.
    fn wrap(&mut self, op: Op<'c>) -> Result<()> {
        let b = Builder::before(op)?;
        let mut operands = vec![self.nhwc(&b, op.operand(0)?)?];
        operands.extend(ir::operands(op).into_iter().skip(1));
        let region = Region::new();
        let types: Vec<_> = operands.iter().map(|v| (v.r#type(), b.location)).collect();
        let block = region.append_block(Block::new(&types));
        // SAFETY: the block belongs to the region that the composite takes over.
        let block = unsafe { ir::Blk::from_raw(block.to_raw()) };
        let inner = Builder::at_end(b.context, block, b.location);
        let mut arguments = edit::arguments(block);
        let transpose = |value: Val<'c>, perm: &[i64]| {
            let attributes = vec![("perm", b.i64s_attr(perm))];
            let ty = permuted_type(value.r#type(), perm);
            inner.op1_with("graph.transpose", &[value], ty, attributes)
        };
        arguments[0] = transpose(arguments[0], &TO_NCHW)?;
        let copy = clone_at_end(block, op, &arguments);
        let result = transpose(ir::result0(copy)?, &TO_NHWC)?;
        inner.create("graph.yield", OpSpec { operands: &[result], ..Default::default() })?;
        let name = op_name(op).strip_prefix("graph.").unwrap_or_default();
        let attributes = vec![
            ("name", b.str_attr(&format!("{NHWC}{name}"))),
            ("target", b.str_attr(&self.target)),
        ];
        let composite = b.create(
            "graph.composite",
            OpSpec {
                operands: &operands,
                results: &[result.r#type()],
                attributes,
                regions: vec![region],
                infer: false,
            },
        )?;
        self.replace(&b, ir::result0(op)?, ir::result0(composite)?)?;
        edit::erase(op);
        Ok(())
    }

    /// A constant that broadcasts to images, for NHWC.
    fn constant(&mut self, b: &Builder<'c>, value: Val<'c>) -> Result<Option<Val<'c>>> {
        let dims = ir::dims(value.r#type());
        let Some(elements) = Elements::of_value(value) else { return Ok(None) };
        if elements.len() == 1 {
            return Ok(Some(value));
        }
        if dims.len() > 4 {
            return Ok(None);
        }
        let mut padded = vec![1; 4 - dims.len()];
        padded.extend(dims);
        let shape = permuted(&padded, &TO_NHWC);
        if elements.is_splat() && ir::element_type(value.r#type()) == b.f32() {
            return weights::splat(b, &shape, elements.float(0) as f32).map(Some);
        }
        let strides = strides(&padded);
        let steps = permuted(&strides, &TO_NHWC);
        let mut places = Vec::with_capacity(elements.len());
        for n in 0..shape[0] {
            for h in 0..shape[1] {
                for w in 0..shape[2] {
                    for c in 0..shape[3] {
                        let at = n * steps[0] + h * steps[1] + w * steps[2] + c * steps[3];
                        places.push(at as usize);
                    }
                }
            }
        }
        self.constants += 1;
        let name = format!("nhwc_{}", self.constants);
        if Element::of(value.r#type()) == Some(Element::I32) {
            let moved: Vec<i32> = places.into_iter().map(|at| elements.int(at) as i32).collect();
            return weights::constant(b, &shape, moved, &name).map(Some);
        }
        let Some(values) = weights::floats(value) else { return Ok(None) };
        let moved: Vec<f32> = places.into_iter().map(|at| values[at]).collect();
        weights::constant(b, &shape, moved, &name).map(Some)
    }
}

fn strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i] * dims[i];
    }
    strides
}

/// A `graph.constant` with a list of integers.
fn int_list<'c>(b: &Builder<'c>, values: &[i64]) -> Result<Val<'c>> {
    let ty = b.tensor(&[values.len() as i64], b.int(64));
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    let attribute = b.parse_attr(&format!("dense<[{}]> : {ty}", texts.join(", ")))?;
    b.op1_with("graph.constant", &[], ty, vec![("value", attribute)])
}

fn is_image_conv(op: Op<'_>) -> bool {
    let image =
        |index| op.operand(index).is_ok_and(|v| kernel_dims(v).is_some_and(|d| d.len() == 4));
    let constant = op.operand(1).is_ok_and(|w| Elements::of_value(w).is_some());
    image(0) && image(1) && constant && ir::result0(op).is_ok_and(|y| kernel_dims(y).is_some())
}

/// Appends a copy of `op` with other operands to a block.
fn clone_at_end<'c>(block: ir::Blk<'c>, op: Op<'c>, operands: &[Val<'c>]) -> Op<'c> {
    // SAFETY: the clone is new and the block takes it over; it has as many operands as `op`.
    unsafe {
        let clone = sys::mlirOperationClone(op.to_raw());
        for (index, operand) in operands.iter().enumerate() {
            sys::mlirOperationSetOperand(clone, index as isize, operand.to_raw());
        }
        sys::mlirBlockAppendOwnedOperation(block.to_raw(), clone);
        Op::from_raw(clone)
    }
}
