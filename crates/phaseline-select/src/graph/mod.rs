//! Graphs as plain data, filled from IR: patterns match them, and targets divide them.
//!
//! Operations are declared in an [`OpTable`]. An [`Evaluator`] gives the values of expressions over
//! the operations and values of a graph.

pub mod alias;
pub(crate) mod eval;
pub(crate) mod table;
#[doc(hidden)]
pub mod text;
mod view;

pub use alias::Alias;
pub use eval::{Bound, Evaluator, Facts, Scope, evaluate};
pub use table::{Arity, AttrDecl, AttrKind, Flops, OpDecl, OpTable, OpTraits, OperandDecl};
pub use view::{
    AttrValue, Def, GraphView, Op, OpId, OpSpec, Payload, TensorType, Use, Value, ValueId,
    spell_out_window,
};
