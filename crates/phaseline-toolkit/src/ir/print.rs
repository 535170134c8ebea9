//! IR as text. `Display` of melior's types ends in a panic for text that is not UTF-8, which names
//! in damaged bytecode may be.

use super::Op;
use crate::{Error, Result};
use melior::ir::{Attribute, AttributeLike, Location, Module, operation::OperationLike};
use std::ffi::c_void;

/// Treatment of weights by the printer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Print all, so that the text can be parsed again.
    Print,
    /// Leave out large ones, for reading.
    Elide,
}

/// The module as text with locations.
pub fn print_module(module: &Module<'_>, weights: Weights) -> Result<String> {
    print_op(super::root(module), weights)
}

/// An operation as text with locations, and with the weights that it has.
pub fn print_op(op: Op<'_>, weights: Weights) -> Result<String> {
    print_with(op, weights, false)
}

/// The same of an operation whose neighbours other threads change meanwhile: nothing around it is
/// looked at, so that there are no aliases that are shared with them.
pub fn print_apart(op: Op<'_>, weights: Weights) -> Result<String> {
    print_with(op, weights, true)
}

fn print_with(op: Op<'_>, weights: Weights, apart: bool) -> Result<String> {
    const LIMIT: isize = 64;
    // SAFETY: the flags live until they are destroyed.
    let mut buffer = collect(|append, user| unsafe {
        let flags = mlir_sys::mlirOpPrintingFlagsCreate();
        mlir_sys::mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
        if apart {
            mlir_sys::mlirOpPrintingFlagsUseLocalScope(flags);
        }
        if weights == Weights::Elide {
            mlir_sys::mlirOpPrintingFlagsElideLargeElementsAttrs(flags, LIMIT);
            mlir_sys::mlirOpPrintingFlagsElideLargeResourceString(flags, LIMIT);
        }
        mlir_sys::mlirOperationPrintWithFlags(op.to_raw(), flags, append, user);
        mlir_sys::mlirOpPrintingFlagsDestroy(flags);
    });
    buffer.push(b'\n');
    String::from_utf8(buffer).map_err(|_| Error::internal("MLIR printed text that is not UTF-8"))
}

/// A module as text without locations, as `mlir-opt` prints it.
pub(crate) fn print_plain(op: Op<'_>) -> Result<String> {
    // SAFETY: the operation is live.
    let mut buffer = collect(|append, user| unsafe {
        mlir_sys::mlirOperationPrint(op.to_raw(), append, user);
    });
    if !buffer.ends_with(b"\n") {
        buffer.push(b'\n');
    }
    String::from_utf8(buffer).map_err(|_| Error::internal("MLIR printed text that is not UTF-8"))
}

/// An operation that uses nothing from outside as text without locations, which is the same for all
/// equal operations, wherever they are.
pub fn print_alone(op: Op<'_>) -> Result<String> {
    // SAFETY: the flags live until they are destroyed.
    let buffer = collect(|append, user| unsafe {
        let flags = mlir_sys::mlirOpPrintingFlagsCreate();
        mlir_sys::mlirOpPrintingFlagsUseLocalScope(flags);
        mlir_sys::mlirOperationPrintWithFlags(op.to_raw(), flags, append, user);
        mlir_sys::mlirOpPrintingFlagsDestroy(flags);
    });
    String::from_utf8(buffer).map_err(|_| Error::internal("MLIR printed text that is not UTF-8"))
}

/// Collects what `print` gives to the callback that it is handed.
///
/// `print` passes the callback and its user data to one printing function of MLIR, and keeps neither.
pub fn collect(print: impl FnOnce(mlir_sys::MlirStringCallback, *mut c_void)) -> Vec<u8> {
    unsafe extern "C" fn append(part: mlir_sys::MlirStringRef, user: *mut c_void) {
        // SAFETY: `user` is the buffer below, and MLIR passes a live string.
        unsafe { (*user.cast::<Vec<u8>>()).extend_from_slice(super::bytes(part)) }
    }
    let mut buffer: Vec<u8> = vec![];
    print(Some(append), (&raw mut buffer).cast());
    buffer
}

/// An attribute as text.
pub fn attribute(attribute: Attribute<'_>) -> String {
    // SAFETY: attributes live as long as the context.
    lossy(collect(|append, user| unsafe {
        mlir_sys::mlirAttributePrint(attribute.to_raw(), append, user);
    }))
}

/// Gives the bytecode of an operation, with the weights that it has, to `sink` part by part.
pub fn bytecode(op: Op<'_>, sink: &mut dyn FnMut(&[u8])) {
    unsafe extern "C" fn append(part: mlir_sys::MlirStringRef, user: *mut c_void) {
        // SAFETY: `user` is the sink below, and MLIR passes a live string.
        unsafe { (*user.cast::<&mut dyn FnMut(&[u8])>())(super::bytes(part)) }
    }
    let mut sink = sink;
    // SAFETY: the operation is live, and the sink is not kept.
    unsafe {
        mlir_sys::mlirOperationWriteBytecode(op.to_raw(), Some(append), (&raw mut sink).cast());
    }
}

/// The message of a diagnostic; what is not UTF-8 in it becomes U+FFFD.
///
/// # Safety
/// The diagnostic is live.
pub unsafe fn message(diagnostic: mlir_sys::MlirDiagnostic) -> String {
    // SAFETY: the caller's.
    lossy(collect(|append, user| unsafe {
        mlir_sys::mlirDiagnosticPrint(diagnostic, append, user)
    }))
}

/// A location without MLIR's `loc(...)` around it and without quotes.
pub fn place(location: Location<'_>) -> String {
    let text = location_text(location);
    let inner = text.strip_prefix("loc(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
    inner.replace('"', "")
}

/// The name of an operation's node in the model: the innermost name of its location; empty if it has none.
pub fn node_name(op: Op<'_>) -> String {
    let text = location_text(op.location());
    let name = text.split('"').nth(1).unwrap_or_default();
    if name.is_empty() || name.contains(".mlir") { String::new() } else { name.to_owned() }
}

fn location_text(location: Location<'_>) -> String {
    // SAFETY: locations live as long as the context.
    lossy(collect(|append, user| unsafe {
        mlir_sys::mlirLocationPrint(location.to_raw(), append, user);
    }))
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
