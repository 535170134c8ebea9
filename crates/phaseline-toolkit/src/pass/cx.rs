//! Passes that are types, and the context that they run in.

use super::{PassError, PassOptions, PassResult, Said, remark, warn};
use crate::{
    Result, ffi,
    ir::{
        self, Op,
        analysis::Analysis,
        context::panic_text,
        convert::Conversion,
        nesting, origin,
        pdl::Patterns,
        print,
        rewrite::{self, Rule, RuleError},
        shared::{self, thread},
    },
};
use melior::{Context, StringRef};
use std::{
    any::{Any, TypeId},
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ffi::c_void,
    fmt,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A pass that is a type: its value is made of the options, and shared by all runs of a pipeline.
///
/// ```
/// use phaseline_toolkit::{Context, Result, ir, pass::{PassCx, PassResult, RunPass}};
///
/// struct Count;
///
/// impl RunPass for Count {
///     const NAME: &'static str = "count-ops";
///     const SUMMARY: &'static str = "Count operations";
///     const ANCHOR: &'static str = "func.func";
///     const STATISTICS: &'static [(&'static str, &'static str)] = &[("ops", "Operations seen")];
///     type Options = ();
///
///     fn new((): (), _: &Context) -> Result<Self> {
///         Ok(Self)
///     }
///
///     fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
///         cx.count("ops", ir::edit::walk(cx.op()).len());
///         cx.preserve_all();
///         Ok(())
///     }
/// }
/// ```
pub trait RunPass: Send + Sync + Sized + 'static {
    /// Name in pipelines: kebab-case.
    const NAME: &'static str;
    /// One line for `--help`: a noun phrase or imperative without a full stop.
    const SUMMARY: &'static str;
    /// The operation that the pass runs on: `func.func`, `builtin.module`, or empty for any.
    const ANCHOR: &'static str = "";
    /// Names of the dialects that the pass creates operations of.
    const DIALECTS: &'static [&'static str] = &[];
    /// Statistics, each with a line about it.
    const STATISTICS: &'static [(&'static str, &'static str)] = &[];
    /// The options.
    type Options: PassOptions;

    /// Makes the pass, once before a pipeline runs.
    ///
    /// # Errors
    /// The options do not fit together: the pipeline then runs nothing.
    fn new(options: Self::Options, context: &Context) -> Result<Self>;

    /// Runs on one operation, maybe on several threads at once.
    ///
    /// # Errors
    /// The operation cannot be treated.
    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c>;
}

/// The type of an analysis, and the copy of this crate that has it: a plugin's is not the program's.
type Kind = (TypeId, usize);

fn kind<A: 'static>() -> Kind {
    (TypeId::of::<A>(), shared::copy())
}

/// The analyses of an operation, by their types.
type Known = RefCell<HashMap<Kind, Box<dyn Any + Send>>>;

/// The run of a pass on an operation.
///
/// Handles of the operation and of what is in it borrow this. What may destroy some of them takes it as a whole:
/// [`Self::rewrite`], [`Self::convert`], [`Self::run_pipeline`]. No handle outlives these.
///
/// ```compile_fail,E0502
/// # use phaseline_toolkit::{ir, pass::{PassCx, PassResult}};
/// fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
///     let ops = ir::edit::walk(cx.op());
///     cx.run_pipeline("cse")?;
///     println!("{}", ir::op_name(ops[0]));
///     Ok(())
/// }
/// ```
///
/// Nor does a handle, or what is known of the operation, get out of the pass, or to another thread:
///
/// ```compile_fail,E0521
/// # use phaseline_toolkit::{ir::Op, pass::PassCx};
/// # use std::cell::RefCell;
/// thread_local! {
///     static KEPT: RefCell<Vec<Op<'static>>> = const { RefCell::new(vec![]) };
/// }
/// fn run(cx: &mut PassCx<'_, '_>) {
///     KEPT.with_borrow_mut(|kept| kept.push(cx.op()));
/// }
/// ```
///
/// ```compile_fail,E0502
/// # use phaseline_toolkit::{ir::analysis::Dominance, pass::{PassCx, PassResult}};
/// fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
///     let dominance = cx.analysis::<Dominance>()?;
///     cx.rewrite(&[])?;
///     println!("{}", dominance.dominates(cx.op(), cx.op()));
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use phaseline_toolkit::{ir, pass::PassCx};
/// fn run(cx: &mut PassCx<'_, '_>) {
///     let op = cx.op();
///     std::thread::scope(|scope| {
///         scope.spawn(|| println!("{}", ir::op_name(op)));
///     });
/// }
/// ```
///
/// ```compile_fail,E0515
/// # use phaseline_toolkit::{ir::Op, pass::PassCx};
/// fn leak<'c>(mut cx: PassCx<'_, 'c>) -> Op<'c> {
///     cx.op()
/// }
/// ```
pub struct PassCx<'p, 'c> {
    op: Op<'c>,
    run: ffi::PhlPassRun,
    name: &'static str,
    statistics: &'static [(&'static str, &'static str)],
    preserved: RefCell<HashSet<Kind>>,
    preserves_all: Cell<bool>,
    pass: PhantomData<&'p Cell<()>>,
}

impl fmt::Debug for PassCx<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassCx").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'c> PassCx<'_, 'c> {
    pub(super) fn new(
        op: Op<'c>,
        run: ffi::PhlPassRun,
        name: &'static str,
        statistics: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            op,
            run,
            name,
            statistics,
            preserved: RefCell::default(),
            preserves_all: Cell::new(false),
            pass: PhantomData,
        }
    }

    /// The operation, as long as the run.
    pub(super) fn raw_op(&self) -> Op<'c> {
        self.op
    }

    /// The name of the pass.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The operation that the pass runs on.
    pub fn op(&self) -> Op<'_> {
        self.op
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        ir::context_of(self.op)
    }

    /// True if the run was cancelled: a pass that takes long asks now and then, and returns an error.
    pub fn is_cancelled(&self) -> bool {
        ir::context::is_cancelled(self.context())
    }

    /// An error at an operation, to return.
    pub fn error(&self, op: Op<'_>, message: impl fmt::Display) -> PassError<'c> {
        let error = PassError::at(&op, message);
        self.lift(error)
    }

    /// The same error as one of the pass: places of another session are left out.
    pub fn lift(&self, error: PassError<'_>) -> PassError<'c> {
        let location = error
            .location
            .filter(|location| origin::check_home(&self.op, location, String::new).is_ok());
        // SAFETY: locations live as long as their context, which is that of the operation.
        let location =
            location.map(|location| unsafe { ir::Location::from_raw(location.to_raw()) });
        PassError { location, message: error.message }
    }

    /// Says something of interest about an operation; notes may follow.
    pub fn remark<'a>(&'a self, op: Op<'a>, message: impl fmt::Display) -> Said<'a> {
        remark(op, message)
    }

    /// Says that something about an operation is likely not meant; notes may follow.
    pub fn warn<'a>(&'a self, op: Op<'a>, message: impl fmt::Display) -> Said<'a> {
        warn(op, message)
    }

    /// Adds to a statistic of the pass ([`crate::Session::take_statistics`], `--mlir-pass-statistics`).
    pub fn count(&self, statistic: &str, more: usize) {
        let Some(index) = self.statistics.iter().position(|(name, _)| *name == statistic) else {
            let text = format!("internal error: {} has no statistic '{statistic}'", self.name);
            warn(self.op, text);
            return;
        };
        if let Some(carried) = ir::context::carried(self.context()) {
            carried.count(self.name, self.statistics[index], more as u64);
        }
    }

    /// An analysis of the operation: computed, or as a pass before left it.
    ///
    /// # Errors
    /// It cannot be computed, or the IR is not valid.
    pub fn analysis<A: Analysis>(&self) -> Result<&A> {
        let kind = kind::<A>();
        if !self.known().borrow().contains_key(&kind) {
            // Interfaces trust operations to be valid, and the pass may have made some that are not.
            if !ir::verify(self.op) {
                return Err(crate::Error::invalid("what an analysis is asked of is not valid IR"));
            }
            let read = || ir::context::with_access(ir::context::Access::Read, || A::of(self.op));
            let made = catch_unwind(AssertUnwindSafe(read));
            let made = made.unwrap_or_else(|payload| {
                let reason = panic_text(payload.as_ref());
                Err(crate::Error::internal(format!("an analysis panicked: {reason}")))
            })?;
            self.known().borrow_mut().entry(kind).or_insert_with(|| Box::new(made));
        }
        let known = self.known().borrow();
        let found = known.get(&kind).and_then(|found| found.downcast_ref::<A>());
        let found: Option<*const A> = found.map(std::ptr::from_ref);
        // SAFETY: an analysis stays at its place until all are forgotten, which borrows this as a whole, or this is gone.
        found
            .map(|found| unsafe { &*found })
            .ok_or_else(|| crate::Error::internal("an analysis is gone"))
    }

    /// Says that an analysis holds also behind the pass. What is not preserved is computed again.
    pub fn preserve<A: Analysis>(&self) {
        self.preserved.borrow_mut().insert(kind::<A>());
    }

    /// Says that the pass changed nothing: all analyses hold behind it.
    pub fn preserve_all(&self) {
        self.preserves_all.set(true);
    }

    /// Forgets what was computed, for a pass that changed the IR by itself and asks again.
    pub fn forget(&mut self) {
        self.known().borrow_mut().clear();
    }

    /// The analyses of the operation.
    fn known(&self) -> &Known {
        unsafe extern "C" fn drop_known(slot: *mut c_void) {
            // SAFETY: it is the box that is made below, and is dropped once.
            let known = unsafe { Box::from_raw(slot.cast::<Known>()) };
            let _ = catch_unwind(AssertUnwindSafe(|| drop(known)));
        }
        // SAFETY: the pass runs; MLIR keeps the place until the operation or what is known of it goes, and one thread at a
        // time works on the operation.
        unsafe {
            let slot = ffi::phlPassRunAnalyses(self.run, Some(drop_known));
            if (*slot).is_null() {
                *slot = Box::into_raw(Box::<Known>::default()).cast();
            }
            &*(*slot).cast::<Known>()
        }
    }

    /// Applies rules until none changes anything. Gives the number of changes.
    ///
    /// # Errors
    /// A rule failed, or they go on without an end.
    pub fn rewrite(&mut self, rules: &[Rule]) -> PassResult<'c, u64> {
        let outcome = rewrite::apply(self.op, rules).map_err(of_rule);
        self.forget();
        outcome
    }

    /// Applies patterns in PDL until none changes anything. Gives the number of changes. The text is read at each call, so
    /// that a pass on `builtin.module` is faster than one on each function.
    ///
    /// # Errors
    /// The text is not valid, or names what is not given; a closure failed; or the patterns go on without an end.
    pub fn rewrite_pdl(&mut self, patterns: &Patterns) -> PassResult<'c, u64> {
        let outcome = patterns.apply(self.op).map_err(of_rule);
        self.forget();
        outcome
    }

    /// Converts what is in the operation; a failure leaves it as it was.
    ///
    /// # Errors
    /// An operation cannot be converted: the message has it, its place, and what patterns said.
    pub fn convert(&mut self, conversion: &Conversion<'_>) -> PassResult<'c> {
        let outcome = conversion.run(self.op).map_err(of_rule);
        self.forget();
        outcome
    }

    /// Gives results of operations the types that MLIR's inference finds of their operands, where these say more of shapes:
    /// in order, so that one goes on from those before. What takes one type only, as the end of a function does, keeps
    /// it. Gives the number of results that changed.
    ///
    /// # Errors
    /// The operands of an operation do not fit together, or not with the types of its results.
    pub fn infer_types(&mut self) -> PassResult<'c, u64> {
        let mut changed = 0_u64;
        for op in ir::edit::walk(self.op) {
            let mut found = 0;
            let reason = print::collect(|callback, user| {
                // SAFETY: the operation is live; the callback and its place outlive the call.
                found = unsafe { ffi::phlOperationRefineTypes(op.to_raw(), callback, user) };
            });
            let Ok(found) = u64::try_from(found) else {
                let reason = String::from_utf8_lossy(&reason);
                return Err(self.error(op, reason.trim_start_matches(&prefix(op))));
            };
            changed += found;
        }
        self.forget();
        Ok(changed)
    }

    /// Runs passes on the operation, by a list as in a pipeline: `canonicalize,func.func(cse)`. Whoever watches the
    /// pipeline sees them.
    ///
    /// # Errors
    /// The text is no list of passes for the operation, or one of them fails.
    pub fn run_pipeline(&mut self, passes: &str) -> PassResult<'c> {
        nesting::check_text(passes.as_bytes())
            .map_err(|(_, what)| PassError::new(format!("the nested pipeline: {what}")))?;
        let _level = Level::deeper().ok_or_else(|| {
            PassError::new(format!(
                "nested pipelines are more than {LEVELS} deep: does '{passes}' run {}?",
                self.name
            ))
        })?;
        let mut manager = ffi::PhlPipeline { ptr: std::ptr::null_mut() };
        let reason = print::collect(|callback, user| {
            let text = StringRef::new(passes).to_raw();
            // SAFETY: the pass runs; the text, the callback and its place outlive the call.
            let parse = || unsafe { ffi::phlPassRunParse(self.run, text, callback, user) };
            manager = super::reading(parse);
        });
        if manager.ptr.is_null() {
            let reason = String::from_utf8_lossy(&reason).trim().to_owned();
            return Err(PassError::new(reason));
        }
        // SAFETY: the pass runs, and the call takes the pipeline.
        let ok = unsafe { ffi::phlPassRunPipeline(self.run, manager) };
        self.forget();
        match ok {
            true => Ok(()),
            false => {
                Err(PassError::new(format!("a pass of the nested pipeline '{passes}' failed")))
            }
        }
    }

    /// Tells MLIR which analyses hold.
    pub(super) fn finish(&mut self) {
        let all = self.preserves_all.get();
        let preserved = self.preserved.take();
        if all || !preserved.is_empty() {
            if !all {
                self.known().borrow_mut().retain(|kind, _| preserved.contains(kind));
            }
            // SAFETY: the pass runs.
            unsafe { ffi::phlPassRunPreserve(self.run, all) };
        }
    }
}

/// Nested pipelines in each other on one thread, at most: each takes its part of the stack.
const LEVELS: usize = 32;

/// A nested pipeline that runs on this thread.
struct Level;

impl Level {
    fn deeper() -> Option<Self> {
        thread(|state| {
            let is_free = state.level < LEVELS;
            state.level += usize::from(is_free);
            is_free.then_some(Self)
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        thread(|state| state.level -= 1);
    }
}

/// The start of messages of MLIR's verifier about an operation.
fn prefix(op: Op<'_>) -> String {
    format!("'{}' op ", ir::op_name(op))
}

fn of_rule(error: RuleError<'_>) -> PassError<'_> {
    PassError { location: Some(error.location), message: error.message }
}
