//! Notes of a running conversion, and the one message that is made of them.

use super::Conversion;
use crate::ir::{Op, Val, edit, op_name, rewrite::RuleError};
use melior::ir::{Location, operation::OperationLike};
use mlir_sys as sys;
use std::{cell::RefCell, ffi::c_void};

/// Reasons in a message, at most.
const MAX_REASONS: usize = 5;

/// Reasons that are kept: large networks try patterns a million times.
const MAX_KEPT: usize = 10_000;

/// A reason why an operation was not converted.
struct Reason {
    /// The operation's name; empty where MLIR has only said the place.
    name: String,
    location: usize,
    text: String,
}

/// The notes.
#[derive(Default)]
pub struct Answers {
    faults: RefCell<Vec<String>>,
    reasons: RefCell<Vec<Reason>>,
    /// MLIR's errors, with their places.
    errors: RefCell<Vec<(usize, String)>>,
}

/// The address of a location: one for all that are the same.
fn key(location: Location<'_>) -> usize {
    location.to_raw().ptr as usize
}

impl Answers {
    /// Something that no conversion stands.
    pub fn fault(&self, text: String) {
        self.faults.borrow_mut().push(text);
    }

    /// Notes the reason why a pattern did not convert an operation.
    pub fn reason(&self, op: Op<'_>, text: String) {
        let (name, location) = (op_name(op).to_owned(), key(op.location()));
        self.add(Reason { name, location, text });
    }

    fn add(&self, reason: Reason) {
        let mut reasons = self.reasons.borrow_mut();
        if reasons.len() < MAX_KEPT {
            reasons.push(reason);
        }
    }

    /// The outcome of a run on `op`.
    pub fn outcome<'c>(
        &self,
        op: Op<'c>,
        converted: bool,
        conversion: &Conversion<'_>,
    ) -> Result<(), RuleError<'c>> {
        if let Some(fault) = self.faults.borrow().first() {
            return Err(RuleError { location: op.location(), message: fault.clone() });
        }
        if !converted {
            return Err(self.failure(op, conversion));
        }
        let lost = edit::walk(op).into_iter().find(|op| {
            op_name(*op) == "builtin.unrealized_conversion_cast" && op.operand_count() == 0
        });
        match lost.and_then(|op| crate::ir::results(op).first().copied()) {
            Some(value) => Err(RuleError { location: op.location(), message: unmade(value) }),
            None => Ok(()),
        }
    }

    fn failure<'c>(&self, op: Op<'c>, conversion: &Conversion<'_>) -> RuleError<'c> {
        let errors = self.errors.borrow();
        let Some((location, text)) = errors.first() else {
            let message = "the conversion failed".to_owned();
            return RuleError { location: op.location(), message };
        };
        // The first place in the text is the operation's name.
        let name = text.split('\'').nth(1).unwrap_or_default();
        let mut reasons: Vec<String> = vec![];
        for reason in self.reasons.borrow().iter() {
            let is_its =
                reason.location == *location && (reason.name == name || reason.name.is_empty());
            if is_its && !reasons.contains(&reason.text) && reasons.len() < MAX_REASONS {
                reasons.push(reason.text.clone());
            }
        }
        // An operation that nothing converts has often been made by the pattern of another one.
        if reasons.is_empty() && !name.is_empty() && !conversion.converts(name) {
            reasons.push(format!("no pattern is for '{name}'"));
        }
        let mut message = text.clone();
        for reason in reasons {
            message.push_str("; ");
            message.push_str(&reason);
        }
        // SAFETY: MLIR gave the location, which lives as long as the context.
        let location =
            unsafe { Location::from_raw(sys::MlirLocation { ptr: *location as *const c_void }) };
        RuleError { location, message }
    }
}

fn unmade(value: Val<'_>) -> String {
    use melior::ir::ValueLike;
    let of = crate::ir::users(value).first().map(|user| op_name(*user).to_owned());
    format!(
        "an operation was erased whose result, of type {}, '{}' uses: replace it",
        value.r#type(),
        of.unwrap_or_default()
    )
}

pub unsafe extern "C" fn tell(
    is_error: bool,
    location: sys::MlirLocation,
    text: sys::MlirStringRef,
    user: *mut c_void,
) {
    // SAFETY: `user` is what a run notes in; the text is live.
    let (answers, text) = unsafe { (&*user.cast::<Answers>(), crate::ir::text(text)) };
    let location = location.ptr as usize;
    if is_error {
        answers.errors.borrow_mut().push((location, text));
    } else {
        answers.add(Reason { name: String::new(), location, text });
    }
}
