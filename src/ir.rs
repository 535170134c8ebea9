//! IR of networks: the toolkit for any IR, typed views of the dialects `graph` and `tir`, and the
//! attributes that passes leave for each other.
//!
//! Handles of melior carry two lifetimes, of the context and of the operation that owns them. In a
//! pass the operation outlives the run, so both are one here; [`Val`], [`Op`] and [`Blk`] are plain
//! copies of MLIR's pointers. Outside of passes [`root`] borrows the module, and handles from there
//! live as long as that borrow. Nothing public destroys the object of a handle ([`edit::remove`]
//! keeps it), moves it to another module, or takes an index that it does not check. Nothing public
//! puts parts of two sessions, or values of two modules, together. Methods of the handles are
//! melior's: [`crate::raw`] says which of them are to be called with care.

pub(crate) mod board;
pub(crate) mod call_extern;
pub(crate) mod calls;
pub(crate) mod composite_call;
pub mod constant;
pub mod edit;
pub mod effects;
pub mod func;
pub(crate) mod guard;
pub(crate) mod liveness;
pub(crate) mod memory;
pub mod memref;
pub mod names;
pub(crate) mod queue;
pub(crate) mod schedule;
mod schedule_parameters;
#[cfg(test)]
mod tests;
pub mod types;
pub mod view;

pub use phaseline_toolkit::ir::*;

/// Typed views of the `graph` dialect's operations, generated from its ODS.
#[allow(
    clippy::derivable_impls,
    clippy::doc_lazy_continuation,
    clippy::excessive_precision,
    clippy::too_many_arguments,
    reason = "ODS decides"
)]
pub mod graph {
    use super::{
        Attribute, Builder, Op, Type, Val,
        view::{self, *},
    };
    use crate::Result;
    include!(concat!(env!("OUT_DIR"), "/graph_views.rs"));
}

/// Typed views of the `tir` dialect's operations, generated from its ODS.
#[allow(
    clippy::derivable_impls,
    clippy::doc_lazy_continuation,
    clippy::excessive_precision,
    clippy::too_many_arguments,
    reason = "ODS decides"
)]
pub mod tir {
    use super::{
        Attribute, Builder, Op, Type, Val,
        view::{self, *},
    };
    use crate::Result;
    include!(concat!(env!("OUT_DIR"), "/tir_views.rs"));
}
