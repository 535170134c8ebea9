//! Edits of IR. Those that trust their caller are for this crate.
//!
//! ```compile_fail,E0603
//! // A handle of an operation that is gone must not be used again, and handles are copies.
//! fn twice(op: phaseline::ir::Op<'_>) {
//!     phaseline::ir::edit::erase(op);
//!     phaseline::ir::edit::erase(op);
//! }
//! ```

pub(crate) use phaseline_toolkit::ir::edit::{
    add_argument, append_block, clone_before, clone_to_end, create_branch, erase, erase_argument,
    insert_argument, move_after, move_before, move_to_end, remap_operands, rename_uses,
    replace_operands, replace_uses, replace_uses_except, set_attr, set_operand, set_operands,
    set_type,
};
pub use phaseline_toolkit::ir::edit::{
    arguments, array, clone_module, defining_op, dictionary, dictionary_attr, entry_block, fold,
    is_before, next_with, owner_block, remove, remove_attr, same, string, walk,
};
