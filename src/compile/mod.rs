//! A whole compile: from a module in the graph dialect, through every phase, to code.

mod bind;
mod cache;
mod constants;
mod part;
mod stages;
mod trace;

use crate::{
    Error, Interface, Phase, Pipeline, Result, Session,
    artifact::{
        ArtifactKind, Compiled, ExtraFile, Machine, Object, Signature, TargetPart, c_identifier,
    },
    codegen::{c, symbols},
    import::operators,
    ir::{self, Op, board, edit, elements, names, print::Weights},
    limits,
    package::data::{Data, DataObject},
    pass::PassObserver,
    passes::{graph_partition, pack_constants},
    phase::{TargetPipelines, check_schedules},
    pools::file,
    targets::{self, Operators, TargetInstance},
};
pub use cache::{Cache, CacheKey};
use melior::ir::{Module, attribute::StringAttribute};
use stages::Stages;
use std::path::{Path, PathBuf};

/// What to compile for and how.
pub struct CompileOptions<'a> {
    /// Target spec: `"vanilla, llvm -mcpu=native"`.
    pub targets: String,
    /// Directories that hold targets as data.
    pub target_path: Vec<PathBuf>,
    /// File with placements that come before patterns.
    pub placement: Option<PathBuf>,
    /// File with the pools of the board that the model's memory is in (`board.toml`); without it there is
    /// one arena and one block of constants.
    pub pools: Option<PathBuf>,
    /// Look for the partition between targets that costs least, instead of going by preference.
    pub placement_search: bool,
    /// File with measured tiles, and measured costs for the search, in place of estimates.
    pub profile: Option<PathBuf>,
    /// Make each match of a device a region of its own, and wait for it, so that it has a time.
    pub apart: bool,
    /// Ids of targets in the order in which they lower and generate code; those that are left out
    /// follow in the order of the spec. Empty: the order of the spec.
    pub lowering_order: Vec<String>,
    /// Name of the model: prefix of symbols and file names.
    pub name: String,
    /// Pipeline text to run instead of what the targets register.
    pub pipeline: Option<Pipeline>,
    /// Passes added at the end of a phase.
    pub passes: Vec<(Phase, String)>,
    /// Compute what depends on constants alone now, on this machine's processor, where the results do not
    /// take much more memory than what they are computed from.
    pub evaluate_constants: bool,
    /// Compute stages of the network in patches, at most so many, where that takes less memory.
    pub patches: Option<i64>,
    /// Bytes that the arena may have. Stages are computed in patches until it has no more, by
    /// estimate; if it has more in the end, that is an error.
    pub arena_limit: Option<u64>,
    /// The phase that the module has been through already.
    pub after: Phase,
    /// Where to write the IR after each phase.
    pub dump_phases: Option<PathBuf>,
    /// What those files do with large weights.
    pub dump_weights: Weights,
    /// Where to write a reproducer when a pass fails.
    pub reproducer: Option<PathBuf>,
    /// Called before each phase.
    pub observer: Option<&'a dyn Fn(Phase)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
    /// The C compiler, for generated C and for linking the shared library; arguments may follow
    /// the program.
    pub cc: String,
    /// Let runs tell an observer of each step ([`crate::runtime::Executable::run_traced`]).
    pub trace: bool,
    /// Put a picture of the plan of memory into the package, `NAME_plan.svg`.
    pub plan_picture: bool,
    /// Inputs and outputs of the model that programs have in the memory of a device: names, and ids of
    /// targets.
    pub bind: Vec<(String, String)>,
    /// How devices' C is compiled beyond what their manifests say.
    pub devices: Option<&'a c::compile::DeviceBuild>,
}

impl Default for CompileOptions<'_> {
    fn default() -> Self {
        Self {
            targets: "llvm".into(),
            target_path: vec![],
            placement: None,
            pools: None,
            placement_search: false,
            apart: false,
            profile: None,
            lowering_order: vec![],
            name: "model".into(),
            pipeline: None,
            passes: vec![],
            evaluate_constants: true,
            patches: None,
            arena_limit: None,
            after: Phase::Import,
            dump_phases: None,
            dump_weights: Weights::Elide,
            reproducer: None,
            observer: None,
            pass_observer: None,
            cc: "cc".into(),
            trace: false,
            plan_picture: false,
            bind: vec![],
            devices: None,
        }
    }
}

impl Session {
    /// The pipeline text that a compile with these options runs.
    pub fn pipeline(&self, options: &CompileOptions<'_>) -> Result<Pipeline> {
        let mut pipeline = match &options.pipeline {
            Some(pipeline) => pipeline.clone(),
            None => {
                let pipelines = targets::pipelines(&options.resolve(self)?)?;
                check_schedules(&pipelines, options.after)?;
                let ordered = in_order(&pipelines, &options.lowering_order)?;
                Pipeline::assemble_in_order(&pipelines, &ordered)?
                    .with_partition(&options.partition_options())
                    .with_target_path(&options.target_path_text())
            }
        };
        if let Some(pass) = options.patches_pass() {
            pipeline.append(Phase::PrePartition, &pass)?;
        }
        for (phase, passes) in &options.passes {
            pipeline.append(*phase, passes)?;
        }
        if options.plan_picture {
            pipeline.append(Phase::PlanMemory, "draw-plan")?;
        }
        if options.trace {
            pipeline.append(Phase::PlanMemory, "trace-operations")?;
        }
        Ok(pipeline)
    }

    /// Runs the phases after `options.after` up to and with `until` on the module.
    pub fn run_phases(
        &self,
        module: &mut Module<'_>,
        options: &CompileOptions<'_>,
        until: Phase,
    ) -> Result<()> {
        // It becomes part of symbols and of the names of files.
        if c_identifier(&options.name) != options.name {
            return Err(Error::invalid(format!(
                "the model name '{}' is not a C identifier (letters, digits and _, not starting \
                 with a digit)",
                options.name
            )));
        }
        if options.after == Phase::Import {
            Interface::of(module)?;
            limits::check_values(ir::root(module))?;
            operators::complete(self, module, &options.operators(self)?)?;
            if options.evaluate_constants && until > Phase::Import {
                constants::evaluate(self, module)?;
            }
        }
        let root = ir::root(module);
        elements::check_data(root)?;
        let text = |value: &str| StringAttribute::new(self.context(), value).into();
        edit::set_attr(root, names::MODEL, text(&options.name));
        edit::set_attr(root, names::TARGET_SPEC, text(&options.targets));
        bind::note(module, options, || options.resolve(self))?;
        if let Some(path) = &options.pools {
            self.declare_pools(root, path, options)?;
        }
        if options.after == Phase::Codegen {
            // No phase is left that would look at it.
            self.run_pipeline(module, "builtin.module(verify-plan)")?;
        }
        let pipeline = self.pipeline(options)?;
        let stages = Stages {
            pipeline: &pipeline,
            after: options.after,
            until,
            dump: options.dump_phases.as_deref(),
            dump_weights: options.dump_weights,
            own_passes: self.has_own_passes(options)?,
            reproducer: options.reproducer.as_deref(),
            observer: options.observer,
            pass_observer: options.pass_observer,
        };
        stages.run(self, module)
    }

    /// Whether all passes are those of built-in targets, on IR that comes from them.
    fn has_own_passes(&self, options: &CompileOptions<'_>) -> Result<bool> {
        let given = options.pipeline.is_some()
            || !options.passes.is_empty()
            || options.reproducer.is_some()
            || options.after != Phase::Import;
        let targets = options.resolve(self)?;
        Ok(!given && targets.iter().all(|target| targets::is_builtin(&target.kind.name)))
    }

    /// Tells the module of the board, before it asks for any memory.
    fn declare_pools(
        &self,
        module: Op<'_>,
        path: &Path,
        options: &CompileOptions<'_>,
    ) -> Result<()> {
        let targets: Vec<_> = options.resolve(self)?.into_iter().map(|target| target.id).collect();
        let pools = file::read(path, &targets)?;
        if options.after >= Phase::PlanMemory && board::declared(module)? != pools {
            return Err(Error::invalid(format!(
                "the memory of this IR is planned already, for other pools than those of {}: go on from \
                 a phase before plan-memory",
                path.display()
            )));
        }
        board::declare(module, &pools);
        Ok(())
    }

    /// The C that is generated from a module after all phases, of all targets that have any.
    pub fn c_text(&self, module: &Module<'_>, options: &CompileOptions<'_>) -> Result<String> {
        part::c_text(ir::root(module), &options.resolve(self)?)
    }

    /// Compiles a module to objects.
    pub fn compile(
        &self,
        mut module: Module<'_>,
        options: &CompileOptions<'_>,
    ) -> Result<Compiled> {
        self.run_phases(&mut module, options, Phase::Codegen)?;
        let targets = options.resolve(self)?;
        let mut signature = Signature::recorded(ir::root(&module))?;
        for device in &mut signature.devices {
            if let Some(target) = targets.iter().find(|target| target.id == device.target) {
                let known = std::mem::take(device);
                *device = c::target::device(target, &options.name, known);
            }
        }
        options.check_arena(&signature)?;
        let constants = pack_constants::constants(ir::root(&module))?;
        let mut compiled = Compiled {
            signature,
            objects: vec![],
            constants,
            machine: Machine::default(),
            files: vec![],
            targets: vec![],
            link: vec![],
            cc: options.cc.clone(),
        };
        compiled.files.extend(picture(ir::root(&module), &options.name));
        let (mut parts, mut blobs) = (vec![], vec![]);
        for part in ir::ops_of(ir::root(&module)) {
            let Some(id) = ir::attr_str(part, names::TARGET) else { continue };
            let target = targets.iter().find(|target| target.id == id).ok_or_else(|| {
                Error::invalid(format!(
                    "the module has code of target '{id}', which is not in the target spec '{}'",
                    options.targets
                ))
            })?;
            let (name, cc, host) = (options.name.as_str(), options.cc.as_str(), targets.last());
            let devices = options.devices;
            let model = part::Model { name, cc, host, devices };
            let before = compiled.objects.len();
            let span =
                tracing::info_span!(target: "phaseline::codegen", "codegen", id = %target.id);
            let _span = span.entered();
            blobs.extend(part::generate(self, part, target, model, &mut compiled)?);
            parts.push((target.id.clone(), compiled.objects.len() - before));
            compiled.targets.push(TargetPart { id: target.id.clone() });
        }
        if let Some(host) = targets.last().filter(|_| !compiled.signature.operations.is_empty()) {
            trace::add_observer(&mut compiled, host)?;
            parts.push((compiled.signature.name.clone(), 1));
        }
        if !blobs.is_empty() {
            compiled.objects.push(self::blobs(&compiled, &blobs)?);
            parts.push((compiled.signature.name.clone(), 1));
        }
        let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
        let plain = symbols::link_libraries(&mut compiled.objects, &options.name, &ids)?;
        symbols::leave_to_libraries(&mut compiled.objects, &parts, &plain, |id| {
            let target = targets.iter().find(|target| target.id == id);
            target.is_some_and(|target| part::links(target).unwrap_or_default())
        })?;
        part::add_library_names(&plain, targets.last(), &options.name, &mut compiled);
        symbols::check_distinct(&compiled.objects, &parts)?;
        if compiled.objects.is_empty() {
            return Err(Error::internal("code generation left no module of a target"));
        }
        Ok(compiled)
    }
}

impl CompileOptions<'_> {
    /// The targets that the spec names, the host last.
    pub fn resolve(&self, session: &Session) -> Result<Vec<TargetInstance>> {
        let path = self.target_path.iter().cloned();
        graph_partition::resolve_in(session.context(), &self.targets, path)
    }

    /// The operators of vendors that the targets of the spec, and all that are known, declare.
    ///
    /// # Errors
    /// The spec is not valid, or its targets declare an operator in different ways.
    pub fn operators(&self, session: &Session) -> Result<Operators> {
        let path = self.target_path.iter().cloned();
        graph_partition::known_in(session.context(), &self.targets, path).map(|known| known.1)
    }

    /// What computes stages in patches, if that is asked for.
    fn patches_pass(&self) -> Option<String> {
        let most = self.patches.map(|patches| format!("max-patches={patches}"));
        let limit = self.arena_limit.map(|bytes| format!("arena-limit={bytes}"));
        let options: Vec<_> = most.into_iter().chain(limit).collect();
        let text = format!("func.func(graph-split-patches{{{}}})", options.join(" "));
        (!options.is_empty()).then_some(text)
    }

    /// Fails if the arena is larger than it may be.
    fn check_arena(&self, signature: &Signature) -> Result<()> {
        let bytes = signature.arena_bytes as u64;
        match self.arena_limit.filter(|limit| bytes > *limit) {
            None => Ok(()),
            Some(limit) => Err(Error::invalid(format!(
                "the arena has {bytes} bytes, more than the limit of {limit}; most are in use at \
                 {}: allow more bytes, more patches, or a target that computes this in less memory",
                signature.arena_peak
            ))),
        }
    }

    /// The directories with targets, as options of passes have them.
    fn target_path_text(&self) -> String {
        let paths: Vec<_> = self.target_path.iter().map(|p| p.to_string_lossy()).collect();
        paths.join(":")
    }

    /// The options of `graph-partition` that the module itself does not carry.
    fn partition_options(&self) -> String {
        let paths = self.target_path_text();
        let mut options = vec![];
        if !paths.is_empty() {
            options.push(format!("target-path={{{paths}}}"));
        }
        if let Some(path) = &self.placement {
            options.push(format!("placement={{{}}}", path.display()));
        }
        if self.placement_search {
            options.push("placement-search=true".to_owned());
        }
        if self.apart {
            options.push("apart=true".to_owned());
        }
        if let Some(path) = &self.profile {
            options.push(format!("profile={{{}}}", path.display()));
        }
        options.join(" ")
    }
}

/// The picture of the plan, if it was drawn.
fn picture(module: Op<'_>, name: &str) -> Option<ExtraFile> {
    let text = ir::attr_str(module, names::PLAN_PICTURE)?;
    let (path, kind) = (format!("{name}_plan.svg"), ArtifactKind::Text);
    Some(ExtraFile { path, kind, target: None, bytes: text.into_bytes() })
}

/// An object with the blobs of all devices.
fn blobs(compiled: &Compiled, blobs: &[(String, Vec<u8>)]) -> Result<Object> {
    let name = format!("{}_blobs.o", compiled.signature.name);
    let symbols: Vec<_> =
        blobs.iter().map(|(symbol, bytes)| Data { symbol, bytes, ..Default::default() }).collect();
    DataObject::new(&name, &compiled.machine.triple, &symbols, &compiled.cc)?.into_object()
}

/// The targets' pipelines in the order in which they lower.
fn in_order(pipelines: &[TargetPipelines], order: &[String]) -> Result<Vec<TargetPipelines>> {
    let mut ordered: Vec<TargetPipelines> = vec![];
    for id in order {
        let found = pipelines.iter().find(|target| target.id == *id).ok_or_else(|| {
            let ids: Vec<_> = pipelines.iter().map(|target| target.id.as_str()).collect();
            Error::invalid(format!(
                "the lowering order names '{id}', which is no target of this compile; they are {}",
                ids.join(", ")
            ))
        })?;
        if ordered.iter().any(|target| target.id == *id) {
            return Err(Error::invalid(format!("the lowering order names '{id}' twice")));
        }
        ordered.push(found.clone());
    }
    let rest = pipelines.iter().filter(|target| !order.contains(&target.id)).cloned();
    ordered.extend(rest.collect::<Vec<_>>());
    Ok(ordered)
}
