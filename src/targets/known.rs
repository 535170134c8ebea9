//! Ids of targets that passes are given.

use super::{TargetSpec, of_context, registry};
use crate::{
    Error, Result,
    error::suggestion_only,
    ir::{
        self, Op,
        names::{DEVICE, TARGET, TARGET_SPEC},
    },
};
use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Fails if a module has no target of that id, and no other use explains the name. An id of the
/// module's spec, of something in the module or of a kind passes.
pub fn check_id(module: Op<'_>, id: &str) -> Result<()> {
    let is_kind = |name: &str| {
        let own = of_context(ir::context_of(module));
        registry::is_builtin(name) || own.iter().any(|kind| kind.name == name)
    };
    let spec = ir::attr_str(module, TARGET_SPEC).and_then(|text| text.parse::<TargetSpec>().ok());
    let entries = spec.map(|spec| spec.targets).unwrap_or_default();
    // What an alias stands for is known where it is declared.
    if entries.iter().any(|entry| !is_kind(&entry.kind)) {
        return Ok(());
    }
    let ids = entries.into_iter().map(|entry| entry.id.unwrap_or(entry.kind));
    let mut known: BTreeSet<String> = ids.collect();
    let attributes = ir::ops_of(module).into_iter().map(|op| ir::attr_str(op, TARGET));
    known.extend(attributes.flatten());
    if is_kind(id) || known.contains(id) || is_named(module, id) {
        return Ok(());
    }
    let list: Vec<_> = known.iter().map(String::as_str).collect();
    let which = match list[..] {
        [] => "the module is not divided among targets".to_owned(),
        _ => format!("the module's targets are {}", list.join(", ")),
    };
    let mut names = list;
    registry::builtin_names().for_each(|name| names.push(name));
    let near = suggestion_only(id, names);
    Err(Error::invalid(format!("there is no target '{id}': {which}{near}")))
}

/// True if an operation somewhere in the module names a target.
fn is_named(module: Op<'_>, id: &str) -> bool {
    let names = |op: &Op<'_>, key| ir::attr_str(*op, key).as_deref() == Some(id);
    ir::edit::walk(module).iter().any(|op| names(op, TARGET) || names(op, DEVICE))
}

/// Has `for-target` check the target that it is given.
pub(crate) fn check_in_pipelines() {
    unsafe extern "C" fn check(
        module: mlir_sys::MlirOperation,
        id: mlir_sys::MlirStringRef,
    ) -> bool {
        // SAFETY: the pass gives a live operation and string.
        let (module, id) = unsafe { (Op::from_raw(module), ir::text(id)) };
        let outcome = catch_unwind(AssertUnwindSafe(|| check_id(module, &id)));
        let Ok(Err(error)) = outcome else { return true };
        crate::pass::emit_error(ir::location(module), &format!("{error} [for-target]"));
        false
    }
    // SAFETY: a function, which lives for ever.
    unsafe { crate::ffi::phlForTargetCheck(Some(check)) };
}
