//! Uses of buffers by operations: the operand, the memory, and the kind of access.

use super::{Side, buffer::Buffers, calls::Calls};
use crate::{
    ir::{
        self, Op, Val,
        call_extern::{CallExtern, Group, arg_of},
        edit, effects, func, memref, names, tir,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The use of a buffer by an operation.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Index of the buffer.
    pub buffer: usize,
    /// Index of the operation's operand.
    pub operand: usize,
    /// Side on which it is wanted.
    pub side: Side,
    /// True if its content matters.
    pub reads: bool,
    /// True if something is written.
    pub writes: bool,
    /// True if all of it is overwritten.
    pub whole: bool,
}

/// The value that a view is of, and whether it has all of it.
pub fn root<'c>(mut value: Val<'c>) -> (Val<'c>, bool) {
    let mut whole = true;
    while let Some(op) = edit::defining_op(value).filter(|op| memref::is_alias(*op)) {
        whole &= memref::is_whole(op);
        match ir::operands(op).first() {
            Some(source) => value = *source,
            None => break,
        }
    }
    (value, whole)
}

/// Reads accesses of a function of one side.
pub struct Reader<'a, 'c, 'd> {
    pub side: Side,
    pub calls: &'a Calls<'c, 'd>,
    pub buffers: &'a Buffers<'c>,
}

impl<'c> Reader<'_, 'c, '_> {
    /// The accesses of an operation itself, without those in its regions.
    pub fn of(&self, op: Op<'c>) -> PassResult<'c, Vec<Access>> {
        let is_plain = op.region_count() == 0 && effects::touches_nothing(op);
        if memref::is_alias(op) || is_plain || effects::frees(op) {
            return Ok(vec![]);
        }
        if let Some(call) = CallExtern::of(op) {
            return self.of_call(op, &call);
        }
        let operands = ir::operands(op);
        let in_pool = |value: &Val<'c>| memref::space(value.r#type()).is_some();
        // A device moves what goes to its pools and comes from there.
        let side = match self.side {
            Side::Device if effects::copied(op).is_some() && operands.iter().any(in_pool) => {
                Side::Device
            }
            _ => Side::Host,
        };
        let (all_read, all_written) = (effects::reads(op), effects::writes(op));
        let overwritten = effects::overwrites(op);
        let mut found = vec![];
        for (operand, value) in operands.iter().enumerate() {
            let Some((buffer, whole)) = self.buffer(op, *value)? else { continue };
            let writes = all_written.contains(value);
            // What is in elements that stay matters.
            let reads = all_read.contains(value) || (writes && !overwritten.contains(value));
            found.push(Access { buffer, operand, side, reads, writes, whole });
        }
        Ok(found)
    }

    fn of_call(&self, op: Op<'c>, call: &CallExtern<'c>) -> PassResult<'c, Vec<Access>> {
        let wanted = self.wanted(op, call)?;
        let adds = op.has_attribute("accumulate");
        let over = ir::attr_i64s(op, names::OVER);
        let is_over = |index: usize| over.as_ref().is_none_or(|all| all.contains(&(index as i64)));
        let mut found = vec![];
        let mut operand = call.groups[Group::Scalars as usize].len();
        for group in [Group::Ins, Group::Outs] {
            for (index, value) in call.groups[group as usize].iter().enumerate() {
                let side = wanted(group, index);
                if let Some((buffer, whole)) = self.buffer(op, *value)? {
                    let writes = group == Group::Outs;
                    let reads = !writes || (adds && is_over(index));
                    found.push(Access { buffer, operand, side, reads, writes, whole });
                }
                operand += 1;
            }
        }
        Ok(found)
    }

    /// Side on which a call wants each of its operands.
    fn wanted(
        &self,
        op: Op<'c>,
        call: &CallExtern<'c>,
    ) -> PassResult<'c, impl Fn(Group, usize) -> Side + use<'c>> {
        let device = &self.calls.device.memory;
        let in_host: Vec<i64> = ir::attr_i64s(op, names::HOST_INS).unwrap_or_default();
        let side = self.side;
        let is_ours = ir::attr_str(op, names::DEVICE).as_deref() == Some(&*device.target);
        // What the host passes to the device's functions, by the types that these take.
        let mut taken: Vec<(Group, usize)> = vec![];
        let functions = || func::functions(self.calls.module).into_iter();
        let callee = functions().find(|function| func::symbol(*function) == call.callee);
        if let Some(callee) = callee.filter(|_| side == Side::Host && is_ours) {
            let parameters = func::Signature::of(callee)?.arguments;
            for (argument, (ty, _)) in call.args.iter().zip(parameters) {
                let in_device = memref::space(ty).as_ref() == Some(&device.space);
                if let Some((group, index, _)) = arg_of(*argument).filter(|_| in_device) {
                    taken.push((group, index));
                }
            }
        }
        Ok(move |group: Group, index: usize| match side {
            Side::Device if group == Group::Ins && in_host.contains(&(index as i64)) => Side::Host,
            Side::Device => Side::Device,
            Side::Host if taken.contains(&(group, index)) => Side::Device,
            Side::Host => Side::Host,
        })
    }

    /// The buffer that an operand is, and whether it has all of it; none for what is no buffer of the
    /// network.
    fn buffer(&self, op: Op<'c>, value: Val<'c>) -> PassResult<'c, Option<(usize, bool)>> {
        if memref::space_or_host(value.r#type()).is_none_or(|space| !space.is_empty()) {
            return Ok(None);
        }
        let (root, whole) = root(value);
        match self.buffers.find(root) {
            Some(buffer) => Ok(Some((buffer, whole))),
            None => Err(PassError::at(
                &op,
                format!(
                    "uses a buffer that a loop or a branch hands on, of which it is not known \
                     whether it is in the memory of target '{}'",
                    self.calls.device.memory.target
                ),
            )),
        }
    }

    /// The accesses of an operation and of all that is in it.
    pub fn deep(&self, op: Op<'c>) -> PassResult<'c, Vec<(Op<'c>, Access)>> {
        let mut found = vec![];
        for inner in std::iter::once(op).chain(edit::walk(op)) {
            found.extend(self.of(inner)?.into_iter().map(|access| (inner, access)));
        }
        Ok(found)
    }
}

/// True for a call of the device, and for an operation that contains one.
pub fn calls_device<'c>(op: Op<'c>, side: Side, target: &str) -> bool {
    std::iter::once(op).chain(edit::walk(op)).any(|op| {
        ir::op_name(op) == tir::CallExtern::NAME
            && (side == Side::Device || ir::attr_str(op, names::DEVICE).as_deref() == Some(target))
    })
}
