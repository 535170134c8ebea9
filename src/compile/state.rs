//! States of a model: an input and an output that are one buffer, of which a run makes the new value.

use super::CompileOptions;
use crate::{
    Error, Phase, Result,
    artifact::recorded_signature,
    error::suggestion_only,
    ir::{self, Op, edit, func, names},
};
use melior::ir::{Attribute, Module, Type, attribute::StringAttribute};

type Port<'c> = (Type<'c>, func::Attributes<'c>);

/// Annotates results of the network with the inputs whose new values they are. Runs after the
/// annotations of `bind`.
///
/// # Errors
/// Nothing has such a name, or two ports that cannot be one buffer are to be one.
pub fn note(module: &Module<'_>, options: &CompileOptions<'_>) -> Result<()> {
    if options.states.is_empty() {
        return Ok(());
    }
    let root = ir::root(module);
    if options.after >= Phase::Bufferize {
        let late = options.states.iter().find(|state| !is_noted(root, state));
        return late.map_or(Ok(()), |(input, output)| {
            Err(Error::invalid(format!(
                "'{input}' and '{output}' cannot become one buffer any more after phase {}, as values have \
                 their places: say so before",
                options.after
            )))
        });
    }
    let main = func::main(root).ok_or_else(func::no_main)?;
    let mut signature = func::Signature::of(main)?;
    let context = ir::context_of(root);
    let text = |name: &str| -> Attribute<'_> { StringAttribute::new(context, name).into() };
    let mut taken: Vec<&str> = vec![];
    for (input, output) in &options.states {
        let from = find(&signature.arguments, "input", input)?;
        let to = find(&signature.results, "output", output)?;
        for name in [input, output] {
            if taken.contains(&name.as_str()) {
                return Err(Error::invalid(format!(
                    "'{name}' is in two states: an input has one new value, and an output is that of one input"
                )));
            }
        }
        taken.extend([input.as_str(), output.as_str()]);
        check(&signature.arguments[from], &signature.results[to], (input, output), options)?;
        func::set_in(&mut signature.arguments[from].1, names::NAME, text(input));
        func::set_in(&mut signature.results[to].1, names::STATE, text(input));
    }
    signature.set(context, main);
    Ok(())
}

/// The place of a port by its name.
fn find(ports: &[Port<'_>], role: &str, name: &str) -> Result<usize> {
    let names: Vec<_> = ports
        .iter()
        .enumerate()
        .map(|(index, port)| string(port, names::NAME).unwrap_or_else(|| format!("{role}_{index}")))
        .collect();
    names.iter().position(|known| known == name).ok_or_else(|| {
        let hint = suggestion_only(name, names.iter().map(String::as_str));
        Error::invalid(format!(
            "the model has no {role} '{name}' that is a state{hint}; its {role}s are {}",
            names.join(", ")
        ))
    })
}

fn string(port: &Port<'_>, wanted: &str) -> Option<String> {
    let found = port.1.iter().find(|(name, _)| name == wanted);
    found.and_then(|(_, value)| edit::string(*value))
}

fn check(
    from: &Port<'_>,
    to: &Port<'_>,
    (input, output): (&str, &str),
    options: &CompileOptions<'_>,
) -> Result<()> {
    let fault = |reason: String| {
        Err(Error::invalid(format!("'{input}' and '{output}' cannot be one buffer: {reason}")))
    };
    if from.0 != to.0 {
        return fault(format!("they are {} and {}", from.0, to.0));
    }
    if ir::static_dims(from.0).is_none() {
        return fault(format!(
            "{} has sizes that are not known when compiling; give the state a fixed capacity",
            from.0
        ));
    }
    let [a, b] = [from, to].map(|port| string(port, names::BOUND));
    if a != b {
        let place =
            |id: Option<String>| id.map_or("the host".to_owned(), |id| format!("target '{id}'"));
        return fault(format!(
            "they are in the memories of {} and {}; bind both to one target",
            place(a),
            place(b)
        ));
    }
    if a.is_none() && options.pools.is_some() {
        return fault(
            "what a board's pools hold is copied there in each run; bind both to a target".into(),
        );
    }
    Ok(())
}

/// True if a module has been through the phases with a state.
fn is_noted(root: Op<'_>, (input, output): &(String, String)) -> bool {
    if let Ok(signature) = recorded_signature(root) {
        return signature.states.iter().any(|[from, to]| {
            signature.inputs.get(*from).is_some_and(|port| port.name == *input)
                && signature.outputs.get(*to).is_some_and(|port| port.name == *output)
        });
    }
    let signature = func::main(root).and_then(|main| func::Signature::of(main).ok());
    let arguments = signature.map(|signature| signature.arguments).unwrap_or_default();
    arguments.iter().any(|port| {
        string(port, names::STATE).as_ref() == Some(input)
            && string(port, names::NAME).is_none_or(|name| name == *output)
    })
}
