//! A whole compile: from a module in the graph dialect, through every phase, to code.

use crate::{
    Error, Interface, Phase, Pipeline, Result, Session,
    codegen::{
        c,
        llvm::{self, Object, machine::Machine},
    },
    ir::{self, Op, edit, elements},
    package::{self, ExtraFile, TargetPart},
    passes::{graph_partition, make_entry_point, pack_constants},
    runtime::{self, Executable, Signature},
    stage::{Stages, Weights},
    target::{CodegenKind, TargetInstance},
};
use melior::ir::{Module, attribute::StringAttribute};
use std::path::{Path, PathBuf};

/// What to compile for and how.
pub struct CompileOptions<'a> {
    /// Target spec: `"vanilla, llvm -mcpu=native"`.
    pub targets: String,
    /// Directories that hold targets as data.
    pub target_path: Vec<PathBuf>,
    /// File with placements that come before patterns.
    pub placement: Option<PathBuf>,
    /// Look for the division between targets that costs least, instead of going by preference.
    pub placement_search: bool,
    /// File with measured costs for that, in place of estimates.
    pub profile: Option<PathBuf>,
    /// Name of the model: prefix of symbols and file names.
    pub name: String,
    /// Pipeline text to run instead of what the targets register.
    pub pipeline: Option<Pipeline>,
    /// Passes added at the end of a phase.
    pub passes: Vec<(Phase, String)>,
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
    /// The C compiler, for generated C and for linking the shared library; arguments may follow
    /// the program.
    pub cc: String,
}

impl Default for CompileOptions<'_> {
    fn default() -> Self {
        Self {
            targets: "llvm".into(),
            target_path: vec![],
            placement: None,
            placement_search: false,
            profile: None,
            name: "model".into(),
            pipeline: None,
            passes: vec![],
            after: Phase::Import,
            dump_phases: None,
            dump_weights: Weights::Elide,
            reproducer: None,
            observer: None,
            cc: "cc".into(),
        }
    }
}

/// A compiled model, in memory.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Inputs, outputs, sizes and devices.
    pub signature: Signature,
    /// The object files of all targets.
    pub objects: Vec<Object>,
    /// The constants, as the code expects them.
    pub constants: Vec<u8>,
    /// What the host's code is for.
    pub machine: Machine,
    /// Further files of the package: generated sources and the like.
    pub files: Vec<ExtraFile>,
    /// What each target contributed.
    pub targets: Vec<TargetPart>,
    /// Arguments for the linker of a program that uses the static library.
    pub link: Vec<String>,
    /// The C compiler, which links the shared library.
    pub cc: String,
}

impl Compiled {
    /// Links the objects into this process.
    pub fn load(&self) -> Result<Executable> {
        self.machine.check_runs_here()?;
        let libraries = runtime::load_libraries(&self.link)?;
        runtime::jit(&self.objects, &self.constants, self.signature.clone(), libraries)
    }

    /// Writes the package: libraries, header, metadata, generated sources. A package that is
    /// there already is replaced; anything else is left alone, with an error.
    pub fn write_package(&self, folder: &Path) -> Result<()> {
        let contents = package::Contents {
            signature: &self.signature,
            machine: &self.machine,
            objects: &self.objects,
            constants: &self.constants,
            files: &self.files,
            targets: &self.targets,
            link: &self.link,
            cc: &self.cc,
        };
        package::write(folder, &contents)
    }
}

impl Session {
    /// The pipeline text that a compile with these options runs.
    pub fn pipeline(&self, options: &CompileOptions<'_>) -> Result<Pipeline> {
        let mut pipeline = match &options.pipeline {
            Some(pipeline) => pipeline.clone(),
            None => {
                let pipelines: Vec<_> =
                    options.resolve()?.iter().map(|t| t.pipelines()).collect::<Result<_>>()?;
                Pipeline::assemble(&pipelines)?.with_partition(&options.partition_options())
            }
        };
        for (phase, passes) in &options.passes {
            pipeline.append(*phase, passes)?;
        }
        Ok(pipeline)
    }

    /// Runs the phases after `options.after` up to and with `until` on the module.
    pub fn run_phases(
        &self,
        module: &Module<'_>,
        options: &CompileOptions<'_>,
        until: Phase,
    ) -> Result<()> {
        let root = ir::root(module);
        if options.after == Phase::Import {
            Interface::of(module)?;
        }
        elements::check_data(root)?;
        let text = |value: &str| StringAttribute::new(self.context(), value).into();
        edit::set_attr(root, make_entry_point::MODEL, text(&options.name));
        edit::set_attr(root, graph_partition::SPEC, text(&options.targets));
        let pipeline = self.pipeline(options)?;
        let stages = Stages {
            pipeline: &pipeline,
            after: options.after,
            until,
            dump: options.dump_phases.as_deref(),
            dump_weights: options.dump_weights,
            reproducer: options.reproducer.as_deref(),
            observer: options.observer,
        };
        stages.run(self, module)
    }

    /// Compiles a module to objects.
    pub fn compile(&self, module: Module<'_>, options: &CompileOptions<'_>) -> Result<Compiled> {
        self.run_phases(&module, options, Phase::Codegen)?;
        let targets = options.resolve()?;
        let mut signature = Signature::recorded(ir::root(&module))?;
        for device in &mut signature.devices {
            if let Some(target) = targets.iter().find(|target| target.id == device.target) {
                *device = c::target::device(target);
            }
        }
        let constants = pack_constants::constants(ir::root(&module))?.into_owned();
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
        for part in ir::ops_of(ir::root(&module)) {
            let Some(id) = ir::attr_str(part, "phl.target") else { continue };
            let target = targets.iter().find(|target| target.id == id).ok_or_else(|| {
                Error::invalid(format!(
                    "the module has code of target '{id}', which is not in the target spec '{}'",
                    options.targets
                ))
            })?;
            self.generate(part, target, targets.last(), options, &mut compiled)?;
        }
        if compiled.objects.is_empty() {
            return Err(Error::internal("code generation left no module of a target"));
        }
        Ok(compiled)
    }

    /// Makes object files of one target's module; `host` is what the rest of the model runs on.
    fn generate(
        &self,
        part: Op<'_>,
        target: &TargetInstance,
        host: Option<&TargetInstance>,
        options: &CompileOptions<'_>,
        compiled: &mut Compiled,
    ) -> Result<()> {
        let model = &options.name;
        let name = format!("{model}_{}", target.id);
        let codegen = &target.kind.codegen;
        let mut files = vec![];
        match codegen.kind {
            CodegenKind::Llvm => {
                compiled.machine = Machine::of(part)?.joined(&compiled.machine)?;
                compiled.cc.clone_from(&options.cc);
                compiled.objects.push(llvm::compile(self, part, &name)?);
            }
            CodegenKind::C => {
                let mut c_options = c::target::options(target, host, model, &options.cc)?;
                // Two targets of one kind share the vendor's sources.
                c_options.sources.retain(|(name, _)| {
                    let path = format!("src/{name}");
                    !compiled.files.iter().any(|file| file.path == path)
                });
                let artifacts = c::compile(self, part, &c_options)?;
                for (file, text) in artifacts.sources {
                    let path = format!("src/{file}");
                    files.push(path.clone());
                    compiled.files.push(ExtraFile { path, bytes: text.into_bytes() });
                }
                compiled.objects.extend(artifacts.objects);
                let tool = c::target::tool(target, &options.cc)?;
                // What comes out of LLVM decides on the machine where there is any.
                if let Some(tool) = tool {
                    let known = std::mem::take(&mut compiled.machine);
                    let machine = Machine::of_triple(&tool.machine()?).joined(&known)?;
                    if known.triple.is_empty() {
                        compiled.cc = tool.to_string();
                    }
                    compiled.machine = machine;
                }
            }
            CodegenKind::Custom | CodegenKind::Unset => {
                return Err(Error::unsupported(format!(
                    "target '{}' has codegen.kind = \"custom\", which is reserved; use \"c\" or \"llvm\"",
                    target.id
                )));
            }
        }
        for flag in &target.codegen()?.link_flags {
            if !compiled.link.contains(flag) {
                compiled.link.push(flag.clone());
            }
        }
        compiled.targets.push(TargetPart { id: target.id.clone(), files });
        Ok(())
    }
}

impl CompileOptions<'_> {
    /// The targets that the spec names, the host last.
    pub fn resolve(&self) -> Result<Vec<TargetInstance>> {
        graph_partition::resolve(&self.targets, self.target_path.iter().cloned())
    }

    /// The options of `graph-partition` that the module itself does not carry.
    fn partition_options(&self) -> String {
        let paths: Vec<_> = self.target_path.iter().map(|p| p.to_string_lossy()).collect();
        let mut options = vec![];
        if !paths.is_empty() {
            options.push(format!("target-path={{{}}}", paths.join(":")));
        }
        if let Some(path) = &self.placement {
            options.push(format!("placement={{{}}}", path.display()));
        }
        if self.placement_search {
            options.push("placement-search=true".to_owned());
        }
        if let Some(path) = &self.profile {
            options.push(format!("profile={{{}}}", path.display()));
        }
        options.join(" ")
    }
}
