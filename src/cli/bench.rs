//! `phaseline bench`: latency of single runs.

use super::{
    args::BenchArgs,
    data::peak_rss_kb,
    layers::{self, Layer},
    print,
    run::{Preparation, prepare},
};
use crate::{Result, Tensor, io, runtime::Executable};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What `--json` prints. Times are in milliseconds.
#[derive(Serialize)]
struct Report {
    ok: bool,
    compile_ms: f64,
    load_ms: f64,
    median_ms: f64,
    p10_ms: f64,
    p90_ms: f64,
    min_ms: f64,
    runs: usize,
    threads: u32,
    peak_rss_kb: u64,
    /// Of single runs, in their order; of at most [`LISTED`] of them, evenly spaced.
    latency_ns: Vec<u64>,
    /// Billions of multiplications and additions that the threads can do in a second at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_gflops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<Layer>>,
}

/// Compiles, warms up, measures and reports.
pub fn bench(args: &BenchArgs) -> Result<()> {
    // Measured is the program that a package has.
    let how = Preparation::new(&args.cache, args.by_layer).of_program();
    let mut ready = prepare(&args.model, &args.target, &args.data, &how)?;
    ready.executable.set_threads(args.threads)?;
    let outputs = ready.executable.run_named(&ready.inputs)?;
    if let Some(path) = &args.data.outputs {
        io::save_outputs(path, &outputs)?;
    }
    let inputs: Vec<_> = ready.inputs.values().cloned().collect();
    let budget = Duration::from_secs_f64(args.min_time.clamp(0.0, 3600.0));
    let start = Instant::now();
    while start.elapsed() < budget / 4 {
        ready.executable.run(&inputs)?;
    }
    let samples = sample(&ready.executable, &inputs, (args.min_runs, budget))?;
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    let at = |share: f64| {
        let index = ((sorted.len() - 1) as f64 * share).round() as usize;
        sorted.get(index).map_or(0.0, |ns| *ns as f64 / 1e6)
    };
    let mut peak = None;
    let mut rows = None;
    if args.by_layer {
        let flops = super::new_session().peak_flops()? * f64::from(args.threads);
        let how = (args.min_runs, budget);
        rows = Some(layers::measure(&ready.executable, &inputs, how, flops)?);
        peak = Some(flops / 1e9);
    }
    let report = Report {
        ok: true,
        compile_ms: ready.compile.as_secs_f64() * 1e3,
        load_ms: ready.load.as_secs_f64() * 1e3,
        median_ms: at(0.5),
        p10_ms: at(0.1),
        p90_ms: at(0.9),
        min_ms: at(0.0),
        runs: samples.len(),
        threads: args.threads,
        peak_rss_kb: peak_rss_kb(),
        latency_ns: spaced(&samples),
        peak_gflops: peak,
        layers: rows,
    };
    if args.json {
        let line = serde_json::to_string(&report)
            .map_err(|error| crate::Error::internal(error.to_string()))?;
        return print(&format!("{line}\n"));
    }
    print(&text(&report))
}

/// A small network makes a million runs in a second, which nobody reads.
const LISTED: usize = 1000;

/// At most [`LISTED`] of some samples, evenly spaced.
fn spaced(samples: &[u64]) -> Vec<u64> {
    samples.iter().copied().step_by(samples.len().div_ceil(LISTED).max(1)).collect()
}

/// Times of runs in nanoseconds: so many at least, and for as long as that.
fn sample(
    model: &Executable,
    inputs: &[Tensor],
    (runs, budget): (u32, Duration),
) -> Result<Vec<u64>> {
    let mut samples: Vec<u64> = vec![];
    let start = Instant::now();
    while samples.len() < runs as usize || start.elapsed() < budget {
        let before = Instant::now();
        model.run(inputs)?;
        samples.push(u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(samples)
}

fn text(report: &Report) -> String {
    let layers = match (&report.layers, report.peak_gflops) {
        (Some(rows), Some(peak)) => format!(
            "{}peak of {} thread(s): {peak:.1} GFLOP/s\n",
            layers::table(rows),
            report.threads
        ),
        _ => String::new(),
    };
    format!(
        "{layers}median {:.3} ms (p10 {:.3}, p90 {:.3}) over {} runs on {} thread(s); compile {:.0} ms, \
         load {:.1} ms, peak memory {} MiB\n",
        report.median_ms,
        report.p10_ms,
        report.p90_ms,
        report.runs,
        report.threads,
        report.compile_ms,
        report.load_ms,
        report.peak_rss_kb / 1024
    )
}
