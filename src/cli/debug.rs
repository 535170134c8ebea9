//! `phaseline debug`: which part of a divided network gives other numbers than the host.

use super::{
    args::DebugArgs,
    model::{compile_options, model_name},
    print,
    progress::Progress,
    run::open,
};
use crate::{
    Error, Phase, Result, Toolkit, io,
    ir::{self, names},
    measure::{Checked, Findings, Tolerance},
    tensor::Comparison,
};
use std::{fmt::Write, path::Path};

/// Compares each match with the host, prints what differs, and fails if anything does.
pub fn debug(toolkit: &Toolkit, args: &DebugArgs) -> Result<()> {
    if let Some(folder) = &args.save {
        check_folder(folder)?;
    }
    let progress = Progress::new();
    progress.say("reading the model");
    let session = super::new_session(toolkit);
    let options =
        compile_options(toolkit, &args.target, model_name(&args.model.model), Phase::Import, None)?;
    let (mut module, inputs) = open(&session, &args.model, &options, (&args.data, true))?;
    if ir::attr_strs(ir::root(&module), names::SYMBOLS).is_some() {
        return Err(Error::invalid(
            "a network is debugged at one size: give each open dimension a number, for example --shape batch=4",
        ));
    }
    let inputs: Vec<_> = inputs.into_values().collect();
    let tolerance = Tolerance { rtol: args.rtol, atol: args.atol, steps: args.steps };
    let say = |done: usize, all: usize, what: &str| progress.say(format!("{done}/{all} {what}"));
    let findings = session.find_difference(&mut module, &options, &inputs, tolerance, &say)?;
    drop(progress);
    if let Some(folder) = &args.save {
        save(folder, &findings)?;
    }
    print(&text(&findings, args.all))?;
    match verdict(&findings) {
        None => Ok(()),
        Some(fault) => Err(Error::invalid(fault)),
    }
}

/// Fails where files would be lost.
fn check_folder(folder: &Path) -> Result<()> {
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("cannot read", folder, error)),
    };
    if entries.next().is_some() {
        return Err(Error::invalid(format!(
            "{} has files; --save takes a new or empty folder",
            folder.display()
        )));
    }
    Ok(())
}

/// Writes the tensors of each match that differs.
fn save(folder: &Path, findings: &Findings) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot create", folder, e))?;
    for (number, checked) in findings.matches.iter().enumerate() {
        if !checked.tensors.is_empty() {
            let name = format!("{number}-{}-{}.npz", checked.region, checked.pattern);
            io::save_outputs(&folder.join(name), &checked.tensors)?;
        }
    }
    Ok(())
}

fn text(findings: &Findings, all: bool) -> String {
    let mut text = String::new();
    for (number, checked) in findings.matches.iter().enumerate() {
        if all || !checked.passed() {
            let _ = writeln!(text, "{number} {}: {}", name(checked), outcome(&checked.outcome));
        }
    }
    let right = findings.matches.iter().filter(|checked| checked.passed()).count();
    let count = findings.matches.len();
    let _ = writeln!(text, "{right} of {count} matches are as on the host");
    let _ = writeln!(text, "whole network: {}", outcome(&findings.whole));
    text
}

fn name(checked: &Checked) -> String {
    let nodes = match &checked.nodes[..] {
        [] => String::new(),
        [only] => format!(" of {only}"),
        [first, .., last] => format!(" of {first} to {last}"),
    };
    format!("{} in {}{nodes}", checked.pattern, checked.region)
}

fn outcome(outcome: &std::result::Result<Vec<Comparison>, String>) -> String {
    match outcome {
        Err(reason) => format!("does not run: {reason}"),
        Ok(results) => {
            let texts: Vec<_> = results.iter().map(Comparison::to_string).collect();
            if texts.is_empty() { "nothing to compare".to_owned() } else { texts.join("; ") }
        }
    }
}

/// Description of the first fault; none if all is right.
fn verdict(findings: &Findings) -> Option<String> {
    let first = findings.matches.iter().enumerate().find(|(_, checked)| !checked.passed());
    if let Some((number, checked)) = first {
        return Some(format!(
            "the first that differs from the host is {number}, {}",
            name(checked)
        ));
    }
    if let Some(region) = &findings.region {
        return Some(format!(
            "each match is right, and the network becomes wrong with region {region}: look at what \
             lies between matches, such as layouts, memory or the state of the device"
        ));
    }
    let ran = findings.whole.as_ref().is_ok_and(|list| list.iter().all(Comparison::passed));
    (!ran).then(|| "the whole network is wrong, each part of it is right".to_owned())
}
