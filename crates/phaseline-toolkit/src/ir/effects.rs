//! Effects on memory: the one place that knows which memory operations read, write, make and view.
//!
//! All is asked of MLIR's interfaces (memory effects, destination style, view-like, region branch),
//! of our operations as of upstream's. An operation without them may do everything. It may read and
//! write all that it is given and more, give out what it is given, and run its regions any number
//! of times at once.

use super::{Op, Val, edit, operands, results};
use crate::ffi;
use melior::ir::{ValueLike, operation::OperationLike};
use std::{ffi::c_void, ops::Range};

/// An effect of an operation by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect<'c> {
    /// The operand or result that is used; `None` for memory that is neither.
    pub value: Option<Val<'c>>,
    /// The place of the operand that is used.
    pub operand: Option<usize>,
    /// The kind of use.
    pub kind: Kind,
}

/// Kinds of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Elements are read.
    Read,
    /// Elements are written.
    Write {
        /// True if each element is written, be it read before or not.
        whole: bool,
    },
    /// Memory is made.
    Allocate,
    /// Memory is given back.
    Free,
    /// Something is used that is no memory of buffers, such as the state of a device.
    Elsewhere,
}

/// The runs of a region in one run of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// At most one run.
    Once,
    /// Any number, one after the other.
    InOrder,
    /// Any number, maybe several at once.
    Any,
}

/// The effects of an operation by itself, without those of operations inside of it; `None` for one that may do
/// everything.
pub fn of(op: Op<'_>) -> Option<Vec<Effect<'_>>> {
    unsafe extern "C" fn push(kinds: u32, operand: isize, result: isize, user: *mut c_void) {
        // SAFETY: `user` is the list below.
        unsafe { (*user.cast::<Vec<(u32, isize, isize)>>()).push((kinds, operand, result)) };
    }
    if !super::context::may_ask(op) {
        return None;
    }
    let mut told: Vec<(u32, isize, isize)> = vec![];
    // SAFETY: the operation is live, and the list outlives the call.
    let known = unsafe { ffi::phlForEachEffect(op.to_raw(), Some(push), (&raw mut told).cast()) };
    if known == ffi::PhlEffects::PHL_EFFECTS_UNKNOWN {
        return None;
    }
    let (ins, outs) = (operands(op), results(op));
    let of = |list: &[Val<'_>], place: isize| -> Option<usize> {
        usize::try_from(place).ok().filter(|place| *place < list.len())
    };
    let effects = told.iter().map(|(kinds, operand, result)| {
        let operand = of(&ins, *operand);
        let result = of(&outs, *result).map(|at| outs[at]);
        let value = operand.map(|at| ins[at]).or(result);
        let has = |kind: u32| kinds & kind != 0;
        let kind = if has(ffi::PhlEffect::PHL_EFFECT_READ) {
            Kind::Read
        } else if has(ffi::PhlEffect::PHL_EFFECT_ALLOCATE) {
            Kind::Allocate
        } else if has(ffi::PhlEffect::PHL_EFFECT_FREE) {
            Kind::Free
        } else if has(ffi::PhlEffect::PHL_EFFECT_ELSEWHERE) {
            Kind::Elsewhere
        } else {
            Kind::Write { whole: has(ffi::PhlEffect::PHL_EFFECT_WHOLE) }
        };
        Effect { value, operand, kind }
    });
    Some(effects.collect())
}

/// The buffers among its operands of which an operation reads elements by itself.
pub fn reads(op: Op<'_>) -> Vec<Val<'_>> {
    touched(op, |kind| kind == Kind::Read)
}

/// The buffers among its operands of which an operation writes elements, or which it frees, by itself.
pub fn writes(op: Op<'_>) -> Vec<Val<'_>> {
    touched(op, |kind| matches!(kind, Kind::Write { .. } | Kind::Free))
}

/// The buffers among its operands that an operation overwrites, each element, without reading any.
pub fn overwrites(op: Op<'_>) -> Vec<Val<'_>> {
    let effects = of(op).unwrap_or_default();
    let is_read = |value: Option<Val<'_>>| {
        effects.iter().any(|effect| effect.kind == Kind::Read && effect.value == value)
    };
    let whole = effects.iter().filter(|effect| effect.kind == Kind::Write { whole: true });
    whole.map(|effect| effect.value).filter(|value| !is_read(*value)).flatten().collect()
}

fn touched<'c>(op: Op<'c>, is: impl Fn(Kind) -> bool) -> Vec<Val<'c>> {
    let buffers =
        || operands(op).into_iter().filter(|value| super::types::keeps_buffer(value.r#type()));
    let Some(effects) = of(op) else { return buffers().collect() };
    let uses = |value: &Val<'c>| {
        effects
            .iter()
            .any(|effect| is(effect.kind) && effect.value.is_none_or(|other| other == *value))
    };
    buffers().filter(uses).collect()
}

/// The operand of which an operation gives a view.
pub fn view_source(op: Op<'_>) -> Option<Val<'_>> {
    if !super::context::may_ask(op) {
        return None;
    }
    // SAFETY: the operation is live.
    let place = unsafe { ffi::phlViewSource(op.to_raw()) };
    operands(op).get(usize::try_from(place).ok()?).copied()
}

/// True if the view that an operation gives may leave out elements of what it is of.
pub fn is_part(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    !super::context::may_ask(op) || unsafe { ffi::phlViewIsPart(op.to_raw()) }
}

/// The buffers that results of an operation may be, or be parts of: all that it is given if its interfaces do not say.
pub fn viewed(op: Op<'_>) -> Vec<Val<'_>> {
    let is_buffer = |value: &Val<'_>| super::types::keeps_buffer(value.r#type());
    if !results(op).iter().any(is_buffer) {
        return vec![];
    }
    if let Some(source) = view_source(op) {
        return vec![source];
    }
    let effects = of(op).unwrap_or_default();
    let is_made = |value: &Val<'_>| {
        effects.iter().any(|e| e.kind == Kind::Allocate && e.value == Some(*value))
    };
    match results(op).iter().filter(|value| is_buffer(value)).all(is_made) {
        true => vec![],
        false => operands(op).into_iter().filter(is_buffer).collect(),
    }
}

/// The operands that an operation takes as destinations, in their order.
pub fn destinations(op: Op<'_>) -> Vec<Val<'_>> {
    operands(op).get(destination_places(op)).unwrap_or_default().to_vec()
}

/// The places among its operands of the destinations of an operation.
pub fn destination_places(op: Op<'_>) -> Range<usize> {
    let (mut first, mut count) = (0_isize, 0_isize);
    // SAFETY: the operation is live; the numbers outlive the call.
    let found = super::context::may_ask(op)
        && unsafe { ffi::phlDestinations(op.to_raw(), &raw mut first, &raw mut count) };
    range(found, first, count)
}

/// The places among its operands of the values that a loop begins with, and carries from one iteration to the next.
pub fn carried_places(op: Op<'_>) -> Range<usize> {
    let (mut first, mut count) = (0_isize, 0_isize);
    // SAFETY: the operation is live; the numbers outlive the call.
    let found = super::context::may_ask(op)
        && unsafe { ffi::phlCarried(op.to_raw(), &raw mut first, &raw mut count) };
    range(found, first, count)
}

/// The places among its operands of the tensors that an operation may write its results over: its destinations,
/// or what it carries.
pub fn overwritable_places(op: Op<'_>) -> Range<usize> {
    let carried = carried_places(op);
    if carried.is_empty() { destination_places(op) } else { carried }
}

fn range(found: bool, first: isize, count: isize) -> Range<usize> {
    match (usize::try_from(first), usize::try_from(count)) {
        (Ok(first), Ok(count)) if found => first..first.saturating_add(count),
        _ => 0..0,
    }
}

/// True if an operation makes memory.
pub fn allocates(op: Op<'_>) -> bool {
    let effects = of(op).unwrap_or_default();
    effects.iter().any(|effect| effect.kind == Kind::Allocate)
}

/// True if an operation does nothing but give memory back.
pub fn frees(op: Op<'_>) -> bool {
    let effects = of(op).unwrap_or_default();
    !effects.is_empty() && effects.iter().all(|effect| effect.kind == Kind::Free)
}

/// True if an operation gives the buffer of a constant.
pub fn is_constant(op: Op<'_>) -> bool {
    super::op_name(op) == "memref.get_global"
}

/// True if an operation gives a buffer that has no other name: new memory, or a constant.
pub fn is_own(op: Op<'_>) -> bool {
    allocates(op) || is_constant(op)
}

/// True if an operation ends a block, and hands what it is given on to what is around it.
pub fn hands_on(op: Op<'_>) -> bool {
    op.next_in_block().is_none() && op.parent_operation().is_some()
}

/// The buffers that an operation copies all elements from and to.
pub fn copied(op: Op<'_>) -> Option<(Val<'_>, Val<'_>)> {
    match (super::op_name(op), &operands(op)[..]) {
        ("memref.copy" | "linalg.copy", &[from, to]) => Some((from, to)),
        _ => None,
    }
}

/// True if an operation gives the tensor that it is given in another shape: all elements, in their order.
pub fn is_reshape(op: Op<'_>) -> bool {
    let name = super::op_name(op);
    ["tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", "tensor.reshape"]
        .contains(&name)
}

/// True if an operation gives elements of the tensors and buffers that it is given, and computes none.
pub fn is_move(op: Op<'_>) -> bool {
    let moves = [
        "bufferization.to_buffer",
        "bufferization.to_tensor",
        "tensor.extract_slice",
        "tensor.insert_slice",
    ];
    is_reshape(op) || moves.contains(&super::op_name(op))
}

/// True if an operation gives a tensor that nothing was written to.
pub fn is_unwritten(op: Op<'_>) -> bool {
    let name = super::op_name(op);
    ["bufferization.alloc_tensor", "tensor.empty"].contains(&name)
        && !operands(op).iter().any(|value| super::is_tensor(value.r#type()))
}

/// The runs of a region of an operation in one run of that.
pub fn runs(op: Op<'_>, region: usize) -> Runs {
    let region = isize::try_from(region).unwrap_or(isize::MAX);
    if !super::context::may_ask(op) {
        return Runs::Any;
    }
    // SAFETY: the operation is live; a place without a region is one that nothing is known of.
    match unsafe { ffi::phlRegionRuns(op.to_raw(), region) } {
        ffi::PhlRuns::PHL_RUNS_ONCE => Runs::Once,
        ffi::PhlRuns::PHL_RUNS_IN_ORDER => Runs::InOrder,
        _ => Runs::Any,
    }
}

/// True if a region of an operation may run more than once in one run of that.
pub fn repeats(op: Op<'_>) -> bool {
    (0..op.region_count()).any(|region| runs(op, region) != Runs::Once)
}

/// True if a region of an operation may run several times at once.
pub fn runs_at_once(op: Op<'_>) -> bool {
    (0..op.region_count()).any(|region| runs(op, region) == Runs::Any)
}

/// True if an operation by itself neither reads nor writes an element of a buffer, nor frees one.
pub fn touches_nothing(op: Op<'_>) -> bool {
    let is_none = |effect: &Effect<'_>| matches!(effect.kind, Kind::Allocate | Kind::Elsewhere);
    of(op).is_some_and(|all| all.iter().all(is_none))
}

/// True if an operation by itself does nothing to memory but to read elements.
pub fn only_reads(op: Op<'_>) -> bool {
    of(op).is_some_and(|all| all.iter().all(|effect| effect.kind == Kind::Read))
}

/// True if an operation may be left out, or be run elsewhere, as far as memory is concerned: it and all inside of it
/// read and write nothing.
pub fn is_free(op: Op<'_>) -> bool {
    std::iter::once(op)
        .chain(edit::walk(op))
        .all(|op| of(op).is_some_and(|effects| effects.is_empty()))
}
