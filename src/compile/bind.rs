//! Inputs and outputs of a model that programs have in the memory of a device.

use super::CompileOptions;
use crate::{
    Error, Phase, Result,
    artifact::{Port, recorded_signature},
    error::suggestion_only,
    ir::{self, Op, edit, func, names},
    targets::TargetInstance,
};
use melior::ir::{Module, attribute::StringAttribute};

/// Annotates bound arguments and results of the network with their device's memory.
///
/// # Errors
/// Nothing has that name, or its target has no memory that programs can allocate in.
pub fn note<'c>(
    module: &Module<'c>,
    options: &CompileOptions<'_>,
    targets: impl FnOnce() -> Result<Vec<TargetInstance>>,
) -> Result<()> {
    if options.bind.is_empty() {
        return Ok(());
    }
    let root = ir::root(module);
    if options.after >= Phase::Bufferize {
        let late = options.bind.iter().find(|(port, id)| !is_noted(root, port, id));
        return late.map_or(Ok(()), |(port, _)| {
            Err(Error::invalid(format!(
                "'{port}' cannot be bound any more after phase {}, as values have their places: bind it \
                 before",
                options.after
            )))
        });
    }
    let targets = targets()?;
    let main = func::main(root).ok_or_else(func::no_main)?;
    let mut signature = func::Signature::of(main)?;
    for (port, id) in &options.bind {
        check(port, id, &targets)?;
        let inputs = signature.arguments.iter_mut().enumerate().map(|port| ("input", port));
        let outputs = signature.results.iter_mut().enumerate().map(|port| ("output", port));
        let mut known = vec![];
        let mut found = false;
        for (role, (index, (_, attributes))) in inputs.chain(outputs) {
            let given = attributes.iter().find(|(name, _)| name == names::NAME);
            let given = given.and_then(|(_, value)| edit::string(*value));
            let name = given.unwrap_or_else(|| format!("{role}_{index}"));
            if name == *port {
                found = true;
                let id = StringAttribute::new(ir::context_of(root), id).into();
                func::set_in(attributes, names::BOUND, id);
            }
            known.push(name);
        }
        if !found {
            let hint = suggestion_only(port, known.iter().map(String::as_str));
            return Err(Error::invalid(format!(
                "the model has no input or output '{port}' to bind{hint}; there are {}",
                known.join(", ")
            )));
        }
    }
    signature.set(ir::context_of(root), main);
    Ok(())
}

/// True if a module has been through the phases with a port in the memory of a target's device.
fn is_noted(root: Op<'_>, port: &str, id: &str) -> bool {
    if let Ok(signature) = recorded_signature(root) {
        let is_port = |ports: &[Port], at: usize| ports.get(at).is_some_and(|p| p.name == port);
        return signature.devices.iter().filter(|device| device.target == id).any(|device| {
            device.bound.as_ref().is_some_and(|bound| {
                bound.inputs.iter().any(|at| is_port(&signature.inputs, *at))
                    || bound.outputs.iter().any(|at| is_port(&signature.outputs, *at))
            })
        });
    }
    let signature = func::main(root).and_then(|main| func::Signature::of(main).ok());
    let arguments = signature.map(|signature| signature.arguments).unwrap_or_default();
    arguments.iter().any(|(_, attributes)| {
        let text = |wanted: &str| {
            let found = attributes.iter().find(|(name, _)| name == wanted);
            found.and_then(|(_, value)| edit::string(*value))
        };
        text(names::BOUND).as_deref() == Some(id)
            && text(names::NAME).is_none_or(|name| name == port)
    })
}

fn check(port: &str, id: &str, targets: &[TargetInstance]) -> Result<()> {
    let fault = |reason: String| Err(Error::invalid(format!("'{port}' cannot be bound: {reason}")));
    let Some(target) = targets.iter().find(|target| target.id == id) else {
        let ids: Vec<_> = targets.iter().map(|target| target.id.as_str()).collect();
        return fault(format!("'{id}' is no target of this compile; they are {}", ids.join(", ")));
    };
    match &target.kind.memory {
        None => fault(format!("target '{id}' has no [memory] of its own, it works in the host's")),
        Some(memory) if memory.free.is_none() => fault(format!(
            "[memory] of target '{id}' needs `free` for buffers that come and go ({})",
            target.kind.manifest
        )),
        Some(_) => Ok(()),
    }
}
