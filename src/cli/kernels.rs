//! `phaseline targets HOST --kernels`: which operations have kernels for which element types.
//!
//! Nothing is listed by hand: small networks are compiled as far as the plan of memory, and the steps
//! of each are what is shown.

use super::{args::TargetsArgs, registry::Known};
use crate::{
    CompileOptions, Error, Phase, Result, Session, Toolkit,
    artifact::{Means, operations},
    ir,
    targets::Role,
};
use serde::Serialize;
use std::fmt::Write;

const PROBES: &str = include_str!("kernels.mlir");

/// An operation and what computes it.
#[derive(Debug, Serialize)]
struct Row {
    operation: String,
    types: Vec<Found>,
}

/// Kernels of an operation on elements of a type.
#[derive(Debug, Serialize)]
struct Found {
    element: String,
    /// Kinds of kernels; none where all is loops.
    kernels: Vec<String>,
    /// Parts of the largest step into which threads share the work; 1 if there is one thread only.
    tasks: u64,
}

/// The network of an operation.
struct Probe<'t> {
    operation: &'t str,
    elements: Vec<&'t str>,
    text: String,
}

fn probes() -> Vec<Probe<'static>> {
    let mut found: Vec<Probe<'_>> = vec![];
    for line in PROBES.lines() {
        let comment = line.strip_prefix("// ");
        if let Some((operation, elements)) = comment.and_then(|text| text.split_once(" | ")) {
            let elements = elements.split_whitespace().collect();
            found.push(Probe { operation, elements, text: String::new() });
        } else if let (None, Some(probe)) = (comment, found.last_mut()) {
            probe.text.push_str(line);
            probe.text.push('\n');
        }
    }
    found
}

/// The table of a host, as text or JSON.
pub fn list(toolkit: &Toolkit, args: &TargetsArgs) -> Result<String> {
    let known = Known::of(toolkit, &args.known)?;
    let name = args.name.as_deref().unwrap_or("llvm");
    if let Some(device) =
        known.registry.kinds().find(|kind| kind.name == name && kind.role == Role::Device)
    {
        return Err(no_host(&device.name));
    }
    let options = CompileOptions {
        targets: known.expanded(name)?,
        target_path: known.paths,
        ..toolkit.options()
    };
    let session = super::new_session(toolkit);
    let targets = options.resolve(&session)?;
    if let Some(device) = targets.iter().find(|target| !target.is_host()) {
        return Err(no_host(&device.kind.name));
    }
    let row = |probe: &Probe<'_>| {
        let types = probe.elements.iter().map(|element| find(&session, &options, probe, element));
        let types = types.collect::<Result<_>>()?;
        Ok(Row { operation: probe.operation.to_owned(), types })
    };
    let rows: Vec<Row> = probes().iter().map(row).collect::<Result<_>>()?;
    match args.json {
        true => serde_json::to_string_pretty(&rows)
            .map_err(|error| Error::internal(format!("the table has no JSON form: {error}"))),
        false => Ok(table(&rows)),
    }
}

fn no_host(kind: &str) -> Error {
    Error::invalid(format!(
        "--kernels is for a host, such as 'llvm -mcpu=x86-64-v3', and '{kind}' is a device: \
         `phaseline targets {kind}` has its patterns"
    ))
}

/// Compiles the network of an operation for a type, and looks at its steps.
fn find(
    session: &Session,
    options: &CompileOptions<'_>,
    probe: &Probe<'_>,
    element: &str,
) -> Result<Found> {
    // Graphs say whether integers have a sign.
    let spelled =
        if element.starts_with('u') { element.replacen('u', "ui", 1) } else { element.to_owned() };
    let text = probe.text.replace("ELEM", &spelled);
    let place = format!("{} of {element}", probe.operation);
    let mut module = session.parse(text.as_bytes(), &place)?;
    session.run_phases(&mut module, options, Phase::PlanMemory)?;
    session.run_pipeline(&mut module, "builtin.module(trace-operations{calls=false})")?;
    let steps = operations(ir::root(&module))?;
    let kernels = steps.into_iter().filter(|step| step.means == Means::Kernel);
    let mut found = Found { element: element.to_owned(), kernels: vec![], tasks: 1 };
    for step in kernels {
        found.tasks = found.tasks.max(step.tasks);
        if !found.kernels.contains(&step.code) {
            found.kernels.push(step.code);
        }
    }
    Ok(found)
}

/// The rows as text, for each operation the types that have the same kernels together.
fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.operation.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut groups: Vec<(String, Vec<&str>)> = vec![];
        for found in &row.types {
            let kernels = match &found.kernels[..] {
                [] => "loops".to_owned(),
                kernels => format!("kernel {}", kernels.join(", ")),
            };
            match groups.iter_mut().find(|(known, _)| *known == kernels) {
                Some((_, elements)) => elements.push(&found.element),
                None => groups.push((kernels, vec![&found.element])),
            }
        }
        let groups = groups.into_iter();
        let groups = groups.map(|(kernels, elements)| format!("{} {kernels}", elements.join(" ")));
        let groups: Vec<_> = groups.collect();
        let _ = writeln!(text, "{:width$}  {}", row.operation, groups.join("; "));
    }
    text
}
