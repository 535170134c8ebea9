//! Compiles and runs work, and takes the time.

use super::{
    clock::{self, ProfileOptions, Time},
    extract::Extract,
    tiles::{give_tiles, known_tiles},
    workload::{Seen, Workload, collect},
};
use crate::{
    CompileOptions, DType, Phase, Result, Session, Tensor,
    artifact::Port,
    codegen::c::compile::DeviceBuild,
    ir::{self, Op, func},
    outline::{self, PartitionInput},
    partition::{Entry, Profile, Skipped, Transfer, placement::HOST},
    targets::{TargetInstance, profiled_machine},
    tile::Tiles,
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
        let build = DeviceBuild::default();
        let bench = Bench { session: self, options, how, build: &build };
        let idle = bench.time(self.parse(NOTHING.as_bytes(), "nothing")?, Phase::PrePartition)?;
        idle.check()?;
        let mut profile = Profile {
            phaseline_profile: Profile::VERSION,
            machine: profiled_machine()?,
            targets: targets.iter().map(TargetInstance::profiled).collect(),
            entries: vec![],
            tiles: vec![],
            skipped: vec![],
        };
        let mut seen = Seen::new();
        let mut measure = |function: Op<'_>| -> Result<()> {
            let partition_input = PartitionInput::new(function, &targets, &Default::default())?;
            let stand =
                Stand { bench: &bench, partition_input: &partition_input, idle: idle.least };
            let all = collect(&partition_input, &mut seen)?;
            stand.measure_all(&all, &mut profile, progress);
            Ok(())
        };
        measure(func::main(ir::root(module)).ok_or_else(func::no_main)?)?;
        // A loop is one operation of the host, and what is in it is divided as a function.
        self.run_pipeline(module, "builtin.module(graph-outline-loops)")?;
        let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
        outline::open_functions(ir::root(module), main, &targets)
            .into_iter()
            .try_for_each(measure)?;
        Ok(profile)
    }
}

/// Writes down what a piece of work took, or why it could not be measured.
fn note(profile: &mut Profile, work: &Workload, time: Result<f64>) {
    let (target, pattern, text) = (work.target, work.pattern.clone(), work.text.clone());
    match time {
        Ok(nanoseconds) => profile.entries.push(Entry {
            target,
            pattern,
            key: work.key.clone(),
            work: text,
            bytes: work.bytes as u64,
            nanoseconds,
        }),
        Err(error) => {
            let reason = error.to_string();
            profile.skipped.push(Skipped { target, pattern, work: text, reason });
        }
    }
}

/// Session and settings that work is compiled and run with.
pub(super) struct Bench<'a, 'c> {
    pub session: &'c Session,
    options: &'a CompileOptions<'a>,
    pub how: &'a ProfileOptions,
    /// Keeps the objects of devices' C, which is the same for all work.
    build: &'a DeviceBuild,
}

impl Bench<'_, '_> {
    /// Options for work that has been through a phase.
    pub fn options(&self, after: Phase) -> CompileOptions<'_> {
        CompileOptions {
            targets: self.options.targets.clone(),
            target_path: self.options.target_path.clone(),
            name: "profile".into(),
            after,
            cc: self.options.cc.clone(),
            devices: Some(self.build),
            phases: self.options.phases.clone(),
            ..Default::default()
        }
    }

    /// Measures a run of a network that has been through a phase.
    pub fn time(&self, module: Module<'_>, after: Phase) -> Result<Time> {
        let executable = self.session.compile(module, &self.options(after))?.load()?;
        let inputs = executable.signature().inputs.iter();
        let inputs = inputs.map(|port| input(port, self.how.seed)).collect::<Result<Vec<_>>>()?;
        clock::sample(&executable, &inputs, self.how)
    }
}

/// Environment for measurements of a function's work.
pub(super) struct Stand<'a, 'c> {
    pub bench: &'a Bench<'a, 'c>,
    pub partition_input: &'a PartitionInput<'c, 'a>,
    /// Time of a run that does nothing, in nanoseconds.
    pub idle: f64,
}

impl<'c> Stand<'_, 'c> {
    /// Measures all of a function's work, and what its devices take besides.
    fn measure_all(
        &self,
        all: &[Workload],
        profile: &mut Profile,
        progress: &dyn Fn(usize, usize, &str),
    ) {
        let mut times: Vec<Option<Time>> = vec![];
        for (number, work) in all.iter().enumerate() {
            progress(number, all.len(), &work.text);
            let time = match &work.tiled {
                Some(tiled) if self.bench.how.tiles > 0 => self.measure_tiles(work, tiled, profile),
                _ => self.measure(work, 1, None),
            };
            let time = time.and_then(|time| time.check().map(|()| time));
            match &time {
                Ok(time) => tracing::debug!(target: "phaseline::measure", work = work.text, ?time),
                Err(error) => {
                    tracing::debug!(target: "phaseline::measure", work = work.text, %error)
                }
            }
            times.push(time.as_ref().ok().copied());
            note(profile, work, time.map(|time| time.usual));
            // What a failed compile said is in the list.
            self.bench.session.clear_diagnostics();
        }
        for number in 0..self.partition_input.devices.len() {
            if profile.targets[number].transfer.is_none() {
                profile.targets[number].transfer = self.transfer(number, profile, all, &times);
                self.bench.session.clear_diagnostics();
            }
        }
    }

    /// The time of work that is done so many times in a row, with some tiles or those of least cost.
    pub fn measure(&self, work: &Workload, times: usize, tiles: Option<&Tiles>) -> Result<Time> {
        let mut module = self.extract(work, times)?;
        let mut after = Phase::PrePartition;
        if let Some(tiles) = tiles {
            let options = self.bench.options(after);
            after = Phase::Partition;
            self.bench.session.run_phases(&mut module, &options, after)?;
            give_tiles(&module, tiles)?;
        }
        let time = self.bench.time(module, after)?;
        let (usual, least) = ((time.usual - self.idle).max(0.0), (time.least - self.idle).max(0.0));
        Ok(Time { usual, least, ..time })
    }

    /// The network that does work so many times in a row.
    fn extract(&self, work: &Workload, times: usize) -> Result<Module<'c>> {
        let devices = &self.partition_input.devices;
        let extract = Extract {
            ops: &work.ops,
            inputs: &work.inputs,
            outputs: &work.outputs,
            target: devices.get(work.target).map_or(HOST, |(device, _)| &device.id),
            pattern: work.pattern.as_deref(),
            times,
        };
        extract.module(self.bench.session, &self.partition_input.view)
    }

    /// Costs of a device's calls and transfers. Without merged regions they are part of the
    /// measured matches. Otherwise they are the time that two matches in one region save on twice
    /// the time of one: a call, and the value between them out and in again. These are differences
    /// of nearly equal times, so the least times are compared.
    fn transfer(
        &self,
        target: usize,
        profile: &Profile,
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
            let both = self.measure(work, 2, known_tiles(profile, work));
            let both = both.and_then(|both| both.check().map(|()| both));
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
