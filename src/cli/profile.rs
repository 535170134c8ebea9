//! `phaseline profile`: what the parts of a model take on each target.

use super::{
    args::ProfileArgs,
    data::c_compiler,
    model::{check_open, import},
    print,
    progress::Progress,
    registry::Known,
};
use crate::{
    CompileOptions, Error, Result, Toolkit, io,
    measure::ProfileOptions,
    partition::{Profile, Skipped},
};
use std::{fmt::Write, time::Duration};

/// Measures, and writes the profile.
pub fn profile(toolkit: &Toolkit, args: &ProfileArgs) -> Result<()> {
    Profile::check_place(&args.output)?;
    let known = Known::of(toolkit, &args.known)?;
    one_thread();
    let progress = Progress::new();
    progress.say("reading the model");
    let session = super::new_session(toolkit);
    let options = CompileOptions {
        targets: known.expanded(&args.target)?,
        target_path: known.paths,
        cc: c_compiler(),
        ..toolkit.options()
    };
    let source = super::bytecode::open(&args.model.model)?;
    let mut module = import(&*source, &session, &args.model, &options)?;
    check_open(&*source, &module)?;
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
    let how = ProfileOptions {
        samples: args.samples as usize,
        sample_time: seconds(args.sample_time / 1e6),
        limit: seconds(args.limit),
        seed: args.seed,
        tiles: args.tiles.unwrap_or(0) as usize,
    };
    let say = |done: usize, all: usize, work: &str| progress.say(format!("{done}/{all} {work}"));
    let profile = session.profile(&mut module, &options, &how, &say)?;
    if profile.entries.is_empty() {
        return Err(Error::invalid(match profile.skipped.first() {
            Some(skipped) => format!("nothing could be measured: {}", skipped.reason),
            None => "the model has nothing to measure".to_owned(),
        }));
    }
    refuse_noise(&profile)?;
    // The measurement takes a while, in which the file may have appeared.
    Profile::check_place(&args.output)?;
    io::write_bytes(&args.output, profile.to_json()?)?;
    drop(progress);
    print(&summary(&profile))
}

/// Libraries of targets compute on one thread, as everything else that is measured: threads that
/// wait for each other measure what else the machine does.
fn one_thread() {
    const VARIABLES: [(&str, &str); 7] = [
        ("OMP_NUM_THREADS", "1"),
        ("OMP_DYNAMIC", "FALSE"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("GOTO_NUM_THREADS", "1"),
        ("MKL_NUM_THREADS", "1"),
        ("BLIS_NUM_THREADS", "1"),
        ("VECLIB_MAXIMUM_THREADS", "1"),
    ];
    for (name, value) in VARIABLES {
        // SAFETY: the command has started no thread yet, and libraries are loaded afterwards.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Fails if there is more noise than measurements: a search would go by the rest alone.
fn refuse_noise(profile: &Profile) -> Result<()> {
    let is_noise = |skipped: &&Skipped| skipped.reason.contains("are noise");
    let noise: Vec<_> = profile.skipped.iter().filter(is_noise).collect();
    let tiles: usize = profile.tiles.iter().map(|call| call.candidates.len()).sum();
    let measured = profile.entries.len() + tiles;
    match noise.first() {
        Some(first) if noise.len() > measured => Err(Error::invalid(format!(
            "{} of {} measurements are noise, so nothing is written: {}: {}",
            noise.len(),
            noise.len() + measured,
            first.work,
            first.reason
        ))),
        _ => Ok(()),
    }
}

/// Summary of the measurements, by target.
fn summary(profile: &Profile) -> String {
    let mut out = String::new();
    for (number, target) in profile.targets.iter().enumerate() {
        let times = profile.entries.iter().filter(|entry| entry.target == number);
        let skipped = profile.skipped.iter().filter(|skipped| skipped.target == number);
        // Writing to a string does not fail.
        let _ = write!(out, "{}: {} measured", target.kind, times.count());
        if let Some(transfer) = &target.transfer {
            let (call, byte) = (transfer.per_call, transfer.per_byte);
            let _ = write!(out, ", {call:.0} ns a call, {byte:.4} ns a byte");
        }
        let tiles = profile.tiles.iter().filter(|call| call.target == number);
        let other = tiles.clone().filter(|call| call.chosen > 0).count();
        if profile.tiles.iter().any(|call| call.target == number) {
            let _ =
                write!(out, ", tiles of {} calls, of {other} other than by cost", tiles.count());
        }
        out.push('\n');
        for skipped in skipped {
            let what = skipped.pattern.as_deref().unwrap_or("operation");
            let reason = skipped.reason.lines().next().unwrap_or_default();
            let _ = writeln!(out, "  not measured: {what} ({}): {reason}", skipped.work);
        }
    }
    out
}
