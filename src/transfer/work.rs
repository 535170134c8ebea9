//! Calls that start work of a device, and which of them need which.

use super::{access, calls::Calls, part::Part};
use crate::ir::{
    self, Op, Val,
    call_extern::{CallExtern, Group},
    memref, names, size,
};
use melior::ir::ValueLike;
use std::collections::HashSet;

/// A call that starts work.
pub struct Work<'c> {
    /// The call.
    pub op: Op<'c>,
    /// Position in the block.
    pub place: usize,
    /// The buffers that it reads, by where they come from.
    pub reads: HashSet<ir::Id>,
    /// The buffers that it writes.
    pub writes: HashSet<ir::Id>,
    /// Parts of these that it reads, and that it writes.
    pub parts: [Vec<Part>; 2],
    /// Its buffers in the host's memory.
    pub in_host: Vec<Val<'c>>,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The queue that it has to run in, if there is only one.
    pub pinned: Option<usize>,
    /// True if it only brings values up.
    pub is_up: bool,
    /// True if it only brings values down.
    pub is_down: bool,
}

impl<'c> Work<'c> {
    /// The work of a call at a place of its block; `callee` is the function of the module that it
    /// calls.
    pub fn of(
        (op, place): (Op<'c>, usize),
        call: &CallExtern<'c>,
        callee: Option<Op<'c>>,
        calls: &Calls<'c, '_>,
    ) -> Self {
        let buffers = |group: Group| call.groups[group as usize].iter().copied();
        let roots = |group: Group| -> HashSet<ir::Id> {
            buffers(group).map(|value| ir::id(access::root(value).0)).collect()
        };
        let (mut reads, writes) = (roots(Group::Ins), roots(Group::Outs));
        let [mut read, written] =
            [Group::Ins, Group::Outs].map(|group| buffers(group).map(Part::of).collect::<Vec<_>>());
        if call.attributes.iter().any(|(name, _)| name == "accumulate") {
            let over = ir::attr_i64s(op, names::OVER);
            let outs = buffers(Group::Outs).enumerate();
            let outs: Vec<_> = outs
                .filter(|(index, _)| over.as_ref().is_none_or(|all| all.contains(&(*index as i64))))
                .map(|(_, value)| value)
                .collect();
            reads.extend(outs.iter().map(|value| ir::id(access::root(*value).0)));
            read.extend(outs.into_iter().map(Part::of));
        }
        let role = callee.and_then(|function| ir::attr_str(function, names::TRANSFER));
        let copies = role.as_deref() == Some(names::TRANSFER_COPY);
        let space = Some(&calls.device.memory.space);
        let in_device =
            |group| buffers(group).all(|value| memref::space(value.r#type()).as_ref() == space);
        let all: Vec<_> = buffers(Group::Ins).chain(buffers(Group::Outs)).collect();
        let is_in_host = |value: &&Val<'c>| memref::space(value.r#type()).as_ref() != space;
        Self {
            op,
            place,
            reads,
            writes,
            parts: [read, written],
            in_host: all.iter().filter(is_in_host).copied().collect(),
            bytes: all.iter().filter_map(|value| size::bytes(value.r#type())).sum(),
            pinned: callee
                .and_then(|function| ir::attr_i64(function, names::PINNED))
                .and_then(|queue| usize::try_from(queue).ok()),
            is_up: copies && !in_device(Group::Ins),
            is_down: copies && !in_device(Group::Outs),
        }
    }

    /// True if it has to run after an earlier one.
    pub fn needs(&self, before: &Self) -> bool {
        let meet = |a: &[Part], b: &[Part]| a.iter().any(|a| b.iter().any(|b| a.meets(b)));
        let ([reads, writes], [read, written]) = (&self.parts, &before.parts);
        meet(reads, written) || meet(writes, written) || meet(writes, read)
    }
}
