//! In-place concatenation: operands are computed into slices of the result.
//!
//! ```text
//! %a = composite ...                       %e = tensor.empty
//! %b = composite ...                       %1 = tir.call_extern @a ... outs(%e) {accumulate}
//! %y = graph.concat %a, %x, %b             %2 = tensor.insert_slice %x into %1
//!                                -->       %y = tir.call_extern @b ... outs(%2) {accumulate}
//! ```
//! The kernel of an operand that nothing else reads writes to the buffer of the whole. One that others read is
//! written twice, once for them: that costs a store, where a copy would read and write memory again.
//!
//! Each operand is put into the whole right after it was computed, so that bufferization sees one buffer from the first
//! of them on.
//!
//! A concatenation that is an operand of another along the same axis may be a slice of it. Its
//! readers must be able to read slices (kernels cannot) and come before the rest is written. A
//! network that appends to all that it has computed so far (DenseNet) then has one buffer and no
//! copies.

use super::kernel::recognize::Part;
use crate::{
    Result,
    ir::{
        self, Builder, Op, Val, edit, graph,
        view::{OpView, is_elementwise},
    },
    lower::{
        normalize_axis,
        shape::{self, LONGEST_CHAIN},
    },
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// An in-place concatenation.
struct Joint<'c> {
    concat: Op<'c>,
    /// Type of the result.
    ty: Type<'c>,
    axis: usize,
    /// Length of the chain of insertions that leads to it.
    chain: usize,
    /// First position of each operand along the axis; none for an operand that is in its place.
    starts: Vec<Option<i64>>,
    /// Index of the in-place concatenation that it is a slice of, and its first position there.
    parent: Option<(usize, i64)>,
    /// True if the whole is an allocation of its own, which keeps it from becoming part of
    /// something else.
    alloc: bool,
    /// The whole with the operands that are in their place so far.
    whole: Option<Val<'c>>,
}

/// The in-place concatenations of a function.
pub struct Joints<'c>(Vec<Joint<'c>>);

/// A slice of an in-place concatenation that a kernel can write its result to.
pub struct Place {
    joint: usize,
    operand: usize,
    /// The slice of the whole.
    pub part: Part,
}

impl<'c> Joints<'c> {
    /// The concatenations of static tensors among `ops` that have operands of which `has_kernel` says that they are
    /// results of kernels.
    pub fn of(ops: &[Op<'c>], has_kernel: impl Fn(Op<'c>) -> bool) -> Self {
        let mut joints = Self(vec![]);
        for op in ops {
            if let Some(joint) = joints.joint(*op, &has_kernel) {
                joints.0.push(joint);
                joints.adopt();
            }
        }
        joints
    }

    fn joint(&self, op: Op<'c>, has_kernel: &impl Fn(Op<'c>) -> bool) -> Option<Joint<'c>> {
        let concat = graph::Concat::of(op)?;
        let ty = concat.y().r#type();
        let dims = ir::static_dims(ty).filter(|dims| !dims.contains(&0))?;
        let axis = normalize_axis(concat.axis(), dims.len());
        let (mut starts, mut end, mut chain, mut kernels) = (vec![], 0, 0, false);
        for input in ir::operands(op) {
            let size = *ir::static_dims(input.r#type())?.get(axis)?;
            if size == 0 || size == dims[axis] {
                return None;
            }
            starts.push(Some(end));
            end += size;
            chain += 1;
            if let Some(definer) = edit::defining_op(input) {
                kernels |= has_kernel(definer);
                chain += self.index(definer).map_or(0, |index| self.0[index].chain);
            }
        }
        let leaves_it = |reader: &Op<'c>| {
            is_loop(*reader) || has_kernel(*reader) || ir::op_name(*reader) == "func.return"
        };
        let alloc = !ir::users(concat.y()).iter().all(leaves_it);
        let fits = kernels && chain <= LONGEST_CHAIN;
        let (parent, whole) = (None, None);
        fits.then_some(Joint { concat: op, ty, axis, chain, starts, parent, alloc, whole })
    }

    fn index(&self, concat: Op<'c>) -> Option<usize> {
        self.0.iter().position(|joint| edit::same(joint.concat, concat))
    }

    /// Makes operands of the last in-place concatenation slices of it where they can be.
    fn adopt(&mut self) {
        let Some((outer, inners)) = self.0.split_last_mut() else { return };
        for (operand, value) in ir::operands(outer.concat).into_iter().enumerate() {
            let Some(definer) = edit::defining_op(value) else { continue };
            let index = inners.len();
            let inner = inners.iter_mut().find(|inner| edit::same(inner.concat, definer));
            let (Some(inner), Some(start)) = (inner, outer.starts[operand]) else { continue };
            if inner.axis == outer.axis
                && inner.parent.is_none()
                && inner.is_read_before(outer.concat)
            {
                inner.parent = Some((index, start));
                outer.chain -= 1;
                outer.starts[operand] = None;
            }
        }
    }

    /// Outermost in-place concatenation whose buffer contains this one, and the first position
    /// there.
    fn root(&self, index: usize) -> (usize, i64) {
        let (mut index, mut start) = (index, 0);
        while let Some((parent, offset)) = self.0[index].parent {
            (index, start) = (parent, start + offset);
        }
        (index, start)
    }

    /// The slice of a concatenation that a kernel may write the result of `op` to.
    pub fn place(&self, op: Op<'c>) -> Option<Place> {
        let result = ir::result0(op).ok()?;
        self.0.iter().enumerate().find_map(|(index, joint)| {
            let inputs = ir::operands(joint.concat);
            let operand = inputs.iter().position(|input| *input == result)?;
            let (root, offset) = self.root(index);
            let part = Part {
                whole: ir::dims(self.0[root].ty),
                axis: joint.axis,
                start: offset + joint.starts[operand]?,
                alone: !ir::has_uses(result, 2),
            };
            Some(Place { joint: index, operand, part })
        })
    }

    /// The whole as it is before the kernel of `place` is called.
    pub fn whole(&mut self, b: &Builder<'c>, place: &Place) -> Result<Val<'c>> {
        let (root, _) = self.root(place.joint);
        self.0[root].whole(b)
    }

    /// Notes that a kernel wrote to `place` and gave `whole`.
    pub fn written(&mut self, place: &Place, whole: Val<'c>) -> Result<()> {
        let (root, _) = self.root(place.joint);
        self.0[root].whole = Some(whole);
        let joint = &mut self.0[place.joint];
        joint.starts[place.operand] = None;
        if place.part.alone {
            edit::set_operand(joint.concat, place.operand, whole)?;
        }
        Ok(())
    }

    /// The operands of in-place concatenations that are results of `op`: concatenation and operand.
    pub fn operands(&self, op: Op<'c>) -> Vec<(usize, usize)> {
        let results = ir::results(op);
        let of_joint = |(index, joint): (usize, &Joint<'c>)| {
            let inputs = ir::operands(joint.concat).into_iter().enumerate();
            let ours = inputs.filter(|(_, input)| results.contains(input));
            ours.map(|(operand, _)| (index, operand)).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(of_joint).collect()
    }

    /// Puts operands into their places, unless they are there.
    pub fn insert(&mut self, b: &Builder<'c>, operands: &[(usize, usize)]) -> Result<()> {
        for (joint, operand) in operands {
            let Some(start) = self.0[*joint].starts[*operand].take() else { continue };
            let input = self.0[*joint].concat.operand(*operand).map_err(ir::unexpected)?;
            let (root, offset) = self.root(*joint);
            let root = &mut self.0[root];
            let rank = ir::dims(root.ty).len();
            let mut offsets = vec![0; rank];
            offsets[root.axis] = offset + start;
            let whole = root.whole(b)?;
            root.whole = Some(shape::insert_slice(b, input, whole, &offsets, &vec![1; rank])?);
        }
        Ok(())
    }

    /// Puts the remaining operands into their places, and replaces `concat` by the whole. False if
    /// it is no in-place concatenation.
    pub fn finish(&mut self, concat: Op<'c>) -> Result<bool> {
        let Some(index) = self.index(concat) else { return Ok(false) };
        let b = Builder::before(concat)?;
        let operands: Vec<_> =
            (0..self.0[index].starts.len()).map(|operand| (index, operand)).collect();
        self.insert(&b, &operands)?;
        let (root, offset) = self.root(index);
        let mut value = self.0[root].whole(&b)?;
        if root != index {
            let (dims, axis) = (ir::dims(self.0[index].ty), self.0[index].axis);
            let mut offsets = vec![0; dims.len()];
            offsets[axis] = offset;
            value = shape::slice(&b, value, &offsets, &dims, &vec![1; dims.len()])?;
        }
        edit::replace_uses(ir::result0(concat)?, value);
        Ok(true)
    }

    /// Erases the concatenations.
    pub fn erase(self) {
        self.0.into_iter().rev().for_each(|joint| edit::erase(joint.concat));
    }
}

/// True for an operation that becomes loops, which read slices as they lie.
fn is_loop(op: Op<'_>) -> bool {
    is_elementwise(op) || graph::Transpose::is(op) || graph::BatchNorm::is(op)
}

impl<'c> Joint<'c> {
    /// The whole so far. One that kernels read, or that becomes part of something else, must not be made a slice of
    /// that: kernels know only contiguous buffers.
    fn whole(&mut self, b: &Builder<'c>) -> Result<Val<'c>> {
        let whole = match self.whole {
            Some(whole) => whole,
            None if self.alloc => {
                let sizes = b.parse_attr("array<i32: 0, 0, 0>")?;
                let attributes = vec![("operandSegmentSizes", sizes)];
                b.op1_with("bufferization.alloc_tensor", &[], self.ty, attributes)?
            }
            None => b.empty(self.ty)?,
        };
        self.whole = Some(whole);
        Ok(whole)
    }

    /// True if every reader but `outer` is a loop ahead of the producers of `outer`'s later
    /// operands.
    fn is_read_before(&self, outer: Op<'c>) -> bool {
        let Ok(result) = ir::result0(self.concat) else { return false };
        let users = ir::users(result);
        let (of_outer, others): (Vec<_>, Vec<_>) =
            users.into_iter().partition(|user| edit::same(*user, outer));
        let later: Vec<_> = ir::operands(outer)
            .into_iter()
            .filter_map(edit::defining_op)
            .filter(|definer| edit::is_before(self.concat, *definer))
            .collect();
        let in_block = |user: &Op<'c>| user.block() == outer.block();
        let before = |user: &Op<'c>| {
            in_block(user) && is_loop(*user) && later.iter().all(|op| edit::is_before(*user, *op))
        };
        of_outer.len() == 1 && others.iter().all(before)
    }
}
