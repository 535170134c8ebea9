//! Rewriting: rules that MLIR's greedy driver applies until none of them changes anything.
//!
//! A rule changes the IR through its [`Rewriter`] alone, which tells the driver of each change. The
//! driver looks again at operations where something about them changed, and erases unused ones
//! without effects. An operation that was erased stays in memory until the rule returns, so that a
//! handle of it does no harm.

use super::{
    Builder, Op, Val,
    context::{Access, with_access},
    edit, origin, remove,
};
use crate::{Error, Result};
use melior::{
    Context, StringRef,
    ir::{Attribute, Type, ValueLike, operation::OperationLike},
};
use mlir_sys as sys;
use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Rounds of the driver over all operations, at most.
const MAX_ROUNDS: i64 = 100;

/// Changes in a round for each operation, at most: a rule that undoes what another one does never ends.
const CHANGES_OF_EACH: i64 = 100;

/// A rule: one change at operations of one name.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Name in options and messages: kebab-case.
    pub name: &'static str,
    /// Name of the operations that the rule looks at.
    pub root: &'static str,
    /// Rules of more benefit are tried first.
    pub benefit: u16,
    /// Changes the operation, or what is around it. Gives true if it did; what is false has changed nothing.
    pub apply: for<'c> fn(&mut Rewriter<'_, 'c>, Op<'c>) -> Result<bool>,
}

/// Declares a [`Rule`] on operations of a name, or on a typed view (`on toy::Transpose`). The body is that of a function:
/// `Ok(true)` says that something changed.
///
/// ```
/// # use phaseline_toolkit::ir;
/// phaseline_toolkit::rule! {
///     /// `x + x` is `2 * x`.
///     pub DOUBLE = "double" on "arith.addi": |rewriter, op| {
///         let [a, b] = ir::operands(op)[..] else { return Ok(false) };
///         if a != b {
///             return Ok(false);
///         }
///         let builder = rewriter.before(op)?;
///         let two = builder.constant_int(ir::type_of(a), 2)?;
///         let product = builder.binary("arith.muli", a, two)?;
///         rewriter.replace(op, &[product])?;
///         Ok(true)
///     }
/// }
/// assert_eq!(DOUBLE.root, "arith.addi");
/// ```
#[macro_export]
macro_rules! rule {
    ($(#[$about:meta])* $vis:vis $constant:ident = $name:literal on $root:literal: |$rewriter:ident, $op:ident| $body:block) => {
        $(#[$about])*
        $vis const $constant: $crate::ir::rewrite::Rule = {
            fn apply<'c>(
                $rewriter: &mut $crate::ir::rewrite::Rewriter<'_, 'c>,
                $op: $crate::ir::Op<'c>,
            ) -> $crate::Result<bool> $body
            $crate::ir::rewrite::Rule { name: $name, root: $root, benefit: 1, apply }
        };
    };
    ($(#[$about:meta])* $vis:vis $constant:ident = $name:literal on $($view:ident)::+: |$rewriter:ident, $op:ident| $body:block) => {
        $(#[$about])*
        $vis const $constant: $crate::ir::rewrite::Rule = {
            #[allow(unused_imports, reason = "the body may need it")]
            use $crate::ir::view::OpView as _;
            fn apply<'c>(
                $rewriter: &mut $crate::ir::rewrite::Rewriter<'_, 'c>,
                op: $crate::ir::Op<'c>,
            ) -> $crate::Result<bool> {
                let Some($op) = $($view)::+::of(op) else { return Ok(false) };
                $body
            }
            $crate::ir::rewrite::Rule { name: $name, root: $($view)::+::NAME, benefit: 1, apply }
        };
    };
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule")
            .field("name", &self.name)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// A failure of a rule, at an operation.
#[derive(Debug)]
#[doc(hidden)]
pub struct RuleError<'c> {
    /// The operation that the rule looked at.
    pub location: melior::ir::Location<'c>,
    /// The message, naming rule and operation.
    pub message: String,
}

/// Changes the IR on behalf of a rule.
pub struct Rewriter<'r, 'c> {
    raw: sys::MlirRewriterBase,
    context: &'c Context,
    /// Operations out of the IR, to be destroyed when the rule returns.
    erased: Vec<Op<'c>>,
    changed: bool,
    changes: u64,
    /// True in the middle of a PDL rewrite, which has handles of its own.
    only_builds: bool,
    driver: PhantomData<&'r Cell<()>>,
}

impl<'c> Rewriter<'_, 'c> {
    pub(super) fn new(
        raw: sys::MlirRewriterBase,
        context: &'c Context,
        changes: u64,
        only_builds: bool,
    ) -> Self {
        let (erased, driver) = (vec![], PhantomData);
        Self { raw, context, erased, changed: false, changes, only_builds, driver }
    }

    /// A builder at the place where the driver inserts: in front of the operation that is rewritten.
    ///
    /// # Errors
    /// The driver inserts nowhere.
    pub fn builder(&self) -> Result<Builder<'c>> {
        // SAFETY: the rewriter lives while its rule runs.
        let next = unsafe { sys::mlirRewriterBaseGetOperationAfterInsertion(self.raw) };
        if next.ptr.is_null() {
            return Err(Error::invalid("there is no operation to build in front of"));
        }
        // SAFETY: it is an operation of what is rewritten.
        self.before(unsafe { Op::from_raw(next) })
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The number of changes that this rule made before this one: for names that stay the same from run to run.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// A builder in front of an operation, with its location.
    ///
    /// # Errors
    /// The operation is in no block.
    pub fn before(&self, op: Op<'c>) -> Result<Builder<'c>> {
        Ok(Builder::before(op)?.told(self.raw))
    }

    /// Replaces the results of an operation by other values, and erases it.
    ///
    /// # Errors
    /// The values are not as many as the results, or not of their types.
    pub fn replace(&mut self, op: Op<'c>, values: &[Val<'c>]) -> Result<()> {
        let results = super::results(op);
        if results.len() != values.len() {
            return Err(Error::invalid(format!(
                "'{}' has {} results and was to be replaced by {} values",
                super::op_name(op),
                results.len(),
                values.len()
            )));
        }
        for (of, with) in results.into_iter().zip(values) {
            self.replace_uses(of, *with)?;
        }
        self.erase(op)
    }

    /// Makes every use of `of` a use of `with`, a value of the same type.
    ///
    /// # Errors
    /// The types differ.
    pub fn replace_uses(&mut self, of: Val<'c>, with: Val<'c>) -> Result<()> {
        self.check_type(of, with, "a value")?;
        for user in super::users(of) {
            check_inside(user, with)?;
        }
        // SAFETY: both values are live and of one type.
        unsafe { sys::mlirRewriterBaseReplaceAllUsesWith(self.raw, of.to_raw(), with.to_raw()) };
        self.changed = true;
        Ok(())
    }

    /// Takes an unused operation out of the IR.
    ///
    /// # Errors
    /// Something uses its results or what is in it, it names other blocks, or the driver runs on it.
    pub fn erase(&mut self, op: Op<'c>) -> Result<()> {
        if self.only_builds {
            return Err(Error::invalid(
                "in the middle of a PDL rewrite nothing is erased: pdl.replace and pdl.erase do that",
            ));
        }
        let makers: Vec<_> =
            super::operands(op).into_iter().filter_map(edit::defining_op).collect();
        remove::detach(op)?;
        // What made its operands may be dead now.
        makers.into_iter().for_each(|maker| self.touch(maker));
        self.erased.push(op);
        self.changed = true;
        Ok(())
    }

    /// Gives an operation another operand, of the same type.
    ///
    /// # Errors
    /// There is no such operand, or it has another type.
    pub fn set_operand(&mut self, op: Op<'c>, index: usize, value: Val<'c>) -> Result<()> {
        let old = super::operands(op).get(index).copied();
        if let Some(old) = old {
            self.check_type(old, value, "an operand")?;
        }
        check_inside(op, value)?;
        self.retype_operand(op, index, value)
    }

    /// Sets an attribute, inherent or discardable.
    ///
    /// # Errors
    /// The attribute is of another session, or the name is empty.
    pub fn set_attr(&mut self, op: Op<'c>, name: &str, value: Attribute<'c>) -> Result<()> {
        super::set_attr(op, name, value)?;
        self.touch(op);
        Ok(())
    }

    /// Moves an operation in front of another one.
    ///
    /// # Errors
    /// One of them is in no block, or the one is inside of the other.
    pub fn move_before(&mut self, op: Op<'c>, other: Op<'c>) -> Result<()> {
        let mut around = std::iter::successors(Some(other), |op| op.parent_operation());
        if op.block().is_none()
            || other.block().is_none()
            || !edit::same(outermost(op), outermost(other))
            || around.any(|around| edit::same(around, op))
        {
            let name = super::op_name(op);
            return Err(Error::invalid(format!("'{name}' cannot be moved there")));
        }
        // SAFETY: both are live operations in blocks.
        unsafe { sys::mlirRewriterBaseMoveOpBefore(self.raw, op.to_raw(), other.to_raw()) };
        self.touch(op);
        Ok(())
    }

    /// Moves an operation behind another one.
    ///
    /// # Errors
    /// As [`Self::move_before`]; and `other` is the last of its block.
    pub fn move_after(&mut self, op: Op<'c>, other: Op<'c>) -> Result<()> {
        match other.next_in_block() {
            Some(next) if edit::same(next, op) => Ok(()),
            Some(next) => self.move_before(op, next),
            None => {
                let name = super::op_name(op);
                Err(Error::invalid(format!("'{name}' cannot be moved behind the end of a block")))
            }
        }
    }

    unchecked! {
        /// Gives an operation an operand of another type. Types have to fit together when the rule returns.
        pub fn retype_operand(&mut self, op: Op<'c>, index: usize, value: Val<'c>) -> Result<()> {
            let old = super::operands(op).get(index).copied().and_then(edit::defining_op);
            edit::set_operand(op, index, value)?;
            self.touch(op);
            old.into_iter().for_each(|maker| self.touch(maker));
            Ok(())
        }
    }

    unchecked! {
        /// Makes every use of `of` a use of `with`, of another type. Types have to fit together when the rule returns.
        pub fn retype_uses(&mut self, of: Val<'c>, with: Val<'c>) {
            let users = super::users(of);
            edit::replace_uses(of, with);
            self.changed = true;
            users.into_iter().for_each(|user| self.touch(user));
        }
    }

    unchecked! {
        /// Changes the type of a value. Types have to fit together when the rule returns.
        pub fn set_type(&mut self, value: Val<'c>, ty: Type<'c>) {
            edit::set_type(value, ty);
            super::users(value).into_iter().for_each(|user| self.touch(user));
            edit::defining_op(value).into_iter().for_each(|maker| self.touch(maker));
        }
    }

    /// Has the driver look at an operation again.
    fn touch(&mut self, op: Op<'c>) {
        self.changed = true;
        // SAFETY: the operation is live.
        unsafe {
            sys::mlirRewriterBaseStartOpModification(self.raw, op.to_raw());
            sys::mlirRewriterBaseFinalizeOpModification(self.raw, op.to_raw());
        }
    }

    fn check_type(&self, old: Val<'c>, new: Val<'c>, what: &str) -> Result<()> {
        origin::check_home(&old, &new, || format!("{what} that takes the place of another one"))?;
        match old.r#type() == new.r#type() {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{what} of type {} was to become one of type {}",
                old.r#type(),
                new.r#type()
            ))),
        }
    }

    /// Destroys what was erased.
    pub(super) fn finish(&mut self) {
        for op in self.erased.drain(..).rev() {
            // SAFETY: the operation is in no block, and nothing uses it; no handle of it is used after the rule.
            unsafe { sys::mlirRewriterBaseEraseOp(self.raw, op.to_raw()) };
        }
    }
}

/// The operation around an operation that nothing is around.
fn outermost(op: Op<'_>) -> Op<'_> {
    std::iter::successors(Some(op), |op| op.parent_operation()).last().unwrap_or(op)
}

/// Fails if an operation cannot use a value, which is of another module or of what was erased.
fn check_inside<'c>(user: Op<'c>, value: Val<'c>) -> Result<()> {
    let name = super::op_name(user);
    match user.block() {
        Some(block) => origin::check_value(block, value, name),
        None => Err(Error::invalid(format!("'{name}' was erased"))),
    }
}

/// Applies a rule once, for a driver that is MLIR's own.
pub(crate) fn once<'c>(
    rule: Rule,
    context: &'c Context,
    op: Op<'c>,
    raw: sys::MlirRewriterBase,
) -> std::result::Result<bool, RuleError<'c>> {
    let error = RefCell::new(None);
    let called = Called { rule, context, except: &[], error: &error, changes: Cell::new(0) };
    let changed = called.call(op, raw);
    match error.take() {
        Some(error) => Err(error),
        None => Ok(changed),
    }
}

/// A rule as the driver calls it.
struct Called<'e, 'c> {
    rule: Rule,
    context: &'c Context,
    except: &'e [&'e str],
    error: &'e RefCell<Option<RuleError<'c>>>,
    changes: Cell<u64>,
}

impl<'c> Called<'_, 'c> {
    fn call(&self, op: Op<'c>, raw: sys::MlirRewriterBase) -> bool {
        let is_left_alone = self.except.iter().any(|name| op.has_attribute(name));
        if is_left_alone || self.error.borrow().is_some() {
            return false;
        }
        let mut rewriter = Rewriter::new(raw, self.context, self.changes.get(), false);
        let (location, name) = (op.location(), super::op_name(op));
        if super::context::is_cancelled(self.context) {
            let message = "the rules were cancelled".to_owned();
            *self.error.borrow_mut() = Some(RuleError { location, message });
            return true;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            with_access(Access::Rewriter, || (self.rule.apply)(&mut rewriter, op))
        }));
        rewriter.finish();
        let failure = match outcome {
            Ok(Ok(changed)) => {
                let changed = changed || rewriter.changed;
                self.changes.set(self.changes.get() + u64::from(changed));
                return changed;
            }
            Ok(Err(error)) => error.to_string(),
            Err(panic) => format!(
                "internal error: the rule panicked: {} (please report this)",
                super::context::panic_text(panic.as_ref())
            ),
        };
        let message = format!("'{name}' op {failure} [rule {}]", self.rule.name);
        *self.error.borrow_mut() = Some(RuleError { location, message });
        true
    }
}

unsafe extern "C" fn destruct(_: *mut c_void) {}

unsafe extern "C" fn match_and_rewrite(
    _: sys::MlirRewritePattern,
    op: sys::MlirOperation,
    rewriter: sys::MlirPatternRewriter,
    user: *mut c_void,
) -> sys::MlirLogicalResult {
    // SAFETY: `user` is one of the calls below, which outlive the driver; the operation is live.
    let changed = unsafe {
        let called = &*user.cast::<Called<'_, '_>>();
        called.call(Op::from_raw(op), sys::mlirPatternRewriterAsBase(rewriter))
    };
    sys::MlirLogicalResult { value: i8::from(changed) }
}

unchecked! {
    /// Applies rules to all operations in the regions of `op` until none changes anything. Gives the number of changes.
    /// Operations that go are destroyed: the caller keeps no handles. [`crate::pass::PassCx::rewrite`] sees to that.
    pub fn apply<'c>(op: Op<'c>, rules: &[Rule]) -> std::result::Result<u64, RuleError<'c>> {
        apply_except(op, rules, &[])
    }
}

unchecked! {
    /// The same, but for operations that have one of these attributes.
    pub fn apply_except<'c>(
        op: Op<'c>,
        rules: &[Rule],
        except: &[&str],
    ) -> std::result::Result<u64, RuleError<'c>> {
        drive(op, rules, except)
    }
}

fn drive<'c>(
    op: Op<'c>,
    rules: &[Rule],
    except: &[&str],
) -> std::result::Result<u64, RuleError<'c>> {
    let context = super::context_of(op);
    let error = RefCell::new(None);
    let called: Vec<_> = rules
        .iter()
        .map(|rule| Called { rule: *rule, context, except, error: &error, changes: Cell::new(0) })
        .collect();
    // SAFETY: patterns, their set and the configuration are destroyed after their use; `called` outlives them.
    let converged = unsafe {
        let set = sys::mlirRewritePatternSetCreate(context.to_raw());
        for called in &called {
            let callbacks = sys::MlirRewritePatternCallbacks {
                construct: None,
                destruct: Some(destruct),
                matchAndRewrite: Some(match_and_rewrite),
            };
            let user = std::ptr::from_ref(called).cast_mut().cast();
            let root = StringRef::new(called.rule.root).to_raw();
            let benefit = u32::from(called.rule.benefit);
            sys::mlirRewritePatternSetAdd(
                set,
                sys::mlirOpRewritePatternCreate(
                    root,
                    benefit,
                    context.to_raw(),
                    callbacks,
                    user,
                    0,
                    std::ptr::null_mut(),
                ),
            );
        }
        greedy(op, set)
    };
    if let Some(error) = error.take() {
        return Err(error);
    }
    if !converged {
        let names: Vec<_> = rules.iter().map(|rule| rule.name).collect();
        return Err(RuleError {
            location: op.location(),
            message: format!("rules {} change the operations without an end", names.join(", ")),
        });
    }
    Ok(called.iter().map(|called| called.changes.get()).sum())
}

/// Applies patterns to what is in an operation until none changes anything; false if they go on without an end. Takes the set.
///
/// # Safety
/// What the patterns call is live.
pub(super) unsafe fn greedy(op: Op<'_>, set: sys::MlirRewritePatternSet) -> bool {
    // SAFETY: the set and the configuration are destroyed after their use.
    unsafe {
        let frozen = sys::mlirFreezeRewritePattern(set);
        let config = sys::mlirGreedyRewriteDriverConfigCreate();
        sys::mlirGreedyRewriteDriverConfigSetUseTopDownTraversal(config, true);
        let most = CHANGES_OF_EACH.saturating_mul(edit::walk(op).len() as i64 + 1);
        sys::mlirGreedyRewriteDriverConfigSetMaxIterations(config, MAX_ROUNDS);
        sys::mlirGreedyRewriteDriverConfigSetMaxNumRewrites(config, most);
        // Constants are folded where a pipeline says so, with its limit on their size.
        sys::mlirGreedyRewriteDriverConfigEnableFolding(config, false);
        sys::mlirGreedyRewriteDriverConfigEnableConstantCSE(config, false);
        sys::mlirGreedyRewriteDriverConfigSetRegionSimplificationLevel(
            config,
            sys::MlirGreedySimplifyRegionLevel_MLIR_GREEDY_SIMPLIFY_REGION_LEVEL_DISABLED,
        );
        let outcome = sys::mlirApplyPatternsAndFoldGreedilyWithOp(op.to_raw(), frozen, config);
        sys::mlirGreedyRewriteDriverConfigDestroy(config);
        sys::mlirFrozenRewritePatternSetDestroy(frozen);
        sys::mlirRewritePatternSetDestroy(set);
        outcome.value != 0
    }
}
