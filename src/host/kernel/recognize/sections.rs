//! Channels whose filters do not reach the first taps.
//!
//! The phases of a transposed convolution are channels of one convolution. If the stride does not
//! divide the kernel, some phases have a tap less along an axis than others, or none at all. Their
//! filters are 0 there.

use super::WeightsOperand;
use crate::{
    host::kernel::{
        Contraction, Section,
        weights::{self, Source},
        window::AXES,
    },
    ir::{Val, constant::Elements},
};

/// Sections with code of their own, at most.
const MOST: usize = 16;

/// The sections of the channels of a convolution whose weights are given; none if all reach all taps.
pub(super) fn sections(
    spec: &Contraction,
    operand: &WeightsOperand,
    value: Option<Val<'_>>,
) -> Vec<Section> {
    let Some(source) = operand.source else { return vec![] };
    if let Some(integers) = &operand.integers {
        return of(spec, &source, |at| integers.get(at) == Some(&0));
    }
    let Some(elements) = value.and_then(Elements::of_value).filter(|all| !all.is_splat()) else {
        return vec![];
    };
    if let Some(values) = weights::floats_of::<f32>(&elements) {
        return of(spec, &source, |at| values.get(at) == Some(&0.0));
    }
    match weights::floats_of::<f64>(&elements) {
        Some(values) => of(spec, &source, |at| values.get(at) == Some(&0.0)),
        None => vec![],
    }
}

fn of(spec: &Contraction, source: &Source, is_zero: impl Fn(usize) -> bool) -> Vec<Section> {
    let Source::Filters { groups, filters, depth, taps } = *source else { return vec![] };
    let [_, rows, cols] = spec.window.kernel.map(|size| size as usize);
    let skip = |filter: usize| {
        let mut skip = spec.window.kernel;
        for from in (0..groups).flat_map(|group| {
            let first = (group * filters + filter) * depth;
            first..first + depth
        }) {
            for tap in 0..taps {
                if skip == [0; AXES] {
                    return skip;
                }
                if !is_zero(from * taps + tap) {
                    let at = [tap / (rows * cols), tap / cols % rows, tap % cols];
                    for (skip, at) in skip.iter_mut().zip(at) {
                        *skip = (*skip).min(at as i64);
                    }
                }
            }
        }
        skip
    };
    let mut found: Vec<Section> = vec![];
    for filter in 0..filters {
        let skip = skip(filter);
        match found.last_mut() {
            Some(last) if last.skip == skip => last.channels += 1,
            _ => found.push(Section { channels: 1, skip }),
        }
    }
    if found.len() > MOST || found.iter().all(|section| section.skip == [0; AXES]) {
        vec![]
    } else {
        found
    }
}
