//! `phaseline bench`: latency of single runs.

use super::{
    args::BenchArgs,
    data::peak_rss_kb,
    layers::{self, Layer},
    print,
    run::{Preparation, prepare},
};
use crate::{Error, Result, Tensor, Toolkit, io, runtime::Executable, tensor::DType};
use phaseline_base::size::Variant;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Output of `--json`. Times are in milliseconds.
#[derive(Serialize)]
struct Report {
    ok: bool,
    compile_ms: f64,
    load_ms: f64,
    #[serde(flatten)]
    latency: Latency,
    threads: u32,
    peak_rss_kb: u64,
    /// Times at each of the requested sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at: Vec<AtSizes>,
    /// Billions of multiplications and additions that the threads can do in a second at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_gflops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<Layer>>,
}

/// Times of single runs.
#[derive(Serialize)]
struct Latency {
    median_ms: f64,
    p10_ms: f64,
    p90_ms: f64,
    min_ms: f64,
    runs: usize,
    /// Times of single runs, in their order; of at most [`LISTED`] of them, evenly spaced.
    latency_ns: Vec<u64>,
}

/// Times at some sizes.
#[derive(Serialize)]
struct AtSizes {
    /// The sizes, in the form of `--at`.
    sizes: String,
    #[serde(flatten)]
    latency: Latency,
}

impl Latency {
    /// Warms up, and measures.
    fn of(model: &Executable, inputs: &[Tensor], how: (u32, Duration)) -> Result<Self> {
        let start = Instant::now();
        while start.elapsed() < how.1 / 4 {
            model.run(inputs)?;
        }
        let samples = sample(model, inputs, how)?;
        let mut sorted = samples.clone();
        sorted.sort_unstable();
        let at = |share: f64| {
            let index = ((sorted.len() - 1) as f64 * share).round() as usize;
            sorted.get(index).map_or(0.0, |ns| *ns as f64 / 1e6)
        };
        Ok(Self {
            median_ms: at(0.5),
            p10_ms: at(0.1),
            p90_ms: at(0.9),
            min_ms: at(0.0),
            runs: samples.len(),
            latency_ns: spaced(&samples),
        })
    }

    fn text(&self) -> String {
        format!(
            "median {:.3} ms (p10 {:.3}, p90 {:.3}) over {} runs",
            self.median_ms, self.p10_ms, self.p90_ms, self.runs
        )
    }
}

/// First elements of the greatest inputs, cut to the sizes that `part` names.
///
/// # Errors
/// All sizes of the network are known, or a size is outside its range.
fn inputs_at(executable: &Executable, inputs: &[Tensor], part: &Variant) -> Result<Vec<Tensor>> {
    let bounds = executable.signature().bounds.as_ref().filter(|it| !it.symbols.is_empty());
    let bounds = bounds.ok_or_else(|| {
        Error::invalid(format!(
            "--at {}: all sizes of this network are known; compile it with ranges (--shape DIM=1..32)",
            part.text()
        ))
    })?;
    let say = |message: String| Error::invalid(format!("--at {message}"));
    let narrow = part.within(&bounds.symbols).map_err(say)?;
    for (name, range) in &part.0 {
        if narrow.iter().any(|symbol| symbol.name == *name && symbol.least != symbol.most) {
            return Err(say(format!("{}: {name}={range} is a range; give sizes", part.text())));
        }
    }
    let values: Vec<_> = narrow.iter().map(|symbol| symbol.most).collect();
    let mut all = vec![];
    for (index, input) in inputs.iter().enumerate() {
        let elements = bounds.elements.get(index).filter(|elements| !elements.is_empty());
        let tensor = match (elements, bounds.inputs.get(index)) {
            (Some(elements), _) => {
                let own: Vec<_> =
                    elements.iter().map(|size| size.at(&bounds.symbols, &values)).collect();
                if input.dtype() == DType::I32 {
                    let own: Vec<_> = own.iter().map(|value| *value as i32).collect();
                    Tensor::from_slice(input.shape(), &own)?
                } else {
                    Tensor::from_slice(input.shape(), &own)?
                }
            }
            (None, Some(dims)) => {
                let sizes = dims.iter().map(|dim| dim.size().at(&bounds.symbols, &values));
                let shape: Vec<usize> =
                    sizes.map(|size| usize::try_from(size).unwrap_or(0)).collect();
                let count: usize = shape.iter().product();
                let bytes = input.bytes().slice(0..count * input.dtype().size());
                Tensor::from_bytes(input.dtype(), &shape, bytes)?
            }
            (None, None) => input.clone(),
        };
        all.push(tensor);
    }
    Ok(all)
}

/// Compiles, warms up, measures and reports.
pub fn bench(toolkit: &Toolkit, args: &BenchArgs) -> Result<()> {
    // Measured is the program that a package has.
    let how = Preparation::new(&args.cache, args.by_layer).of_program();
    let mut ready = prepare(toolkit, &args.model, &args.target, &args.data, &how)?;
    ready.executable.set_threads(args.threads)?;
    let outputs = ready.executable.run_named(&ready.inputs)?;
    if let Some(path) = &args.data.outputs {
        io::save_outputs(path, &outputs)?;
    }
    let inputs: Vec<_> = ready.inputs.values().cloned().collect();
    let budget = Duration::from_secs_f64(args.min_time.clamp(0.0, 3600.0));
    let how = (args.min_runs, budget);
    let parts: Vec<_> = args.at.iter().flat_map(|all| &all.0).collect();
    let sizes = parts.iter().map(|part| inputs_at(&ready.executable, &inputs, part));
    let sizes = sizes.collect::<Result<Vec<_>>>()?;
    let mut at = vec![];
    for (part, inputs) in parts.iter().zip(&sizes) {
        let latency = Latency::of(&ready.executable, inputs, how)?;
        at.push(AtSizes { sizes: part.text(), latency });
    }
    let latency = Latency::of(&ready.executable, &inputs, how)?;
    let mut peak = None;
    let mut rows = None;
    if args.by_layer {
        let flops = super::new_session(toolkit).peak_flops()? * f64::from(args.threads);
        rows = Some(layers::measure(&ready.executable, &inputs, how, flops)?);
        peak = Some(flops / 1e9);
    }
    let report = Report {
        ok: true,
        compile_ms: ready.compile.as_secs_f64() * 1e3,
        load_ms: ready.load.as_secs_f64() * 1e3,
        latency,
        threads: args.threads,
        peak_rss_kb: peak_rss_kb(),
        at,
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

/// Times of runs in nanoseconds: at least a number of runs, and for at least a duration.
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
    let width = report.at.iter().map(|row| row.sizes.len()).max().unwrap_or(0);
    let rows =
        report.at.iter().map(|row| format!("{:width$}  {}\n", row.sizes, row.latency.text()));
    let rows: String = rows.collect();
    let greatest = if report.at.is_empty() { "" } else { "greatest sizes: " };
    format!(
        "{layers}{rows}{greatest}{} on {} thread(s); compile {:.0} ms, load {:.1} ms, peak memory {} MiB\n",
        report.latency.text(),
        report.threads,
        report.compile_ms,
        report.load_ms,
        report.peak_rss_kb / 1024
    )
}
