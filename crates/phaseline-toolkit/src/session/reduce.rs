//! Reduction of IR that shows a fault: what may be left out of it is.

use super::Session;
use crate::{
    Error, Result,
    ir::{self, Op, Val, edit, print, remove},
};
use melior::ir::{
    BlockLike, Module, RegionLike, ValueLike, attribute::StringAttribute, operation::OperationLike,
};
use mlir_sys as sys;
use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

/// A kind of change: how many places of it IR has, and the change of a range of them. It gives false if it changed nothing.
struct Step {
    count: fn(Op<'_>) -> usize,
    apply: fn(Op<'_>, Range<usize>) -> bool,
}

/// The changes, by how much they leave out.
const STEPS: &[Step] = &[
    Step { count: |root| bodies(root).len(), apply: drop_bodies },
    Step { count: |root| edit::walk(root).len(), apply: drop_operations },
    Step { count: |root| operands(root).len(), apply: replace_operands },
    Step { count: |root| attributes(root).len(), apply: drop_attributes },
];

impl Session {
    /// Leaves out of a module what can be left out while `is_interesting` holds of its text: bodies of functions, operations,
    /// operands for which earlier values stand in, discardable attributes. What it is asked about is valid IR, without
    /// locations; the same module gives the same result. Gives the module and the number of questions.
    ///
    /// ```
    /// # use phaseline_toolkit::{Toolkit, ir, upstream};
    /// # fn main() -> phaseline_toolkit::Result<()> {
    /// let session = Toolkit::new("my tool").upstream([upstream::arith(), upstream::func()]).session();
    /// let text = b"func.func @f(%x: i32, %y: i32) -> i32 {
    ///     %0 = arith.addi %x, %y : i32
    ///     %1 = arith.muli %0, %0 : i32
    ///     %2 = arith.subi %1, %x : i32
    ///     return %2 : i32
    ///   }
    ///   func.func @g() { return }";
    /// let module = session.parse(text, "f.mlir")?;
    /// let (small, _) = session.reduce(&module, &mut |text| Ok(text.contains("muli")))?;
    /// let names: Vec<_> = ir::edit::walk(ir::root(&small)).into_iter().map(ir::op_name).collect();
    /// assert_eq!(names, ["func.func", "arith.muli", "func.return"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The module is not valid, or not of interest; a question fails.
    pub fn reduce<'a>(
        &'a self,
        module: &Module<'_>,
        is_interesting: &mut dyn FnMut(&str) -> Result<bool>,
    ) -> Result<(Module<'a>, usize)> {
        self.check_ir(module)?;
        let text = print::print_plain(ir::root(module))?;
        let best = self.parse_any(text.as_bytes(), "the module")?;
        let mut reducer =
            Reducer { session: self, best, is_interesting, known: BTreeSet::new(), asked: 0 };
        if !reducer.ask(&text)? {
            return Err(Error::invalid(
                "the IR as it is given is not of interest, without its locations: there is nothing to keep",
            ));
        }
        while reducer.round()? {}
        Ok((reducer.best, reducer.asked))
    }
}

struct Reducer<'a, 'q> {
    session: &'a Session,
    best: Module<'a>,
    is_interesting: &'q mut dyn FnMut(&str) -> Result<bool>,
    /// Texts that were asked about.
    known: BTreeSet<u64>,
    asked: usize,
}

impl<'a> Reducer<'a, '_> {
    /// Tries all changes; true if one of them was of use.
    fn round(&mut self) -> Result<bool> {
        let mut changed = false;
        for step in STEPS {
            let mut size = (step.count)(ir::root(&self.best));
            while size > 0 {
                // From the end: what is there uses what is before it.
                let mut end = (step.count)(ir::root(&self.best));
                while end > 0 {
                    let start = end.saturating_sub(size);
                    if self.attempt(step, start..end)? {
                        changed = true;
                    }
                    end = start.min((step.count)(ir::root(&self.best)));
                }
                size /= 2;
            }
        }
        Ok(changed)
    }

    /// Keeps a change if the IR stays valid and of interest.
    fn attempt(&mut self, step: &Step, range: Range<usize>) -> Result<bool> {
        // SAFETY: the module is live, and the copy is of the same session and belongs to nobody.
        let copy: Module<'a> = unsafe {
            let copy = sys::mlirOperationClone(self.best.as_operation().to_raw());
            Module::from_raw(sys::mlirModuleFromOperation(copy))
        };
        if !(step.apply)(ir::root(&copy), range) {
            return Ok(false);
        }
        if !copy.as_operation().verify() {
            self.session.clear_diagnostics();
            return Ok(false);
        }
        let text = print::print_plain(ir::root(&copy))?;
        let is_kept = self.ask(&text)?;
        if is_kept {
            self.best = copy;
        }
        Ok(is_kept)
    }

    fn ask(&mut self, text: &str) -> Result<bool> {
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        if !self.known.insert(hash.finish()) {
            return Ok(false);
        }
        self.asked += 1;
        (self.is_interesting)(text)
    }
}

/// Functions that have bodies.
fn bodies(root: Op<'_>) -> Vec<Op<'_>> {
    let has_body =
        |op: &Op<'_>| ir::op_name(*op) == "func.func" && edit::entry_block(*op).is_some();
    edit::walk(root).into_iter().filter(has_body).collect()
}

/// Makes functions declarations.
fn drop_bodies(root: Op<'_>, range: Range<usize>) -> bool {
    let all = bodies(root);
    let Some(chosen) = all.get(range) else { return false };
    for function in chosen {
        for op in ir::ops_of(*function).into_iter().rev() {
            destroy(op);
        }
        let region = function.regions().next();
        while let Some(block) = region.as_ref().and_then(|region| region.first_block()) {
            // SAFETY: the block is empty, and what named it is gone.
            unsafe {
                sys::mlirBlockDetach(block.to_raw());
                sys::mlirBlockDestroy(block.to_raw());
            }
        }
        let context = ir::context_of(*function);
        let private = StringAttribute::new(context, "private").into();
        edit::set_attr(*function, "sym_visibility", private);
    }
    !chosen.is_empty()
}

/// Removes an operation of a copy, whose results nothing uses, with what is in it.
fn destroy(op: Op<'_>) {
    for inside in std::iter::once(op).chain(edit::walk(op)) {
        edit::replace_operands(inside, &[]);
        for result in ir::results(inside) {
            // Uses by what goes as well, in any order.
            for user in ir::users(result) {
                edit::replace_operands(user, &[]);
            }
        }
    }
    // SAFETY: the operation is in a copy that nobody else has handles of, and nothing refers to it.
    unsafe { sys::mlirOperationDestroy(op.to_raw()) };
}

/// Removes operations; a value before an operation, of the same type, takes the place of a result.
fn drop_operations(root: Op<'_>, range: Range<usize>) -> bool {
    let all = edit::walk(root);
    let Some(chosen) = all.get(range) else { return false };
    let mut changed = false;
    // What is in an operation comes behind it, and is looked at before.
    for op in chosen.iter().rev() {
        if op.successor_count() > 0 || is_last(*op) {
            continue;
        }
        let stand_ins: Option<Vec<_>> =
            ir::results(*op).into_iter().map(|result| stand_in(*op, result)).collect();
        let Some(stand_ins) = stand_ins else { continue };
        for (result, with) in ir::results(*op).into_iter().zip(stand_ins) {
            if let Some(with) = with {
                edit::replace_uses(result, with);
            }
        }
        if remove::detach(*op).is_ok() {
            // SAFETY: the operation is in no block, nothing refers to it, and the list has no handle of what is in it
            // that is looked at again.
            unsafe { sys::mlirOperationDestroy(op.to_raw()) };
            changed = true;
        }
    }
    changed
}

/// True for the last operation of a block: where one has to be the last, it cannot go.
fn is_last(op: Op<'_>) -> bool {
    op.next_in_block().is_none()
        && op.parent_operation().is_some_and(|around| ir::op_name(around) != "builtin.module")
}

/// A value for the uses of a result: none where there are no uses, and nothing where no value is before the operation.
fn stand_in<'c>(op: Op<'c>, result: Val<'c>) -> Option<Option<Val<'c>>> {
    if !ir::has_uses(result, 1) {
        return Some(None);
    }
    let ty = result.r#type();
    before(op).into_iter().find(|value| value.r#type() == ty).map(Some)
}

/// The values that an operation may use: arguments and results before it, outermost first, without those of functions around
/// its own.
fn before<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut levels = vec![];
    let mut inside = Some(op);
    while let Some(op) = inside.filter(|op| ir::op_name(*op) != "func.func") {
        let Some(block) = op.block() else { break };
        // The first block comes before all others of its region.
        let first = block.parent_region().and_then(|region| region.first_block());
        let first = first.filter(|first| ir::id(first) != ir::id(block));
        let mut level: Vec<_> = first.map(edit::arguments).unwrap_or_default();
        level.extend(first.into_iter().flat_map(ir::ops).flat_map(ir::results));
        level.extend(edit::arguments(block));
        let earlier = ir::ops(block).into_iter().take_while(|other| !edit::same(*other, op));
        level.extend(earlier.flat_map(ir::results));
        levels.push(level);
        inside = op.parent_operation();
    }
    levels.into_iter().rev().flatten().collect()
}

/// Operands, each by its operation and its place there.
fn operands(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let of = |op| (0..ir::operands(op).len()).map(move |index| (op, index));
    edit::walk(root).into_iter().flat_map(of).collect()
}

/// Gives operations earlier values of the same type.
fn replace_operands(root: Op<'_>, range: Range<usize>) -> bool {
    let all = operands(root);
    let Some(chosen) = all.get(range) else { return false };
    let mut changed = false;
    for (op, index) in chosen {
        let old = ir::operands(*op)[*index];
        let first = before(*op).into_iter().find(|value| value.r#type() == old.r#type());
        if let Some(first) = first.filter(|first| *first != old) {
            changed |= edit::set_operand(*op, *index, first).is_ok();
        }
    }
    changed
}

/// Discardable attributes, by their operations and names.
fn attributes(root: Op<'_>) -> Vec<(Op<'_>, String)> {
    let all = std::iter::once(root).chain(edit::walk(root));
    all.flat_map(|op| attributes_of(op).into_iter().map(move |name| (op, name))).collect()
}

fn attributes_of(op: Op<'_>) -> Vec<String> {
    // SAFETY: the operation is live, and indices are in range.
    unsafe {
        let raw = op.to_raw();
        (0..sys::mlirOperationGetNumDiscardableAttributes(raw))
            .map(|at| sys::mlirOperationGetDiscardableAttribute(raw, at))
            .map(|named| ir::text(sys::mlirIdentifierStr(named.name)))
            .collect()
    }
}

fn drop_attributes(root: Op<'_>, range: Range<usize>) -> bool {
    let all = attributes(root);
    let Some(chosen) = all.get(range) else { return false };
    chosen.iter().fold(false, |changed, (op, name)| edit::remove_attr(*op, name) || changed)
}
