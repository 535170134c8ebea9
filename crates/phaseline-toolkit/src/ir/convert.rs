//! Dialect conversion: patterns that bring operations to those that a target has, with types that change on the way.
//!
//! A [`Conversion`] says which operations are legal, what types become, and how operations are converted. What a pattern
//! makes has to be legal, or be converted by another pattern: the failure says so. Where a converted value meets an
//! operation that is not, a cast is made. A conversion that fails leaves the IR as it was.
//!
//! ```no_run
//! # use phaseline_toolkit::{ir::{Builder, OpSpec, convert::Conversion}, Result};
//! # use phaseline_toolkit::raw::ir::{Type, r#type::IntegerType};
//! let narrow = Conversion::new()
//!     .legal(["arith", "func", "builtin.module"])
//!     .types(|context, ty| (ty == IntegerType::new(context, 64).into()).then(|| IntegerType::new(context, 32).into()))
//!     .signatures()
//!     .legal_where_types_fit()
//!     .pattern_on("arith.addi", "narrow", |_, _, rewriter| rewriter.retype());
//! ```
//!
//! Handles that a pattern is given stay in it:
//!
//! ```compile_fail
//! # use phaseline_toolkit::ir::{Op, convert::Conversion};
//! let mut kept: Option<Op<'_>> = None;
//! let slot = std::cell::RefCell::new(&mut kept);
//! let leaks = Conversion::new().pattern_on("arith.addi", "leaks", |op, _, _| {
//!     **slot.borrow_mut() = Some(op);
//!     Ok(false)
//! });
//! ```

mod answer;
mod rewriter;

use super::{
    Builder, Op, Val,
    context::{Access, panic_text, with_access},
    rewrite::RuleError,
    view::OpView,
};
use crate::{Result, ffi};
use answer::Answers;
use melior::{
    Context, StringRef,
    ir::{Type, operation::OperationLike},
};
use mlir_sys as sys;
pub(crate) use rewriter::note;
pub use rewriter::{ConversionRewriter, Operands};
use std::{
    ffi::c_void,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Legality of an operation; none leaves it to the other rules.
type Legality<'a> = Box<dyn for<'p> Fn(Op<'p>) -> Option<bool> + 'a>;
/// Types that a type is converted to; none for one that stays.
type TypeRule<'a> = Box<dyn for<'p> Fn(&'p Context, Type<'p>) -> Option<Vec<Type<'p>>> + 'a>;
/// Makes a value of a type of others; none where a cast is to be made.
type Materialize<'a> =
    Box<dyn for<'p> Fn(&Builder<'p>, Type<'p>, &[Val<'p>]) -> Result<Option<Val<'p>>> + 'a>;
/// Converts an operation.
type Apply<'a> = Box<
    dyn for<'p> Fn(Op<'p>, &Operands<'p>, &mut ConversionRewriter<'_, 'p>) -> Result<bool> + 'a,
>;

/// A pattern.
struct Pattern<'a> {
    name: String,
    /// The name of operations; empty for all.
    root: String,
    benefit: u16,
    apply: Apply<'a>,
}

/// A conversion: which operations are legal, what types become, and patterns. [`crate::pass::PassCx::convert`] runs it.
#[derive(Default)]
pub struct Conversion<'a> {
    legal: Vec<String>,
    illegal: Vec<String>,
    dynamic: Vec<(String, Legality<'a>)>,
    types: Vec<TypeRule<'a>>,
    materialize: Option<Materialize<'a>>,
    patterns: Vec<Pattern<'a>>,
    functions: Vec<String>,
    types_fit: bool,
    structure: bool,
    full: bool,
}

impl fmt::Debug for Conversion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns: Vec<_> = self.patterns.iter().map(|pattern| &pattern.name).collect();
        let mut f = f.debug_struct("Conversion");
        f.field("legal", &self.legal).field("illegal", &self.illegal);
        f.field("patterns", &patterns).field("full", &self.full).finish_non_exhaustive()
    }
}

impl<'a> Conversion<'a> {
    /// A partial conversion in which nothing is said of any operation: what cannot be converted stays.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has every operation converted that is not legal, also those of which nothing is said.
    #[must_use]
    pub fn full(mut self) -> Self {
        self.full = true;
        self
    }

    /// Operations that stay: of dialects, by their namespaces, or by name (`func.return`).
    #[must_use]
    pub fn legal<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.legal.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Operations that have to be converted: of dialects, or by name.
    #[must_use]
    pub fn illegal<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.illegal.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Operations of a name that stay where a function says so; without an answer, what else is said of them counts.
    #[must_use]
    pub fn legal_if(
        mut self,
        name: &str,
        legal: impl for<'p> Fn(Op<'p>) -> Option<bool> + 'a,
    ) -> Self {
        self.dynamic.push((name.to_owned(), Box::new(legal)));
        self
    }

    /// Has operations of which nothing else is said stay if none of their types is converted.
    #[must_use]
    pub fn legal_where_types_fit(mut self) -> Self {
        self.types_fit = true;
        self
    }

    /// Converts types one by one; none leaves a type to the functions given before, and to itself at last.
    #[must_use]
    pub fn types(
        self,
        convert: impl for<'p> Fn(&'p Context, Type<'p>) -> Option<Type<'p>> + 'a,
    ) -> Self {
        self.types_to_many(move |context, ty| convert(context, ty).map(|ty| vec![ty]))
    }

    /// Converts a type to any number of types.
    #[must_use]
    pub fn types_to_many(
        mut self,
        convert: impl for<'p> Fn(&'p Context, Type<'p>) -> Option<Vec<Type<'p>>> + 'a,
    ) -> Self {
        self.types.push(Box::new(convert));
        self
    }

    /// Makes a value of a type of others where a converted value meets an operation that is not: both ways. None leaves it
    /// to `builtin.unrealized_conversion_cast`.
    #[must_use]
    pub fn materialize(
        mut self,
        make: impl for<'p> Fn(&Builder<'p>, Type<'p>, &[Val<'p>]) -> Result<Option<Val<'p>>> + 'a,
    ) -> Self {
        self.materialize = Some(Box::new(make));
        self
    }

    /// Converts the signatures of `func.func`, and calls, returns and branches.
    #[must_use]
    pub fn signatures(self) -> Self {
        self.signatures_of("func.func")
    }

    /// The same for functions of another name, which have MLIR's interface of functions.
    #[must_use]
    pub fn signatures_of(mut self, name: &str) -> Self {
        self.functions.push(name.to_owned());
        self
    }

    /// Converts the values that loops and conditionals of `scf` carry.
    #[must_use]
    pub fn loops(mut self) -> Self {
        self.structure = true;
        self
    }

    /// Converts operations of a kind. `apply` is given the operation and the values that stand for its operands. It gives
    /// true after it replaced the operation, false or an error, which is the reason of a failure, where it does not
    /// apply.
    #[must_use]
    pub fn pattern<'x, V: OpView<'x> + 'a>(
        self,
        name: &str,
        apply: impl for<'p> Fn(
            V::At<'p>,
            &Operands<'p>,
            &mut ConversionRewriter<'_, 'p>,
        ) -> Result<bool>
        + 'a,
    ) -> Self {
        self.pattern_on(V::INFO.name, name, move |op, operands, rewriter| {
            match <V::At<'_> as OpView<'_>>::of(op) {
                Some(view) => apply(view, operands, rewriter),
                None => Ok(false),
            }
        })
    }

    /// As [`Self::pattern`], for operations of a name.
    #[must_use]
    pub fn pattern_on(
        mut self,
        root: &str,
        name: &str,
        apply: impl for<'p> Fn(Op<'p>, &Operands<'p>, &mut ConversionRewriter<'_, 'p>) -> Result<bool>
        + 'a,
    ) -> Self {
        self.patterns.push(Pattern {
            name: name.to_owned(),
            root: root.to_owned(),
            benefit: 1,
            apply: Box::new(apply),
        });
        self
    }

    /// As [`Self::pattern`], for operations of all names, tried behind those of one name.
    #[must_use]
    pub fn pattern_on_all(
        mut self,
        name: &str,
        apply: impl for<'p> Fn(Op<'p>, &Operands<'p>, &mut ConversionRewriter<'_, 'p>) -> Result<bool>
        + 'a,
    ) -> Self {
        self = self.pattern_on("", name, apply);
        if let Some(pattern) = self.patterns.last_mut() {
            pattern.benefit = 0;
        }
        self
    }

    /// Converts what is in an operation. Operations that were converted are destroyed: the caller keeps no handles.
    pub(crate) fn run<'c>(&self, op: Op<'c>) -> std::result::Result<(), RuleError<'c>> {
        let context = super::context_of(op);
        let answers = Answers::default();
        let failed = |message: String| RuleError { location: op.location(), message };
        self.check_names(context).map_err(|error| failed(error.to_string()))?;
        // SAFETY: all is live; what is made is destroyed behind its use.
        let converted = unsafe {
            let target = ffi::phlConversionTargetCreate(context.to_raw());
            let converter = ffi::phlTypeConverterCreate();
            let set = sys::mlirRewritePatternSetCreate(context.to_raw());
            let names: Vec<&str> = self.patterns.iter().map(|one| one.root.as_str()).collect();
            let state =
                State { context, target, converter, answers: &answers, full: self.full, names };
            // What callbacks are given stays at its place until the conversion is done.
            let types: Vec<_> = self.types.iter().map(|of| Called { of, state: &state }).collect();
            let made: Vec<_> =
                self.materialize.iter().map(|of| Called { of, state: &state }).collect();
            let legal: Vec<_> =
                self.dynamic.iter().map(|(_, of)| Called { of, state: &state }).collect();
            let patterns: Vec<_> =
                self.patterns.iter().map(|of| Called { of, state: &state }).collect();
            for called in &types {
                ffi::phlTypeConverterAddConversion(converter, Some(convert_type), address(called));
            }
            for called in &made {
                ffi::phlTypeConverterAddMaterialization(
                    converter,
                    Some(materialize),
                    address(called),
                );
            }
            let text = |name: &str| StringRef::new(name).to_raw();
            for name in &self.functions {
                ffi::phlConversionAddSignatures(set, target, converter, text(name));
            }
            if self.structure {
                ffi::phlConversionAddStructure(set, target, converter);
            }
            for name in &self.legal {
                ffi::phlConversionTargetAddLegal(target, text(name));
            }
            for name in &self.illegal {
                ffi::phlConversionTargetAddIllegal(target, text(name));
            }
            for ((name, _), called) in self.dynamic.iter().zip(&legal) {
                let user = address(called);
                ffi::phlConversionTargetAddDynamic(target, text(name), Some(is_legal), user);
            }
            if self.types_fit {
                let user = std::ptr::from_ref(&state).cast_mut().cast();
                ffi::phlConversionTargetAddDynamic(target, text(""), Some(types_fit), user);
            }
            for called in &patterns {
                ffi::phlConversionPatternAdd(
                    set,
                    text(&called.of.root),
                    called.of.benefit.into(),
                    context.to_raw(),
                    converter,
                    Some(rewrite),
                    address(called),
                );
            }
            let tell = std::ptr::from_ref(&answers).cast_mut().cast();
            let ok = ffi::phlConversionApply(
                op.to_raw(),
                target,
                set,
                self.full,
                Some(answer::tell),
                tell,
            );
            sys::mlirRewritePatternSetDestroy(set);
            ffi::phlTypeConverterDestroy(converter);
            ffi::phlConversionTargetDestroy(target);
            ok
        };
        answers.outcome(op, converted, self)
    }

    /// Fails for names that there are not: a wrong one would be legal, or converted, nowhere.
    fn check_names(&self, context: &Context) -> Result<()> {
        let roots =
            self.patterns.iter().map(|pattern| &pattern.root).filter(|root| !root.is_empty());
        let dynamic = self.dynamic.iter().map(|(name, _)| name);
        let all = self.legal.iter().chain(&self.illegal).chain(dynamic).chain(roots);
        for name in all.chain(&self.functions) {
            if name.contains('.') && !context.is_registered_operation(name) {
                return Err(crate::Error::invalid(format!(
                    "a conversion names '{name}', and there is no such operation: the session has to know its \
                     dialect"
                )));
            }
        }
        Ok(())
    }

    /// True if a pattern may convert operations of a name.
    fn converts(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.root == name || pattern.root.is_empty())
    }
}

/// The part that all callbacks of a run share.
struct State<'s, 'c> {
    context: &'c Context,
    target: ffi::PhlConversionTarget,
    converter: ffi::PhlTypeConverter,
    answers: &'s Answers,
    full: bool,
    /// The names of operations that patterns are for.
    names: Vec<&'s str>,
}

/// A function of the user, as a callback finds it.
struct Called<'s, 'c, T> {
    of: &'s T,
    state: &'s State<'s, 'c>,
}

fn address<T>(called: &Called<'_, '_, T>) -> *mut c_void {
    std::ptr::from_ref(called).cast_mut().cast()
}

impl<'c> State<'_, 'c> {
    /// Calls a function of the user; a panic is a fault.
    fn guarded<T>(&self, access: Access, what: &str, run: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| with_access(access, run))) {
            Ok(value) => Some(value),
            Err(payload) => {
                let reason = panic_text(payload.as_ref());
                self.answers.fault(format!(
                    "internal error: {what} panicked: {reason} (please report this)"
                ));
                None
            }
        }
    }

    fn is_home(&self, part: &impl super::origin::InContext, what: &str) -> bool {
        let checked = super::origin::check_home(self.context, part, || what.to_owned());
        checked.map_err(|error| self.answers.fault(error.to_string())).is_ok()
    }
}

unsafe extern "C" fn convert_type(
    ty: sys::MlirType,
    push: ffi::PhlTypeCallback,
    out: *mut c_void,
    user: *mut c_void,
) -> ffi::PhlAnswer::Type {
    // SAFETY: `user` is one of the functions of a run, which outlive it; the type is live.
    let (called, ty) =
        unsafe { (&*user.cast::<Called<'_, '_, TypeRule<'_>>>(), Type::from_raw(ty)) };
    let state = called.state;
    let convert = || (called.of)(state.context, ty);
    let Some(Some(types)) = state.guarded(Access::Read, "the conversion of types", convert) else {
        return ffi::PhlAnswer::PHL_ANSWER_NONE;
    };
    for ty in types {
        if !state.is_home(&ty, "a type that another one becomes") {
            return ffi::PhlAnswer::PHL_ANSWER_NO;
        }
        use melior::ir::TypeLike;
        // SAFETY: the callback and its list are MLIR's, and live during the call.
        push.inspect(|push| unsafe { push(ty.to_raw(), out) });
    }
    ffi::PhlAnswer::PHL_ANSWER_YES
}

unsafe extern "C" fn is_legal(op: sys::MlirOperation, user: *mut c_void) -> ffi::PhlAnswer::Type {
    // SAFETY: as above.
    let (called, op) = unsafe { (&*user.cast::<Called<'_, '_, Legality<'_>>>(), Op::from_raw(op)) };
    let legal = || (called.of)(op);
    match called.state.guarded(Access::Read, "the legality of an operation", legal).flatten() {
        Some(true) => ffi::PhlAnswer::PHL_ANSWER_YES,
        Some(false) => ffi::PhlAnswer::PHL_ANSWER_NO,
        None => ffi::PhlAnswer::PHL_ANSWER_NONE,
    }
}

unsafe extern "C" fn types_fit(op: sys::MlirOperation, user: *mut c_void) -> ffi::PhlAnswer::Type {
    // SAFETY: `user` is the state of the run; the operation is live.
    match unsafe { ffi::phlTypeConverterIsLegal((*user.cast::<State<'_, '_>>()).converter, op) } {
        true => ffi::PhlAnswer::PHL_ANSWER_YES,
        false => ffi::PhlAnswer::PHL_ANSWER_NO,
    }
}

unsafe extern "C" fn materialize(
    raw: sys::MlirRewriterBase,
    block: sys::MlirBlock,
    before: sys::MlirOperation,
    location: sys::MlirLocation,
    ty: sys::MlirType,
    inputs: *const sys::MlirValue,
    count: isize,
    user: *mut c_void,
) -> sys::MlirValue {
    let none = sys::MlirValue { ptr: std::ptr::null() };
    // SAFETY: `user` is a function of the run; the rest is live, and as many values as are said.
    let (called, builder, ty, values) = unsafe {
        let called = &*user.cast::<Called<'_, '_, Materialize<'_>>>();
        let location = melior::ir::Location::from_raw(location);
        let builder = match before.ptr.is_null() {
            true => Builder::at_end(called.state.context, super::Blk::from_raw(block), location),
            false => match Builder::before(Op::from_raw(before)) {
                Ok(builder) => builder.with_location(location),
                Err(_) => return none,
            },
        };
        let values: Vec<_> =
            (0..count as usize).map(|index| Val::from_raw(*inputs.add(index))).collect();
        (called, builder.told(raw), Type::from_raw(ty), values)
    };
    let make = || (called.of)(&builder, ty, &values);
    use melior::ir::ValueLike;
    match called.state.guarded(Access::Rewriter, "the materialization of a value", make) {
        Some(Ok(Some(value))) if value.r#type() == ty => value.to_raw(),
        Some(Ok(Some(value))) => {
            called.state.answers.fault(format!(
                "a value of type {} was made where one of type {ty} was asked for",
                value.r#type()
            ));
            none
        }
        Some(Err(error)) => {
            called.state.answers.fault(error.to_string());
            none
        }
        Some(Ok(None)) | None => none,
    }
}

unsafe extern "C" fn rewrite(
    op: sys::MlirOperation,
    values: *const sys::MlirValue,
    sizes: *const isize,
    count: isize,
    raw: sys::MlirRewriterBase,
    user: *mut c_void,
) -> bool {
    // SAFETY: `user` is a pattern of the run; the rest is live, and as many as are said.
    let (called, op, operands) = unsafe {
        let mut next = values;
        let lists = (0..count as usize).map(|index| {
            let size = *sizes.add(index) as usize;
            let list = (0..size).map(|at| Val::from_raw(*next.add(at))).collect();
            next = next.add(size);
            list
        });
        let operands = Operands::new(lists.collect());
        (&*user.cast::<Called<'_, '_, Pattern<'_>>>(), Op::from_raw(op), operands)
    };
    let (state, pattern) = (called.state, called.of);
    if super::context::is_cancelled(state.context) {
        state.answers.fault("the conversion was cancelled".to_owned());
        return false;
    }
    let mut rewriter = ConversionRewriter::new(raw, state.context, state.converter, op, &operands);
    let what = format!("the pattern '{}'", pattern.name);
    let (outcome, made) = rewriter::noted(|| {
        state.guarded(Access::Rewriter, &what, || (pattern.apply)(op, &operands, &mut rewriter))
    });
    let reason = match outcome {
        Some(Ok(true)) if rewriter.is_done() => {
            // Nothing is destroyed before the conversion is done.
            made.into_iter().for_each(|made| state.check_made(&pattern.name, op, made));
            return true;
        }
        Some(Ok(true)) => {
            "it says that it converted the operation, and did not replace it".to_owned()
        }
        Some(Ok(false)) => "it does not apply".to_owned(),
        Some(Err(error)) => error.to_string(),
        None => return false,
    };
    state.answers.reason(op, format!("the pattern '{}': {reason}", pattern.name));
    false
}

impl State<'_, '_> {
    /// Notes an operation that a pattern made and nothing can convert.
    fn check_made(&self, pattern: &str, root: Op<'_>, made: Op<'_>) {
        // SAFETY: the target and the operation are live.
        let legal = unsafe { ffi::phlConversionTargetIsLegal(self.target, made.to_raw()) };
        let name = super::op_name(made);
        let converts = self.names.iter().any(|root| root.is_empty() || *root == name);
        let stays = match legal {
            ffi::PhlAnswer::PHL_ANSWER_YES => true,
            ffi::PhlAnswer::PHL_ANSWER_NONE => !self.full,
            _ => false,
        };
        if !stays && !converts {
            self.answers.reason(
                root,
                format!(
                    "the pattern '{pattern}' made '{name}', which is not legal, and which no pattern converts: add \
                     it to the legal operations"
                ),
            );
        }
    }
}
