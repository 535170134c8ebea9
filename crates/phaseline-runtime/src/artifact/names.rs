//! Names in packages and in C.

use crate::identifier::c_identifier;

/// File name of the shared library of a model.
pub fn shared_library_name(model: &str) -> String {
    format!("lib{model}.so")
}

/// True if there are shared libraries on a machine.
pub fn has_shared_libraries(triple: &str) -> bool {
    !triple.split('-').skip(1).any(|part| matches!(part, "none" | "elf" | "eabi" | "eabihf"))
}

/// Prefix of the names that the sources of target `id` define in `model`.
pub fn own_prefix(model: &str, id: &str) -> String {
    format!("{model}_{}__", c_identifier(id))
}
