//! Tables of what a model does step by step: `compile --report`, `bench --by-layer`, `run --trace`.

use crate::{
    Result, Tensor,
    artifact::{Means, Operation},
    runtime::Executable,
};
use serde::Serialize;
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// A step and what it took.
#[derive(Debug, Serialize)]
pub struct Layer {
    /// Operation of the step.
    #[serde(flatten)]
    pub operation: Operation,
    /// Median of its times, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<f64>,
    /// Share of the sum of all steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Billions of operations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gops: Option<f64>,
    /// Share of what the threads can do at most, of a kernel on 32-bit floats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_peak: Option<f64>,
    /// Billions of bytes of its buffers per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbytes: Option<f64>,
    /// Hint at an improvement that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<&'static str>,
}

/// Rows without times.
pub fn layers(operations: Vec<Operation>) -> Vec<Layer> {
    let row = |operation: Operation| Layer {
        remark: remark(&operation),
        operation,
        median_ms: None,
        share: None,
        gops: None,
        of_peak: None,
        gbytes: None,
    };
    operations.into_iter().map(row).collect()
}

/// Operations of loops from which on it matters that there is no kernel for them.
const MUCH: u64 = 1 << 18;

fn remark(operation: &Operation) -> Option<&'static str> {
    let much = operation.means == Means::Loop && operation.operations >= MUCH;
    much.then_some("no kernel")
}

/// Runs a model that is compiled to be traced for about `budget`, and gives the times of its steps.
pub fn measure(
    model: &Executable,
    inputs: &[Tensor],
    (runs, budget): (u32, Duration),
    peak: f64,
) -> Result<Vec<Layer>> {
    let mut rows = layers(model.signature().operations.clone());
    let mut outputs = model.output_buffers()?;
    let warm = Instant::now();
    while warm.elapsed() < budget / 4 {
        model.run_traced(inputs, &mut outputs)?;
    }
    let mut samples: Vec<Vec<f64>> = rows.iter().map(|_| vec![]).collect();
    let (start, mut done) = (Instant::now(), 0);
    while done < runs || start.elapsed() < budget {
        for event in model.run_traced(inputs, &mut outputs)? {
            if let Some(list) = samples.get_mut(event.operation) {
                list.push((event.end - event.begin).as_secs_f64() * 1e3);
            }
        }
        done += 1;
    }
    let medians: Vec<f64> = samples.into_iter().map(median).collect();
    let sum: f64 = medians.iter().sum();
    for (row, ms) in rows.iter_mut().zip(medians) {
        let per_second = |count: u64| (ms > 0.0).then(|| count as f64 / ms / 1e6);
        let operations = row.operation.operations;
        row.median_ms = Some(ms);
        row.share = Some(if sum > 0.0 { ms / sum } else { 0.0 });
        row.gbytes = per_second(row.operation.bytes);
        row.gops = per_second(operations).filter(|_| operations > 0);
        let floats = row.operation.means == Means::Kernel;
        let types = row.operation.inputs.iter().chain(&row.operation.outputs);
        let floats = floats && types.into_iter().all(|ty| ty.ends_with("f32"));
        row.of_peak = row.gops.filter(|_| floats && peak > 0.0).map(|speed| speed * 1e9 / peak);
    }
    Ok(rows)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(0.0)
}

/// The rows as text, the columns aligned, and where the time goes.
pub fn table(rows: &[Layer]) -> String {
    let timed = rows.iter().any(|row| row.median_ms.is_some());
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let percent = |value: Option<f64>| {
        value.map_or_else(String::new, |value| format!("{:.1}%", value * 100.0))
    };
    let mut lines: Vec<Vec<String>> = vec![];
    let mut head = vec!["node", "target", "means", "code", "types", "tasks", "Mop"];
    if timed {
        head.extend(["ms", "share", "Gop/s", "of peak", "GB/s"]);
    }
    head.push("remark");
    lines.push(head.into_iter().map(str::to_owned).collect());
    for row in rows {
        let of = &row.operation;
        let types = format!("{} -> {}", of.inputs.join(", "), of.outputs.join(", "));
        let work = (of.operations > 0).then_some(of.operations as f64 / 1e6);
        let mut line = vec![
            of.node.clone(),
            of.target.clone(),
            of.means.to_string(),
            of.code.clone(),
            shortened(&types),
            of.tasks.to_string(),
            number(work, 2),
        ];
        if timed {
            line.extend([
                number(row.median_ms, 4),
                percent(row.share),
                number(row.gops, 1),
                percent(row.of_peak),
                number(row.gbytes, 1),
            ]);
        }
        line.push(row.remark.unwrap_or_default().to_owned());
        lines.push(line);
    }
    aligned(&lines) + &summary(rows)
}

/// Types of many buffers are cut: JSON has them all.
fn shortened(types: &str) -> String {
    const MOST: usize = 60;
    if types.chars().count() <= MOST {
        return types.to_owned();
    }
    let (inputs, outputs) = types.rsplit_once(" -> ").unwrap_or((types, ""));
    let first = inputs.split(", ").next().unwrap_or_default();
    format!("{first}, ... -> {outputs}")
}

fn aligned(lines: &[Vec<String>]) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|text| text.chars().count()).max()
    };
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(row, "{cell:width$}  ");
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// The time of each kind of step, most first.
fn summary(rows: &[Layer]) -> String {
    let mut kinds: Vec<(String, usize, f64)> = vec![];
    for row in rows {
        let of = &row.operation;
        let code = match of.means {
            Means::Kernel => format!("{} {}", of.means, of.code),
            Means::Call => format!("{} on {}", of.means, of.target),
            Means::Transfer | Means::Wait => format!("{} of {}", of.means, of.target),
            Means::Loop | Means::Copy => of.means.to_string(),
        };
        let ms = row.median_ms.unwrap_or(0.0);
        match kinds.iter_mut().find(|(kind, ..)| *kind == code) {
            Some((_, count, sum)) => {
                *count += 1;
                *sum += ms;
            }
            None => kinds.push((code, 1, ms)),
        }
    }
    kinds.sort_by(|a, b| b.2.total_cmp(&a.2));
    let all: f64 = kinds.iter().map(|(.., ms)| ms).sum();
    let mut text = String::from("\n");
    for (kind, count, ms) in kinds {
        let times = match all > 0.0 {
            true => format!(", {ms:.4} ms, {:.1}%", ms / all * 100.0),
            false => String::new(),
        };
        let _ = writeln!(text, "{kind}: {count} step{}{times}", if count == 1 { "" } else { "s" });
    }
    text
}
