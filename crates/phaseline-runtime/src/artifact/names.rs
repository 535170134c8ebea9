//! Names in packages and in C.

use crate::identifier::c_identifier;

/// File name of the shared library of a model.
pub fn shared_library_name(model: &str) -> String {
    format!("lib{model}.so")
}

/// Whether there are shared libraries on a machine.
pub fn has_shared_libraries(triple: &str) -> bool {
    !triple.split('-').skip(1).any(|part| matches!(part, "none" | "elf" | "eabi" | "eabihf"))
}

/// What stands in front of the names of what the sources of target `id` define in `model`.
pub fn own_prefix(model: &str, id: &str) -> String {
    format!("{model}_{}__", c_identifier(id))
}
