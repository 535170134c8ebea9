//! Parts of melior, the bindings of MLIR whose handles the public API speaks: those by which safe
//! code does no harm.
//!
//! Left out are builders and rewriters of IR, changes through handles, and functions that take a
//! handle's word for its context. The toolkit has [`crate::ir::Builder`],
//! [`crate::ir::rewrite::Rewriter`] and [`crate::ir::edit`] for these, which check. A crate that
//! depends on melior directly reaches the rest: **its safe functions are not all sound**, so treat
//! a call of one as `unsafe`.
//!
//! Methods of the handles themselves are melior's. To be called with care, since nothing can leave
//! them out:
//! - `Context::attach_diagnostic_handler` keeps a closure without asking how long its borrows live.
//!   A panic in it ends the process: [`crate::Session::on_diagnostic`] takes care of both.
//! - For contexts in which no pipeline runs: `Context::enable_multi_threading`,
//!   `load_all_available_dialects` and `append_dialect_registry`.
//!   The method [`crate::Session::use_threads`] sees to that.
//! - `Type::parse`, `Attribute::parse` and `Module::parse` take text of any depth.
//!   The functions [`crate::ir::Builder::parse_type`], [`crate::ir::Builder::parse_attr`] and
//!   [`crate::Session::parse`] refuse what would overflow the stack.
//! - Constructors of types, such as `Type::vector` and `FunctionType::new`, do not check the types
//!   given to them.
//!
//! The compiler refuses uses that destroy or change IR behind the toolkit:
//!
//! ```compile_fail,E0432
//! use phaseline_toolkit::raw::IrRewriter;
//! ```
//!
//! ```compile_fail,E0432
//! use phaseline_toolkit::raw::ir::operation::{OperationBuilder, OperationMutLike};
//! ```
//!
//! ```compile_fail,E0599
//! # use phaseline_toolkit::{ir::Val, raw::ir::Type};
//! fn change<'c>(value: Val<'c>, ty: Type<'c>) {
//!     value.set_type(ty);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use phaseline_toolkit::{ir::{Blk, Type}, raw::ir::Location};
//! fn change<'c>(block: Blk<'c>, ty: Type<'c>, location: Location<'c>) {
//!     block.add_argument(ty, location);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use phaseline_toolkit::ir::Module;
//! fn change(module: &mut Module<'_>) {
//!     module.as_operation_mut().remove_from_parent();
//! }
//! ```

pub use melior::ContextRef;

/// Handles of types, attributes and operations.
pub mod ir {
    pub use melior::ir::{
        AffineMap, Attribute, AttributeLike, BlockRef, Identifier, Location, Module, OperationRef,
        RegionRef, Type, TypeLike, Value,
    };

    /// Reading operations.
    pub mod operation {
        pub use melior::ir::operation::{OperationLike, OperationPrintingFlags, OperationRef};
    }

    /// Kinds of types.
    pub mod r#type {
        pub use melior::ir::r#type::{FunctionType, IntegerType};
    }
}
