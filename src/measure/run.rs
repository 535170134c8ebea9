//! Compiles and runs work, and takes the time.

use super::{
    clock::{self, ProfileOptions, Time},
    extract::Extract,
    workload::{Workload, collect},
};
use crate::{
    CompileOptions, DType, Phase, Result, Session, Tensor,
    artifact::Port,
    codegen::c::compile::DeviceBuild,
    ir::{self, func},
    outline::{DivideOptions, PartitionInput},
    partition::{Entry, Profile, ProfiledMachine, Skipped, Transfer, placement::HOST},
};
use melior::ir::Module;

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
        module: &mut Module<'_>,
        options: &CompileOptions<'_>,
        how: &ProfileOptions,
        progress: &dyn Fn(usize, usize, &str),
    ) -> Result<Profile> {
        self.run_phases(module, options, Phase::PrePartition)?;
        let targets = options.resolve(self)?;
        let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
        let partition_input = PartitionInput::new(main, &targets, &DivideOptions::default())?;
        let all = collect(&partition_input)?;
        let build = DeviceBuild::default();
        let mut stand = Stand {
            session: self,
            options,
            how,
            partition_input: &partition_input,
            build: &build,
            idle: 0.0,
        };
        let idle = stand.time(self.parse(NOTHING.as_bytes(), "nothing")?)?;
        idle.check()?;
        stand.idle = idle.least;
        let devices = partition_input.devices.iter().map(|(device, _)| device.profiled());
        let mut profile = Profile {
            phaseline_profile: Profile::VERSION,
            machine: ProfiledMachine::here()?,
            targets: devices.chain([partition_input.host.profiled()]).collect(),
            entries: vec![],
            skipped: vec![],
        };
        let mut times: Vec<Option<Time>> = vec![];
        for (number, work) in all.iter().enumerate() {
            progress(number, all.len(), &work.text);
            let time = stand.measure(work, 1).and_then(|time| time.check().map(|()| time));
            match &time {
                Ok(time) => tracing::debug!(target: "phaseline::measure", work = work.text, ?time),
                Err(error) => {
                    tracing::debug!(target: "phaseline::measure", work = work.text, %error)
                }
            }
            times.push(time.as_ref().ok().copied());
            profile.note(work, time.map(|time| time.usual));
            // What a failed compile said is in the list.
            self.clear_diagnostics();
        }
        for number in 0..partition_input.devices.len() {
            profile.targets[number].transfer = stand.transfer(number, &all, &times);
            self.clear_diagnostics();
        }
        Ok(profile)
    }
}

impl Profile {
    fn note(&mut self, work: &Workload, time: Result<f64>) {
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
    partition_input: &'a PartitionInput<'c, 'a>,
    /// Keeps the objects of devices' C, which is the same for all work.
    build: &'a DeviceBuild,
    /// What a run takes that does nothing.
    idle: f64,
}

impl Stand<'_, '_> {
    /// The time of work that is done so many times in a row.
    fn measure(&self, work: &Workload, times: usize) -> Result<Time> {
        let devices = &self.partition_input.devices;
        let extract = Extract {
            ops: &work.ops,
            inputs: &work.inputs,
            outputs: &work.outputs,
            target: devices.get(work.target).map_or(HOST, |(device, _)| &device.id),
            pattern: work.pattern.as_deref(),
            times,
        };
        let module = extract.module(self.session, &self.partition_input.view)?;
        let time = self.time(module)?;
        let (usual, least) = ((time.usual - self.idle).max(0.0), (time.least - self.idle).max(0.0));
        Ok(Time { usual, least, ..time })
    }

    fn time(&self, module: Module<'_>) -> Result<Time> {
        let options = CompileOptions {
            targets: self.options.targets.clone(),
            target_path: self.options.target_path.clone(),
            name: "profile".into(),
            after: Phase::PrePartition,
            cc: self.options.cc.clone(),
            devices: Some(self.build),
            ..Default::default()
        };
        let executable = self.session.compile(module, &options)?.load()?;
        let inputs = executable.signature().inputs.iter();
        let inputs = inputs.map(|port| input(port, self.how.seed)).collect::<Result<Vec<_>>>()?;
        clock::sample(&executable, &inputs, self.how)
    }

    /// What calls and transfers of a device take. Where regions are not merged, they are in what
    /// was measured of the matches. Else they are what two matches in one region take less than
    /// twice the time of one: a call, and the value between them out and in again. These are
    /// differences of nearly equal times, so that the least times are compared.
    fn transfer(
        &self,
        target: usize,
        all: &[Workload],
        times: &[Option<Time>],
    ) -> Option<Transfer> {
        /// Pieces of work that are tried.
        const TRIES: usize = 4;
        if !self.partition_input.devices[target].0.kind.capabilities.merge {
            return Some(Transfer { per_call: 0.0, per_byte: 0.0 });
        }
        let mut points: Vec<(f64, f64)> = vec![];
        let mut sizes = std::collections::BTreeSet::new();
        for (work, time) in all.iter().zip(times).filter(|(work, _)| work.target == target) {
            let Some(time) = time else { continue };
            let ops = (&work.ops, &work.inputs, &work.outputs);
            let extract = Extract {
                ops: ops.0,
                inputs: ops.1,
                outputs: ops.2,
                target: "",
                pattern: None,
                times: 2,
            };
            let Some((_, between)) = extract.chain(&self.partition_input.view) else { continue };
            let bytes = 2.0 * crate::partition::bytes(&self.partition_input.view.graph, between);
            if points.len() == TRIES || !sizes.insert(bytes as u64) {
                continue;
            }
            let both = self.measure(work, 2).and_then(|both| both.check().map(|()| both));
            let Ok(both) = both else { continue };
            // A difference within what the times vary by is none.
            let saved = 2.0 * time.least - both.least;
            let noise = 2.0 * time.spread() + both.spread();
            points.push((bytes, if saved > noise { saved } else { 0.0 }));
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
