//! Plain reference implementations of the kernels.

use crate::cases::{Case, Spec};
use phaseline::host::kernel::{
    Contraction, Depthwise, Fold, Weights, Window,
    window::{COL, ROW},
};

/// Numbers between -0.5 and 0.5, the same on each run.
pub fn random(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 40) as f32) / (1u64 << 24) as f32 - 0.5
        })
        .collect()
}

/// The greatest difference from the exact result, on some thousand elements; NaN if there is one.
pub fn error(case: &Case, x: &[f32], w: &[f32], y: &[f32]) -> f64 {
    let step = (y.len() / 3000).max(1);
    let mut worst: f64 = 0.0;
    for at in (0..y.len()).step_by(step) {
        let exact = match &case.spec {
            Spec::Contraction(spec) => contraction(spec, x, w, at as i64),
            Spec::Depthwise(spec) => depthwise(spec, x, w, at as i64),
        };
        let difference = (f64::from(y[at]) - exact).abs();
        if difference > worst || difference.is_nan() {
            worst = difference;
        }
    }
    worst
}

/// Calls `visit` for each tap of a window inside of the input, with its number and position.
fn taps(window: &Window, row: i64, col: i64, mut visit: impl FnMut(i64, i64)) {
    for kh in 0..window.kernel[ROW] {
        for kw in 0..window.kernel[COL] {
            let (ih, iw) = (window.position(ROW, row, kh), window.position(COL, col, kw));
            if (0..window.input[ROW]).contains(&ih) && (0..window.input[COL]).contains(&iw) {
                visit(kh * window.kernel[COL] + kw, ih * window.input[COL] + iw);
            }
        }
    }
}

fn contraction(spec: &Contraction, x: &[f32], w: &[f32], at: i64) -> f64 {
    let all = spec.channels * spec.groups;
    let (point, channel) = (at / all, at % all);
    let group = channel / spec.channels;
    let all_taps: i64 = spec.window.kernel.iter().product();
    let mut sum = 0.0;
    taps(&spec.window, point / spec.cols, point % spec.cols, |tap, position| {
        for c in 0..spec.depth {
            let from = position * spec.x.col + group * spec.depth + c;
            let weight = match spec.weights {
                Weights::Packed => (channel * spec.depth + c) * all_taps + tap,
                Weights::Rows(step) => c * step + channel,
            };
            sum += f64::from(x[from as usize]) * f64::from(w[weight as usize]);
        }
    });
    sum
}

fn depthwise(spec: &Depthwise, x: &[f32], w: &[f32], at: i64) -> f64 {
    let (point, channel) = (at / spec.channels, at % spec.channels);
    let all_taps: i64 = spec.window.kernel.iter().product();
    let (mut sum, mut greatest, mut count) = (0.0, f64::NEG_INFINITY, 0.0);
    taps(&spec.window, point / spec.cols, point % spec.cols, |tap, position| {
        let value = f64::from(x[(position * spec.channels + channel) as usize]);
        let weight = match spec.fold {
            Fold::Weighted => f64::from(w[(channel * all_taps + tap) as usize]),
            _ => 1.0,
        };
        sum += value * weight;
        greatest = greatest.max(value);
        count += 1.0;
    });
    match spec.fold {
        Fold::Weighted => sum,
        Fold::Max => greatest,
        Fold::Mean => sum / count,
        Fold::PaddedMean => sum / all_taps as f64,
    }
}
