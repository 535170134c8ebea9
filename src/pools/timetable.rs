//! Live ranges of all buffers on one program-wide timeline.

use super::demand::Program;
use crate::plan::Span;

/// One run of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Instance {
    /// A run with this first point.
    At(usize),
    /// A run at some time of this span, of a function that callers do not look into.
    Within(Span),
}

/// The times of all requests.
pub struct Timetable {
    /// Number of points.
    pub length: usize,
    /// Live ranges by function and request.
    spans: Vec<Vec<Vec<Span>>>,
    /// Number of runs of each function.
    pub runs: Vec<u64>,
}

impl Timetable {
    /// The times of a program's requests. Functions that nobody calls run one after the other.
    pub fn of(program: &Program<'_, '_>) -> Self {
        let functions = &program.functions;
        let mut instances: Vec<Vec<Instance>> = vec![vec![]; functions.len()];
        let mut runs = vec![0_u64; functions.len()];
        let mut length = 0;
        for index in (0..functions.len()).rev() {
            let function = &functions[index];
            if instances[index].is_empty() {
                instances[index].push(Instance::At(length));
                runs[index] = 1;
                length += function.timeline.length();
            }
            instances[index].sort_unstable();
            instances[index].dedup();
            let own = instances[index].clone();
            for (_, call) in &function.calls {
                runs[call.callee] = runs[call.callee].saturating_add(runs[index]);
                let inside = own.iter().map(|instance| match *instance {
                    Instance::Within(span) => Instance::Within(span),
                    Instance::At(begin) if functions[call.callee].opaque => {
                        Instance::Within((begin + call.span.0, begin + call.span.1))
                    }
                    Instance::At(begin) => Instance::At(begin + call.start),
                });
                instances[call.callee].extend(inside);
            }
        }
        let times = functions.iter().zip(&instances).map(|(function, instances)| {
            let of = |spans: &[Span]| {
                let each = instances.iter().flat_map(|instance| match *instance {
                    Instance::Within(span) => vec![span],
                    Instance::At(begin) => {
                        spans.iter().map(|span| (begin + span.0, begin + span.1)).collect()
                    }
                });
                joined(each.collect())
            };
            function.requests.iter().map(|request| of(&request.buffer.spans)).collect()
        });
        Self { length, spans: times.collect(), runs }
    }

    /// Live ranges of a request: in order, and disjoint.
    pub fn spans(&self, function: usize, request: usize) -> &[Span] {
        &self.spans[function][request]
    }
}

/// The same times in order, those that meet as one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut found: Vec<Span> = vec![];
    for span in spans {
        match found.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => found.push(span),
        }
    }
    found
}
