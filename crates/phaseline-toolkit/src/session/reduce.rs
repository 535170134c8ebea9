//! Reduction of IR that shows a fault: what may be left out of it is.

mod attributes;
mod blocks;
mod functions;
mod operations;
mod regions;
#[cfg(test)]
mod tests;
mod values;

use super::Session;
use crate::{
    Error, Result, ffi,
    ir::{self, Op, edit, print},
};
use melior::ir::Module;
use mlir_sys as sys;
use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

/// A kind of change: the number of places for it in IR, and the change of a range of them. It gives false if it changed nothing.
struct Step {
    count: fn(Op<'_>) -> usize,
    apply: fn(Op<'_>, Range<usize>) -> bool,
}

/// The changes, by how much they leave out.
const STEPS: &[Step] = &[
    Step { count: |root| functions::bodies(root).len(), apply: functions::drop_bodies },
    Step { count: |root| edit::walk(root).len(), apply: operations::drop },
    Step { count: |root| regions::places(root).len(), apply: regions::inline },
    Step { count: |root| blocks::detours(root).len(), apply: blocks::divert },
    Step { count: |root| blocks::branches(root).len(), apply: blocks::take_sides },
    Step { count: |root| blocks::chains(root).len(), apply: blocks::merge },
    Step { count: |root| edit::walk(root).len(), apply: operations::bypass },
    Step { count: |root| operations::operands(root).len(), apply: operations::replace_operands },
    Step { count: |root| operations::operands(root).len(), apply: operations::drop_operands },
    Step { count: |root| functions::results(root).len(), apply: functions::drop_results },
    Step { count: |root| functions::arguments(root).len(), apply: functions::drop_arguments },
    Step { count: |root| blocks::arguments(root).len(), apply: blocks::drop_arguments },
    Step { count: |root| edit::walk(root).len(), apply: operations::make_constants },
    Step { count: |root| attributes::discardable(root).len(), apply: attributes::drop_discardable },
    Step { count: |root| attributes::inherent(root).len(), apply: attributes::drop_inherent },
    Step { count: |root| attributes::entries(root).len(), apply: attributes::drop_entries },
];

impl Session {
    /// Leaves out of a module what can be left out while `is_interesting` holds of its text: bodies of functions, operations,
    /// regions and branches, arguments and results of functions, attributes. Earlier values and constants stand in for values
    /// that go. Each question is about valid IR, without locations. The same module gives the same result, of which nothing
    /// more can be left out. Gives the module and the number of questions.
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
        let _alone = Alone::new(self);
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

/// A session without threads, until it is dropped: a crash on another thread is the process's.
struct Alone<'a>(&'a Session, bool);

impl<'a> Alone<'a> {
    fn new(session: &'a Session) -> Self {
        // SAFETY: the context is live.
        let has_threads = unsafe { sys::mlirContextGetNumThreads(session.context.to_raw()) } > 1;
        session.context.enable_multi_threading(false);
        Self(session, has_threads)
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let Self(session, has_threads) = self;
        match session.threads {
            Some(_) => session.attach_threads(),
            None => session.context.enable_multi_threading(*has_threads),
        }
    }
}

/// The text of a module; none of one that is not valid, or not read again. Verifiers and printers of others may crash on IR
/// that nobody wrote by hand: such IR is not valid either.
fn check_and_print(op: Op<'_>) -> Result<Option<String>> {
    let mut is_valid = false;
    let mut text = print::collect(|append, user| {
        // SAFETY: the operation is live, and its context has no threads.
        is_valid = unsafe { ffi::phlCheckAndPrint(op.to_raw(), append, user) };
    });
    if !is_valid {
        return Ok(None);
    }
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    let text = String::from_utf8(text);
    text.map(Some).map_err(|_| Error::internal("MLIR printed text that is not UTF-8"))
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
        let text = check_and_print(ir::root(&copy))?;
        self.session.clear_diagnostics();
        let Some(text) = text else { return Ok(false) };
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
