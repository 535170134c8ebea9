//! A whole compile: from a module in the graph dialect, through every phase, to code.

mod bind;
mod cache;
mod constants;
mod moved;
mod options;
mod part;
mod stages;
mod state;
mod trace;

use crate::{
    Error, Interface, Phase, Pipeline, Result, Session,
    artifact::{
        ArtifactKind, Compiled, ExtraFile, Machine, Object, Signature, TargetPart, WeightsPlace,
        c_identifier, recorded_signature,
    },
    codegen::{c, symbols},
    import::operators,
    ir::{self, Op, board, edit, elements, names},
    limits,
    package::data::{Data, DataObject},
    passes::pack_constants,
    phase::{Phases, TargetPipelines, check_schedules},
    planned::words,
    pools::file,
    targets::{self, CodegenKind, TargetInstance},
};
pub use cache::{Cache, CacheKey};
use melior::ir::{Attribute, Module, attribute::StringAttribute};
pub use options::CompileOptions;
use stages::Stages;
use std::path::Path;

impl Session {
    /// The pipeline text that a compile with these options runs.
    pub fn pipeline(&self, options: &CompileOptions<'_>) -> Result<Pipeline> {
        let mut pipeline = match &options.pipeline {
            Some(pipeline) => pipeline.clone(),
            None => {
                let pipelines = targets::pipelines(&options.resolve(self)?)?;
                check_schedules(&pipelines, options.after)?;
                let ordered = in_order(&pipelines, &options.lowering_order)?;
                Pipeline::assemble(&options.phases, &pipelines, &ordered)?
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
        if options.poison {
            pipeline.append(Phase::PostPlan, "poison-dead-buffers")?;
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
        self.check_ir(module)?;
        if options.after == Phase::Import {
            Interface::of(module)?;
            limits::check_values(ir::root(module))?;
            operators::complete(self, module, &options.operators(self)?)?;
            if options.evaluate_constants && until > Phase::Import {
                moved::transpose(module)?;
                constants::evaluate(self, module)?;
            }
        }
        let root = ir::root(module);
        elements::check_data(root)?;
        let text = |value: &str| StringAttribute::new(self.context(), value).into();
        edit::set_attr(root, names::MODEL, text(&options.name));
        edit::set_attr(root, names::TARGET_SPEC, text(&options.targets));
        if options.poison {
            edit::set_attr(root, names::POISONED, Attribute::unit(self.context()));
        }
        bind::note(module, options, || options.resolve(self))?;
        state::note(module, options)?;
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
            all: options.phases.all(),
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

    /// True if all passes are those of built-in targets, on IR that comes from them.
    fn has_own_passes(&self, options: &CompileOptions<'_>) -> Result<bool> {
        let given = options.pipeline.is_some()
            || !options.passes.is_empty()
            || options.phases != Phases::builtin()
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
        let signature = signature(ir::root(&module), &targets, &options.name)?;
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
            weights: weights(options, &targets)?,
            layouts: options.layouts.clone(),
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
            let model = part::Model { name, cc, host, targets: &targets, devices };
            let before = compiled.objects.len();
            let span =
                tracing::info_span!(target: "phaseline::codegen", "codegen", id = %target.id);
            let _span = span.entered();
            blobs.extend(part::generate(self, part, target, model, &mut compiled)?);
            parts.push((target.id.clone(), compiled.objects.len() - before));
            compiled.targets.push(TargetPart { id: target.id.clone() });
        }
        if compiled.objects.first().is_some_and(symbols::is_big_endian) {
            compiled.constants = words::swapped(ir::root(&module), &compiled.constants)?;
        }
        if let Some(host) = targets.last().filter(|_| !compiled.signature.operations.is_empty()) {
            trace::add_observer(&mut compiled, host)?;
            parts.push((compiled.signature.name.clone(), 1));
        }
        if !blobs.is_empty() {
            compiled.objects.push(self::blobs(&compiled, &blobs)?);
            parts.push((compiled.signature.name.clone(), 1));
        }
        settle_names(&mut compiled, &parts, &targets, &options.name)?;
        check_complete(&compiled, &targets)?;
        Ok(compiled)
    }
}

/// Fails if the entry point or something that one target calls of another is missing: IR may be a part of
/// what `--emit` printed.
fn check_complete(compiled: &Compiled, targets: &[TargetInstance]) -> Result<()> {
    let name = &compiled.signature.name;
    let prefix = |target: &TargetInstance| format!("{name}_{}_", c_identifier(&target.id));
    let prefixes: Vec<_> = targets.iter().map(prefix).collect();
    let entry = format!("{name}_invoke");
    let Some(symbol) = symbols::missing(&compiled.objects, &entry, &prefixes)? else {
        return Ok(());
    };
    let there: Vec<_> = compiled.targets.iter().map(|part| format!("'{}'", part.id)).collect();
    Err(Error::invalid(format!(
        "no code defines '{symbol}', which is the entry point or is called by other code of the model: the \
         IR has modules of {}, and the module of the target that has it is missing; go on from all of \
         the IR that --emit=codegen printed",
        if there.is_empty() { "no target".to_owned() } else { there.join(", ") }
    )))
}

/// Place of the weights. A host that is printed as C has them inside.
fn weights(options: &CompileOptions<'_>, targets: &[TargetInstance]) -> Result<WeightsPlace> {
    let host = targets.last().filter(|host| host.kind.codegen.kind != CodegenKind::Llvm);
    match (host, options.weights) {
        (None, place) => Ok(place),
        (Some(host), WeightsPlace::Beside) => Err(Error::unsupported(format!(
            "weights beside the library are for the host llvm: '{}' has them inside",
            host.id
        ))),
        (Some(_), _) => Ok(WeightsPlace::Inside),
    }
}

/// The signature that the module records, with the devices of the targets' manifests.
fn signature(module: Op<'_>, targets: &[TargetInstance], name: &str) -> Result<Signature> {
    let mut signature = recorded_signature(module)?;
    for device in &mut signature.devices {
        if let Some(target) = targets.iter().find(|target| target.id == device.target) {
            let known = std::mem::take(device);
            *device = c::target::device(target, name, known);
        }
    }
    Ok(signature)
}

/// Gives functions of libraries the names that they have in the objects, which are so many of each of `parts`,
/// and fails if two objects define one name.
fn settle_names(
    compiled: &mut Compiled,
    parts: &[(String, usize)],
    targets: &[TargetInstance],
    name: &str,
) -> Result<()> {
    let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
    let plain = symbols::link_libraries(&mut compiled.objects, name, &ids)?;
    symbols::leave_to_libraries(&mut compiled.objects, parts, &plain, |id| {
        let target = targets.iter().find(|target| target.id == id);
        target.is_some_and(|target| part::links(target).unwrap_or_default())
    })?;
    part::add_library_names(&plain, targets.last(), name, compiled);
    symbols::check_distinct(&compiled.objects, parts)
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
