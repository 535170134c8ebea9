//! Building and reading IR from Rust: a thin layer over melior that passes and lowerings share.
//!
//! Handles of melior carry two lifetimes, of the context and of the operation that owns them. In a
//! pass the operation outlives the run, so both are one here. [`Val`], [`Op`] and [`Blk`] are plain
//! copies of MLIR's pointers. Outside of passes [`root`] borrows the module, and handles that are
//! reached from there live as long as that borrow.
//!
//! Nothing public destroys the object of a handle ([`edit::remove`] keeps it), moves it to another
//! module, or takes an index that it does not check. Nothing public puts parts of two sessions, or
//! values of two modules, together. Methods of the handles are melior's: [`crate::raw`] says which
//! of them are to be called with care.

/// Items that trust their caller: with the feature `unchecked` for all, without it for this crate.
macro_rules! unchecked {
    ($(#[$about:meta])* pub fn $($rest:tt)*) => {
        #[cfg(feature = "unchecked")]
        #[doc(hidden)]
        $(#[$about])*
        pub fn $($rest)*
        #[cfg(not(feature = "unchecked"))]
        #[allow(dead_code, reason = "other crates use it")]
        $(#[$about])*
        pub(crate) fn $($rest)*
    };
}

mod adaptor;
pub mod alias;
pub mod analysis;
pub mod attribute;
#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod blob;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod blob;
pub mod body;
mod build;
#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod capture;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod capture;
mod checked;
pub mod constant;
#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod context;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod context;
pub mod convert;
pub mod dataflow;
pub mod edit;
pub mod effects;
pub mod elements;
pub mod func;
mod identity;
pub mod interface;
pub mod linalg;
pub mod memref;
pub mod nesting;
#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod origin;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod origin;
#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod outline;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod outline;
pub mod pdl;
pub mod print;
mod read;
pub(crate) mod remove;
pub mod rewrite;
pub(crate) mod shared;
pub mod size;
mod small_float;
pub mod types;
pub mod view;

pub use build::{Builder, OpSpec};
pub use capture::{captured, is_outside};
pub use checked::{
    attr, dictionary, location, move_before, parent, region, replace_uses, set_attr, set_operand,
    type_of, verify,
};
pub use context::{is_cancelled, user};
pub use identity::{Id, Identity, id};
pub use read::{
    attr_bool, attr_f64, attr_i64, attr_i64s, attr_str, attr_strs, dims, element_type, has_uses,
    i64s, integer_width, is_f32, is_f64, is_float, is_memref, is_tensor, location_of, op_name,
    operands, ops, ops_of, result0, results, static_dims, users, users_of,
};
pub use read::{bytes, text};

pub use melior::{
    Context,
    ir::{Attribute, Location, Module, Region, Type},
};
use melior::{
    ContextRef,
    ir::{BlockRef, OperationRef, Value},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// An SSA value.
pub type Val<'c> = Value<'c, 'c>;
/// An operation.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A block.
pub type Blk<'c> = BlockRef<'c, 'c>;

/// A dimension that is not known, as melior and MLIR encode it.
pub const DYNAMIC: i64 = i64::MIN;

/// The context of an operation.
///
/// melior's own `ContextRef::to_ref` borrows from the handle that it is called on, which is gone
/// when a function returns. The handles here live on, one for each address that a context had.
pub fn context_of<'c>(op: Op<'c>) -> &'c Context {
    // Addresses of leaked handles, by the addresses of their contexts.
    static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the context outlives its operations. A handle is only a pointer, so the one of an
    // earlier context at the same address serves as well.
    unsafe {
        let raw = mlir_sys::mlirOperationGetContext(op.to_raw());
        let handle = *handles.entry(raw.ptr as usize).or_insert_with(|| {
            Box::into_raw(Box::new(ContextRef::<'static>::from_raw(raw))) as usize
        });
        (*(handle as *const ContextRef<'c>)).to_ref()
    }
}

/// An internal error. melior's errors are about IR that does not have the expected form (operand or
/// attribute missing), which verified IR always has.
pub fn unexpected(error: melior::Error) -> crate::Error {
    crate::Error::internal(format!("unexpected IR: {error}"))
}

/// True if bytes are MLIR's bytecode.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ML\xefR")
}

/// Parses textual or bytecode IR; `name` stands for the file in locations. Nothing, after
/// diagnostics, if it is not valid.
pub fn parse_module<'c>(context: &'c Context, bytes: &[u8], name: &str) -> Option<Module<'c>> {
    // MLIR's lexer reads one byte past the end and expects it to be zero.
    let mut terminated = bytes.to_vec();
    terminated.push(0);
    let source = mlir_sys::MlirStringRef { data: terminated.as_ptr().cast(), length: bytes.len() };
    let file = melior::StringRef::new(name);
    // SAFETY: the context and both strings are live during the call; the module is the caller's.
    unsafe {
        let parsed = crate::ffi::phlModuleParse(context.to_raw(), source, file.to_raw());
        melior::ir::Module::from_option_raw(parsed)
    }
}

/// The operation of a module. It borrows the module, which neither goes nor is given to a pipeline
/// while handles of what is in it are in use:
///
/// ```compile_fail,E0505
/// # fn run(session: &phaseline_toolkit::Session) -> phaseline_toolkit::Result<()> {
/// let module = session.parse(b"func.func private @f()", "f.mlir")?;
/// let root = phaseline_toolkit::ir::root(&module);
/// drop(module);
/// println!("{}", phaseline_toolkit::ir::op_name(root));
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0502
/// # fn run(session: &phaseline_toolkit::Session) -> phaseline_toolkit::Result<()> {
/// let mut module = session.parse(b"func.func private @f()", "f.mlir")?;
/// let functions = phaseline_toolkit::ir::ops_of(phaseline_toolkit::ir::root(&module));
/// session.run_pipeline(&mut module, "builtin.module(symbol-dce)")?;
/// println!("{}", phaseline_toolkit::ir::op_name(functions[0]));
/// # Ok(())
/// # }
/// ```
pub fn root<'a>(module: &'a Module<'_>) -> Op<'a> {
    module.as_operation()
}
