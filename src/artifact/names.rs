//! Names in packages and in C.

/// File name of the shared library of a model.
pub fn shared_library_name(model: &str) -> String {
    format!("lib{model}.so")
}

/// A C identifier like `text`: other characters become `_`, and a digit does not come first.
pub fn c_identifier(text: &str) -> String {
    let mut name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Whether there are shared libraries on a machine.
pub fn has_shared_libraries(triple: &str) -> bool {
    !triple.split('-').skip(1).any(|part| matches!(part, "none" | "elf" | "eabi" | "eabihf"))
}

/// What stands in front of the names of what the sources of target `id` define in `model`.
pub fn own_prefix(model: &str, id: &str) -> String {
    format!("{model}_{}__", c_identifier(id))
}
