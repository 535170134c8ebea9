//! One case of a suite.

use super::{
    super::{CheckOptions, Ground, contest, program, sanitizer::Sanitizer},
    cases::Case,
    report::{CaseReport, Outcome, Share},
    tolerance::Tolerance,
};
use crate::{
    CompileOptions, DType, Error, Interface, Phase, Result, Session, Tensor,
    hook::DryRuns,
    import::{self, ImportOptions, Source},
    io,
    ir::{self, edit, func},
    outline::{self, DivideOptions},
    partition::Report,
    pattern::Pattern,
    targets::TargetInstance,
};
use indexmap::IndexMap;
use melior::ir::Module;
use std::path::Path;

/// Most time that a case computes, in seconds: whole networks run with sanitizers.
const COMPUTING: u64 = 100;

/// Environment that cases are run in.
pub struct Bench<'a> {
    pub options: &'a CheckOptions,
    pub ground: &'a Ground,
    pub device: &'a TargetInstance,
    pub patterns: &'a [Pattern],
    pub sanitizer: &'a Sanitizer,
}

/// Failure of a case, by whose fault it is.
enum Fault {
    /// The target's fault.
    Wrong(String),
    /// A fault of the network or its data.
    Unsupported(String),
}

/// A case that is imported.
struct Ready<'c> {
    module: Module<'c>,
    /// All inputs by name.
    inputs: IndexMap<String, Tensor>,
    /// All but the first are constants.
    weights: bool,
}

/// A case that is divided.
struct Placed<'r> {
    /// The network before that, if it has to run.
    module: Option<Module<'r>>,
    share: Share,
}

fn unsupported(error: impl ToString) -> Fault {
    Fault::Unsupported(error.to_string())
}

impl Bench<'_> {
    /// Runs a case on all its data.
    pub fn run(&self, session: &Session, case: &Case) -> CaseReport {
        let mut report = CaseReport {
            case: case.name.clone(),
            result: Outcome::OnHost,
            share: Share::default(),
        };
        let fault = match self.try_run(session, case, &mut report) {
            Ok(()) => return report,
            Err(fault) => fault,
        };
        (report.result, report.share.reason) = match fault {
            Fault::Wrong(reason) => (Outcome::Wrong, reason),
            Fault::Unsupported(reason) => (Outcome::Unsupported, reason),
        };
        report
    }

    fn try_run(
        &self,
        session: &Session,
        case: &Case,
        report: &mut CaseReport,
    ) -> std::result::Result<(), Fault> {
        let source = import::open(&case.model).map_err(unsupported)?;
        let tolerance = Tolerance::of(case).map_err(unsupported)?;
        let sets: Vec<Option<&Path>> = match case.sets.as_slice() {
            [] => vec![None],
            sets => sets.iter().map(|set| Some(set.as_path())).collect(),
        };
        for set in sets {
            let ready = self.choose(session, &*source, set).map_err(unsupported)?;
            let Placed { module, share } = self.divide(session, &ready)?;
            report.take(share);
            if let Some(module) = module {
                self.compare(session, (module, &ready), set, (&tolerance, report))?;
            }
            session.clear_diagnostics();
        }
        Ok(())
    }

    /// A case as it is, or with all inputs but the first as constants where the device has more of it
    /// then: networks have weights, which many devices want.
    fn choose<'c>(
        &self,
        session: &'c Session,
        source: &dyn Source,
        set: Option<&Path>,
    ) -> Result<Ready<'c>> {
        let ready = self.ready(session, source, set, false)?;
        if set.is_none() || ready.inputs.len() < 2 {
            return Ok(ready);
        }
        let share = |ready: &Ready<'_>| self.divide(session, ready).ok().map(|placed| placed.share);
        let Some(plain) = share(&ready).filter(Share::is_partial) else { return Ok(ready) };
        let other = self.ready(session, source, set, true).ok();
        let is_better =
            |other: &Ready<'_>| share(other).is_some_and(|share| share.on_device > plain.on_device);
        let other = other.filter(is_better);
        session.clear_diagnostics();
        Ok(other.unwrap_or(ready))
    }

    /// Reads or makes inputs, and imports the model for them; with `weights` all inputs but the first
    /// become constants.
    fn ready<'c>(
        &self,
        session: &'c Session,
        source: &dyn Source,
        set: Option<&Path>,
        weights: bool,
    ) -> Result<Ready<'c>> {
        let operators = self.compile_options().operators(session)?;
        let mut options = ImportOptions { operators, ..Default::default() };
        let mut inputs = IndexMap::new();
        if let Some(set) = set {
            let names = source.input_names().unwrap_or_default();
            inputs = io::load_inputs(set, &names)?;
            options.fix(source, &inputs)?;
            let others = inputs.iter().skip(1).filter(|_| weights);
            options.constants.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        }
        let module = source.import(session, &options)?;
        if set.is_none() {
            inputs = random(&Interface::of(&module)?, self.options.seed)?;
        }
        Ok(Ready { module, inputs, weights })
    }

    /// Divides a copy of the network. It has to run if the device has a part of it, or may have
    /// changed it.
    fn divide<'r>(
        &self,
        session: &Session,
        ready: &'r Ready<'_>,
    ) -> std::result::Result<Placed<'r>, Fault> {
        let divided = || -> Result<_> {
            let mut module = copy(&ready.module)?;
            session.run_phases(&mut module, &self.compile_options(), Phase::PrePartition)?;
            let reports = self.partitioned_functions(session, &module)?;
            Ok((module, reports))
        };
        let (module, reports) = match divided() {
            Ok(found) => found,
            Err(error) => return Err(self.blame(session, ready, &error)),
        };
        let mut share = self.share(&reports);
        if ready.weights {
            share.reason = "with all inputs but the first as constants".to_owned();
        }
        let changes = self.device.kind.pipelines.iter().any(|(at, _)| *at == Phase::PrePartition);
        Ok(Placed { module: (share.on_device > 0 || changes).then_some(module), share })
    }

    /// Partition of the network, function by function.
    fn partitioned_functions(&self, session: &Session, module: &Module<'_>) -> Result<Vec<Report>> {
        let mut module = copy(module)?;
        session.run_pipeline(&mut module, "builtin.module(graph-outline-loops)")?;
        let targets = self.compile_options().resolve(session)?;
        let judge = DryRuns::default();
        let how = DivideOptions { judge: Some(&judge), ..DivideOptions::default() };
        let partitioned_functions = outline::divide_all(ir::root(&module), &targets, &how)?;
        Ok(partitioned_functions.into_iter().map(|(_, partitioned)| partitioned.report).collect())
    }

    fn share(&self, reports: &[Report]) -> Share {
        let mut share = Share::default();
        for op in reports.iter().flat_map(|report| &report.ops) {
            share.operations += 1;
            if op.target == self.device.id {
                share.on_device += 1;
                share.patterns.extend(op.pattern.clone());
            } else if share.reason.is_empty()
                && let Some(verdict) = op.verdicts.first()
            {
                share.reason = format!("{}: {}", op.op, verdict.text);
            }
        }
        share.patterns.sort();
        share.patterns.dedup();
        share
    }

    /// Attributes a failure to compile or run: to the target, if the host alone succeeds.
    fn blame(&self, session: &Session, ready: &Ready<'_>, error: &Error) -> Fault {
        session.clear_diagnostics();
        match self.on_host(session, ready) {
            Ok(_) => Fault::Wrong(format!("does not compile or run: {error}")),
            Err(error) => unsupported(error),
        }
    }

    /// Runs the network on the device, twice in a row, and compares.
    fn compare(
        &self,
        session: &Session,
        (module, ready): (Module<'_>, &Ready<'_>),
        set: Option<&Path>,
        (tolerance, report): (&Tolerance, &CaseReport),
    ) -> std::result::Result<(), Fault> {
        let runs = match self.on_device(session, module, ready) {
            Ok(runs) => runs,
            Err(error) => return Err(self.blame(session, ready, &error)),
        };
        let want = match set {
            Some(set) => expected(set).map_err(unsupported)?,
            None => vec![],
        };
        let tolerance = tolerance.with(self.options, self.patterns, &report.share.patterns);
        let steps = steps(&ready.module);
        // Without answers the host's are right.
        let mut from_host = None;
        let want = if want.is_empty() {
            let own = self.on_host(session, ready).map_err(unsupported)?;
            let own = from_host.insert(own);
            own.iter().cloned().enumerate().collect()
        } else {
            want
        };
        for (again, got) in runs.iter().enumerate() {
            let Err(fault) = tolerance.all(got, &want, &steps) else { continue };
            let own = match from_host.take() {
                Some(own) => own,
                None => self.on_host(session, ready).map_err(unsupported)?,
            };
            if set.is_some() && tolerance.all(&own, &want, &steps).is_err() {
                let own: Vec<_> = own.into_iter().enumerate().collect();
                let Err(apart) = tolerance.all(got, &own, &steps) else {
                    return Err(Fault::Unsupported(format!(
                        "the host's answer is not that of the case either: {fault}"
                    )));
                };
                return Err(Fault::Wrong(format!("not as on the host: {apart}")));
            }
            let when = if again > 0 { ", when it is run again" } else { "" };
            return Err(Fault::Wrong(format!("{fault}{when}")));
        }
        Ok(())
    }

    fn on_device(
        &self,
        session: &Session,
        mut module: Module<'_>,
        ready: &Ready<'_>,
    ) -> Result<Vec<Vec<Tensor>>> {
        let options = CompileOptions { after: Phase::PrePartition, ..self.compile_options() };
        let gaps = contest::generate(session, &mut module, &options)?;
        let options = CompileOptions { after: Phase::Codegen, ..options };
        let compiled = session.compile(module, &options)?;
        let inputs = compiled.signature.inputs.iter();
        let inputs =
            inputs.map(|port| named(&ready.inputs, &port.name)).collect::<Result<Vec<_>>>()?;
        let twice = [inputs.clone(), inputs];
        program::run(&compiled, &gaps, &twice, self.sanitizer, COMPUTING)
    }

    fn on_host(&self, session: &Session, ready: &Ready<'_>) -> Result<Vec<Tensor>> {
        let options = CompileOptions {
            targets: self.options.host.clone(),
            devices: None,
            ..self.compile_options()
        };
        let executable = session.compile(copy(&ready.module)?, &options)?.load()?;
        let inputs = executable.signature().inputs.iter();
        let inputs =
            inputs.map(|port| named(&ready.inputs, &port.name)).collect::<Result<Vec<_>>>()?;
        executable.run(&inputs)
    }

    fn compile_options(&self) -> CompileOptions<'_> {
        CompileOptions {
            targets: self.ground.spec.clone(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            cc: self.options.cc.clone(),
            devices: Some(self.sanitizer.build()),
            ..self.options.toolkit.options()
        }
    }
}

/// Error of each output if an integer that it comes from is off by one.
fn steps(module: &Module<'_>) -> Vec<f64> {
    let body = func::main(ir::root(module)).and_then(edit::entry_block);
    let last = body.and_then(|block| ir::ops(block).last().copied());
    let results = last.map(ir::operands).unwrap_or_default();
    results.into_iter().map(|result| outline::quantization_step(result, &|_| true)).collect()
}

fn copy<'m>(module: &'m Module<'_>) -> Result<Module<'m>> {
    edit::clone_module(ir::root(module))
        .ok_or_else(|| Error::internal("a network that is no module"))
}

fn named(inputs: &IndexMap<String, Tensor>, name: &str) -> Result<Tensor> {
    let found = inputs.get(name).cloned();
    found.ok_or_else(|| Error::internal(format!("there is no value for the input '{name}'")))
}

/// Random inputs; integers that may be places or sizes are one.
fn random(interface: &Interface, seed: u64) -> Result<IndexMap<String, Tensor>> {
    let mut inputs = IndexMap::new();
    for input in &interface.inputs {
        let shape = input.static_shape().ok_or_else(|| {
            Error::unsupported(format!(
                "the shape of the input {input} is open; put its inputs into a test_data_set_0 \
                 beside the model"
            ))
        })?;
        let count = shape.iter().product();
        let tensor = match input.dtype {
            DType::I32 => Tensor::from_slice(&shape, &vec![1_i32; count])?,
            DType::I64 => Tensor::from_slice(&shape, &vec![1_i64; count])?,
            dtype => Tensor::random_named(dtype, &shape, seed, &input.name)?,
        };
        inputs.insert(input.name.clone(), tensor);
    }
    Ok(inputs)
}

/// The answers of a case by the numbers of outputs; none if it has none.
fn expected(set: &Path) -> Result<Vec<(usize, Tensor)>> {
    let files = io::pb::numbered_files(set, "output")?;
    files.into_iter().map(|(number, path)| Ok((number, io::pb::read(&path)?.1))).collect()
}
