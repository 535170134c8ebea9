//! Verifiers, folds, canonicalisation rules and inference of types of one's own operations, in Rust.
//!
//! ODS declares them (`hasVerifier`, `hasRegionVerifier`, `hasFolder`, `hasCanonicalizer`,
//! `DeclareOpInterfaceMethods<InferTypeOpInterface>`); [`crate::Toolkit`] is given the
//! functions. MLIR calls them wherever it verifies, folds or canonicalises, on any thread. They read the IR; only
//! rules change it. A panic is an error about the operation.

use super::{
    Op, Val,
    context::{Access, carried, carried_raw, panic_text, with_access},
    origin, rewrite,
    rewrite::Rule,
};
use crate::ffi;
use melior::{
    Context, ContextRef, StringRef,
    ir::{Attribute, AttributeLike, Type, TypeLike, ValueLike, operation::OperationLike},
};
use mlir_sys as sys;
use std::{
    collections::BTreeMap,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// The fold of an operation with one result.
#[derive(Clone, Copy, Debug)]
pub enum Folded<'c> {
    /// A constant, which the dialect's constant operation is made of.
    Constant(Attribute<'c>),
    /// A value that is there: an operand, most often.
    Value(Val<'c>),
}

/// Verifier of an operation: the error describes the fault.
pub(crate) type Verify = dyn for<'c> Fn(Op<'c>) -> Result<(), String> + Send + Sync;
/// Fold of an operation, by its operands that are constant.
pub(crate) type Fold =
    dyn for<'c> Fn(Op<'c>, &[Option<Attribute<'c>>]) -> Option<Folded<'c>> + Send + Sync;

/// Type inference: types of results, by operands and a dictionary of attributes.
pub(crate) type Infer =
    dyn for<'c> Fn(&[Val<'c>], Attribute<'c>) -> Result<Vec<Type<'c>>, String> + Send + Sync;

/// The bodies of operations of one name.
#[derive(Clone)]
pub(crate) struct Body {
    /// The functions that call them: those of the program, or of the plugin, that they are from. A panic goes to code that was
    /// built with it.
    by: &'static ffi::PhlBodies,
    pub verify: Option<Arc<Verify>>,
    pub regions: Option<Arc<Verify>>,
    pub fold: Option<Arc<Fold>>,
    pub rules: Vec<Rule>,
    pub infer: Option<Arc<Infer>>,
}

impl Default for Body {
    fn default() -> Self {
        Self { by: &HERE, verify: None, regions: None, fold: None, rules: vec![], infer: None }
    }
}

impl Body {
    /// The functions that call the bodies, if they are not those of this module.
    fn elsewhere(&self) -> Option<&'static ffi::PhlBodies> {
        (!std::ptr::eq(self.by, &raw const HERE)).then_some(self.by)
    }
}

/// The functions of this module.
static HERE: ffi::PhlBodies = ffi::PhlBodies {
    verify: Some(verify),
    fold: Some(fold),
    patterns: Some(patterns),
    infer: Some(infer),
};

/// The bodies of operations, by name.
pub(crate) type Bodies = BTreeMap<String, Body>;

/// Registers the functions of this module with MLIR.
pub(crate) fn install() {
    // SAFETY: the table lives for ever.
    unsafe { ffi::phlSetBodies(&raw const HERE) };
}

/// The bodies of an operation.
fn found<'c>(op: Op<'c>) -> Option<&'c Body> {
    carried(super::context_of(op))?.bodies().get(super::op_name(op))
}

unsafe extern "C" fn verify(
    op: sys::MlirOperation,
    regions: bool,
    fault: sys::MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: MLIR passes a live operation.
    let op = unsafe { Op::from_raw(op) };
    let body = found(op);
    if let Some(verify) = body.and_then(Body::elsewhere).and_then(|by| by.verify) {
        // SAFETY: what MLIR gave is passed on.
        return unsafe { verify(op.to_raw(), regions, fault, user) };
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let verify = body.and_then(|body| match regions {
            true => body.regions.clone(),
            false => body.verify.clone(),
        });
        match (verify, regions) {
            (Some(verify), _) => with_access(Access::Read, || verify(op)),
            (None, true) => Err(missing("hasRegionVerifier", "region_verifier")),
            (None, false) => Err(missing("hasVerifier", "verifier")),
        }
    }));
    let reason = match outcome {
        Ok(Ok(())) => return true,
        Ok(Err(reason)) => reason,
        Err(payload) => format!(
            "internal error: the verifier panicked: {} (please report this)",
            panic_text(payload.as_ref())
        ),
    };
    // SAFETY: the callback and its place are live during the call, and the text is copied.
    fault.inspect(|fault| unsafe { fault(StringRef::new(&reason).to_raw(), user) });
    false
}

/// The fault of an operation whose verifier is declared, and is nowhere.
fn missing(declared: &str, method: &str) -> String {
    format!("declares {declared}, and the toolkit has no verifier of it: add Toolkit::{method}")
}

unsafe extern "C" fn fold(
    op: sys::MlirOperation,
    operands: *const sys::MlirAttribute,
    count: isize,
    attribute: *mut sys::MlirAttribute,
    value: *mut sys::MlirValue,
) -> bool {
    // SAFETY: MLIR passes a live operation.
    let body = found(unsafe { Op::from_raw(op) });
    if let Some(fold) = body.and_then(Body::elsewhere).and_then(|by| by.fold) {
        // SAFETY: what MLIR gave is passed on.
        return unsafe { fold(op, operands, count, attribute, value) };
    }
    // SAFETY: MLIR passes a live operation, and as many attributes as is said, some of them null.
    let (op, operands) = unsafe {
        let list = (0..count as usize).map(|at| Attribute::from_option_raw(*operands.add(at)));
        (Op::from_raw(op), list.collect::<Vec<_>>())
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let fold = body.and_then(|body| body.fold.clone())?;
        with_access(Access::Read, || fold(op, &operands)).filter(|folded| fits(op, folded))
    }));
    let folded = match outcome {
        Ok(Some(folded)) => folded,
        Ok(None) => return false,
        Err(payload) => {
            let text = format!(
                "'{}' op internal error: the fold panicked: {} (please report this)",
                super::op_name(op),
                panic_text(payload.as_ref())
            );
            crate::ir::context::complain(op, &text);
            return false;
        }
    };
    // SAFETY: there is room for one result.
    unsafe {
        match folded {
            Folded::Constant(constant) => *attribute = constant.to_raw(),
            Folded::Value(found) => *value = found.to_raw(),
        }
    }
    true
}

/// True if an operation may be replaced so; what may not be is told, and left alone.
fn fits(op: Op<'_>, folded: &Folded<'_>) -> bool {
    let Ok(result) = super::result0(op) else { return false };
    let checked = match folded {
        Folded::Constant(constant) => {
            origin::check_home(&op, constant, || "what an operation folds to".to_owned())
        }
        Folded::Value(value) => origin::check_home(&op, value, || "a value".to_owned())
            .and_then(|()| match op.block() {
                Some(block) => origin::check_value(block, *value, super::op_name(op)),
                None => Ok(()),
            })
            .and_then(|()| match value.r#type() == result.r#type() && *value != result {
                true => Ok(()),
                false => Err(crate::Error::invalid(format!(
                    "its result of type {} folds to a value of type {}, or to itself",
                    result.r#type(),
                    value.r#type()
                ))),
            }),
    };
    let name = super::op_name(op);
    checked.map_err(|error| super::context::complain(op, &format!("'{name}' op {error}"))).is_ok()
}

/// A rule that MLIR's canonicalizer has, as long as its pattern.
struct Canonical {
    rule: Rule,
    context: ContextRef<'static>,
}

unsafe extern "C" fn patterns(
    set: sys::MlirRewritePatternSet,
    context: sys::MlirContext,
    name: sys::MlirStringRef,
) {
    // SAFETY: MLIR passes a live context, set and name.
    unsafe {
        let raw_name = name;
        let name = super::text(raw_name);
        let body = carried_raw(context).and_then(|carried| carried.bodies().get(&name));
        if let Some(patterns) = body.and_then(Body::elsewhere).and_then(|by| by.patterns) {
            return patterns(set, context, raw_name);
        }
        for rule in body.map(|body| body.rules.as_slice()).unwrap_or_default() {
            let context_ref = ContextRef::from_raw(context);
            let called = Box::new(Canonical { rule: *rule, context: context_ref });
            let callbacks = sys::MlirRewritePatternCallbacks {
                construct: None,
                destruct: Some(destruct),
                matchAndRewrite: Some(apply),
            };
            let root = StringRef::new(&name).to_raw();
            let benefit = u32::from(rule.benefit);
            let user = Box::into_raw(called).cast();
            let none = std::ptr::null_mut();
            let pattern =
                sys::mlirOpRewritePatternCreate(root, benefit, context, callbacks, user, 0, none);
            sys::mlirRewritePatternSetAdd(set, pattern);
        }
    }
}

unsafe extern "C" fn destruct(user: *mut c_void) {
    // SAFETY: `user` is a box that `patterns` made, and its pattern is gone.
    drop(unsafe { Box::from_raw(user.cast::<Canonical>()) });
}

unsafe extern "C" fn apply(
    _: sys::MlirRewritePattern,
    op: sys::MlirOperation,
    rewriter: sys::MlirPatternRewriter,
    user: *mut c_void,
) -> sys::MlirLogicalResult {
    // SAFETY: `user` is a box that `patterns` made; the operation is live, and so is its context.
    let (op, called, context, raw) = unsafe {
        let called = &*user.cast::<Canonical>();
        let context: &Context = called.context.to_ref();
        (Op::from_raw(op), called, context, sys::mlirPatternRewriterAsBase(rewriter))
    };
    let changed = match rewrite::once(called.rule, context, op, raw) {
        Ok(changed) => changed,
        Err(error) => {
            super::context::complain_at(error.location, &error.message);
            false
        }
    };
    sys::MlirLogicalResult { value: i8::from(changed) }
}

unsafe extern "C" fn infer(
    context: sys::MlirContext,
    name: sys::MlirStringRef,
    operands: *const sys::MlirValue,
    count: isize,
    attributes: sys::MlirAttribute,
    push: ffi::PhlTypePush,
    types: *mut c_void,
    fault: sys::MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: MLIR passes a live context, as many values as is said, a dictionary, and a live name.
    let (found, operands, attributes) = unsafe {
        let raw_name = name;
        let name = super::text(raw_name);
        let body = carried_raw(context).and_then(|carried| carried.bodies().get(&name));
        if let Some(infer) = body.and_then(Body::elsewhere).and_then(|by| by.infer) {
            return infer(context, raw_name, operands, count, attributes, push, types, fault, user);
        }
        let infer = body.and_then(|body| body.infer.clone());
        let list = (0..count as usize).map(|at| Val::from_raw(*operands.add(at)));
        (infer, list.collect::<Vec<_>>(), Attribute::from_raw(attributes))
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| match &found {
        Some(infer) => with_access(Access::Read, || infer(&operands, attributes)),
        None => Err("has no inference of types: Toolkit::infer gives it".to_owned()),
    }));
    let given = match outcome {
        Ok(Ok(given)) => given.into_iter().try_fold(vec![], |mut all, ty| {
            origin::check_home(&attributes, &ty, || "an inferred type".to_owned())?;
            all.push(ty);
            Ok::<_, crate::Error>(all)
        }),
        Ok(Err(reason)) => Err(crate::Error::invalid(reason)),
        Err(payload) => Err(crate::Error::invalid(format!(
            "internal error: the inference panicked: {} (please report this)",
            panic_text(payload.as_ref())
        ))),
    };
    match given {
        Ok(given) => {
            for ty in given {
                // SAFETY: the list outlives the call, and the type is of the context.
                push.inspect(|push| unsafe { push(ty.to_raw(), types) });
            }
            true
        }
        Err(error) => {
            let reason = error.to_string();
            // SAFETY: the callback and its place are live during the call, and the text is copied.
            fault.inspect(|fault| unsafe { fault(StringRef::new(&reason).to_raw(), user) });
            false
        }
    }
}
