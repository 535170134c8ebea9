//! Compiles and runs work, and takes the time.

use super::{
    cut::Cut,
    file::{Entry, Profile, ProfiledMachine, ProfiledTarget, Skipped, Transfer},
    work::{Work, collect},
};
use crate::{
    CompileOptions, DType, Error, Phase, Result, Session, Tensor,
    ir::{self, func},
    outline::{DivideOptions, Question},
    partition::placement::HOST,
    runtime::{Executable, Port},
    tensor::AlignedBuffer,
};
use melior::ir::Module;
use std::time::{Duration, Instant};

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct ProfileOptions {
    /// Samples, of which the median counts.
    pub samples: usize,
    /// Least time of a sample; work that takes less is run several times.
    pub sample_time: Duration,
    /// Time after which no further samples of the same work are taken.
    pub limit: Duration,
    /// Seed of the inputs.
    pub seed: u64,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        let (sample_time, limit) = (Duration::from_micros(200), Duration::from_secs(2));
        Self { samples: 11, sample_time, limit, seed: 1 }
    }
}

/// A network of which nothing but the call takes time.
const NOTHING: &str = "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = graph.relu %x {phl.target = \"host\"} : tensor<1xf32>
  return %0 : tensor<1xf32>
}";

impl Session {
    /// Measures all work that a module in the graph dialect may be divided into. The module is
    /// changed by the passes before partitioning. `progress` is told how much is done, how much
    /// there is, and what is next.
    pub fn profile(
        &self,
        module: &Module<'_>,
        options: &CompileOptions<'_>,
        how: &ProfileOptions,
        progress: &dyn Fn(usize, usize, &str),
    ) -> Result<Profile> {
        self.run_phases(module, options, Phase::PrePartition)?;
        let targets = options.resolve(self)?;
        let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
        let question = Question::new(main, &targets, &DivideOptions::default())?;
        let all = collect(&question)?;
        let mut stand = Stand { session: self, options, how, question: &question, idle: 0.0 };
        stand.idle = stand.time(self.parse(NOTHING.as_bytes(), "nothing")?)?.least;
        let devices = question.devices.iter().map(|(device, _)| ProfiledTarget::of(device));
        let mut profile = Profile {
            phaseline_profile: Profile::VERSION,
            machine: ProfiledMachine::here()?,
            targets: devices.chain([ProfiledTarget::of(question.host)]).collect(),
            entries: vec![],
            skipped: vec![],
        };
        let mut times: Vec<Option<Time>> = vec![];
        for (number, work) in all.iter().enumerate() {
            progress(number, all.len(), &work.text);
            let time = stand.measure(work, 1);
            times.push(time.as_ref().ok().copied());
            profile.note(work, time.map(|time| time.usual));
            // What a failed compile said is in the list.
            self.clear_diagnostics();
        }
        for number in 0..question.devices.len() {
            profile.targets[number].transfer = stand.transfer(number, &all, &times);
            self.clear_diagnostics();
        }
        Ok(profile)
    }
}

impl Profile {
    fn note(&mut self, work: &Work, time: Result<f64>) {
        let (target, pattern, text) = (work.target, work.pattern.clone(), work.text.clone());
        match time {
            Ok(nanoseconds) => self.entries.push(Entry {
                target,
                pattern,
                key: work.key.clone(),
                work: text,
                bytes: work.bytes as u64,
                nanoseconds,
            }),
            Err(error) => {
                let reason = error.to_string();
                self.skipped.push(Skipped { target, pattern, work: text, reason });
            }
        }
    }
}

/// What work is measured with.
struct Stand<'a, 'c> {
    session: &'c Session,
    options: &'a CompileOptions<'a>,
    how: &'a ProfileOptions,
    question: &'a Question<'c, 'a>,
    /// What a run takes that does nothing.
    idle: f64,
}

impl Stand<'_, '_> {
    /// The time of work that is done so many times in a row.
    fn measure(&self, work: &Work, times: usize) -> Result<Time> {
        let devices = &self.question.devices;
        let cut = Cut {
            ops: &work.ops,
            inputs: &work.inputs,
            outputs: &work.outputs,
            target: devices.get(work.target).map_or(HOST, |(device, _)| &device.id),
            pattern: work.pattern.as_deref(),
            times,
        };
        let module = cut.module(self.session, &self.question.view)?;
        let Time { usual, least } = self.time(module)?;
        Ok(Time { usual: (usual - self.idle).max(0.0), least: (least - self.idle).max(0.0) })
    }

    fn time(&self, module: Module<'_>) -> Result<Time> {
        let options = CompileOptions {
            targets: self.options.targets.clone(),
            target_path: self.options.target_path.clone(),
            name: "profile".into(),
            after: Phase::PrePartition,
            cc: self.options.cc.clone(),
            ..Default::default()
        };
        let executable = self.session.compile(module, &options)?.load()?;
        let inputs = executable.signature().inputs.iter();
        let inputs = inputs.map(|port| input(port, self.how.seed)).collect::<Result<Vec<_>>>()?;
        sample(&executable, &inputs, self.how)
    }

    /// What calls and transfers of a device take. Where regions are not merged, they are in what
    /// was measured of the matches. Else they are what two matches in one region take less than
    /// twice the time of one: a call, and the value between them out and in again. These are
    /// differences of nearly equal times, so that the least times are compared.
    fn transfer(&self, target: usize, all: &[Work], times: &[Option<Time>]) -> Option<Transfer> {
        /// Pieces of work that are tried.
        const TRIES: usize = 4;
        if !self.question.devices[target].0.kind.capabilities.merge {
            return Some(Transfer { per_call: 0.0, per_byte: 0.0 });
        }
        let mut points: Vec<(f64, f64)> = vec![];
        let mut sizes = std::collections::BTreeSet::new();
        for (work, time) in all.iter().zip(times).filter(|(work, _)| work.target == target) {
            let Some(time) = time else { continue };
            let ops = (&work.ops, &work.inputs, &work.outputs);
            let cut = Cut {
                ops: ops.0,
                inputs: ops.1,
                outputs: ops.2,
                target: "",
                pattern: None,
                times: 2,
            };
            let Some((_, between)) = cut.chain(&self.question.view) else { continue };
            let bytes = 2.0 * crate::partition::bytes(&self.question.view.graph, between);
            if points.len() == TRIES || !sizes.insert(bytes as u64) {
                continue;
            }
            if let Ok(both) = self.measure(work, 2) {
                points.push((bytes, (2.0 * time.least - both.least).max(0.0)));
            }
        }
        fit(&points)
    }
}

/// The line through points of bytes and nanoseconds that lies nearest to them, without negative
/// parts; none without points.
fn fit(points: &[(f64, f64)]) -> Option<Transfer> {
    let count = points.len() as f64;
    let mean = |part: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
    let least = points.iter().map(|(_, ns)| *ns).min_by(f64::total_cmp)?;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let spread = mean(&|point| (point.0 - x).powi(2));
    let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / spread;
    if points.len() < 2 || spread == 0.0 || slope <= 0.0 {
        // Sizes make no difference, or there is only one: a call takes it all.
        return Some(Transfer { per_call: least, per_byte: 0.0 });
    }
    let base = y - slope * x;
    let per_byte = if base < 0.0 { y / x } else { slope };
    Some(Transfer { per_call: base.max(0.0), per_byte })
}

/// An input of random elements; integers that may be places or divisors are one.
fn input(port: &Port, seed: u64) -> Result<Tensor> {
    let random = Tensor::random_named(port.dtype, &port.shape, seed, &port.name)?;
    match port.dtype {
        DType::I32 => {
            let count = random.shape().iter().product::<usize>();
            Ok(Tensor::from_slice(&port.shape, &vec![1_i32; count])?)
        }
        DType::I64 => {
            let count = random.shape().iter().product::<usize>();
            Ok(Tensor::from_slice(&port.shape, &vec![1_i64; count])?)
        }
        _ => Ok(random),
    }
}

/// What a run takes, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// The median.
    usual: f64,
    /// The least.
    least: f64,
}

/// The time of a run.
fn sample(executable: &Executable, inputs: &[Tensor], how: &ProfileOptions) -> Result<Time> {
    let ports = &executable.signature().outputs;
    let mut outputs = ports
        .iter()
        .map(|port| Ok(AlignedBuffer::zeroed(port.bytes()?)?))
        .collect::<Result<Vec<_>>>()?;
    // The first run is no measure: it touches all memory for the first time.
    executable.run_into(inputs, &mut outputs)?;
    let start = Instant::now();
    executable.run_into(inputs, &mut outputs)?;
    let once = start.elapsed().as_nanos().max(1);
    let batch = (how.sample_time.as_nanos() / once).clamp(1, 100_000) as u32;
    let mut samples: Vec<f64> = vec![];
    let start = Instant::now();
    // Samples that lie far apart are of a busy machine: more of them show what is usual.
    let is_enough = |samples: &[f64]| match samples.len() {
        0 => false,
        _ if start.elapsed() >= how.limit => true,
        count if count < how.samples => false,
        count => count >= 4 * how.samples || samples[count / 2] < 1.25 * samples[0],
    };
    while !is_enough(&samples) {
        let before = Instant::now();
        for _ in 0..batch {
            executable.run_into(inputs, &mut outputs)?;
        }
        let sample = before.elapsed().as_nanos() as f64 / f64::from(batch);
        let place = samples.partition_point(|other| *other < sample);
        samples.insert(place, sample);
    }
    let (usual, least) = (samples.get(samples.len() / 2), samples.first());
    let found = usual.zip(least).map(|(usual, least)| Time { usual: *usual, least: *least });
    found.ok_or_else(|| Error::invalid("at least one sample has to be taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_bytes_are_told_apart() {
        let found = |points: &[(f64, f64)]| fit(points).map(|t| (t.per_call, t.per_byte));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[(8.0, 5.0)]), Some((5.0, 0.0)));
        assert_eq!(found(&[(10.0, 30.0), (20.0, 50.0)]), Some((10.0, 2.0)));
        assert_eq!(found(&[(10.0, 10.0), (30.0, 50.0)]), Some((0.0, 1.5)));
        assert_eq!(found(&[(10.0, 50.0), (30.0, 20.0)]), Some((20.0, 0.0)));
    }
}
