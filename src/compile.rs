//! A whole compile: from a module in the graph dialect, through every phase, to code.

use crate::{
    Error, Phase, Pipeline, Result, Session,
    codegen::{
        c,
        llvm::{self, Object},
    },
    ir::{self, Builder, Op, edit, func},
    package::{self, ExtraFile, TargetPart},
    passes::{graph_partition, make_entry_point, pack_constants},
    runtime::{self, Executable, Signature},
    stage::Stages,
    target::{CodegenKind, TargetInstance},
};
use melior::ir::Module;
use std::path::{Path, PathBuf};

/// What to compile for and how.
pub struct CompileOptions<'a> {
    /// Target spec: `"vanilla, llvm -mcpu=native"`.
    pub targets: String,
    /// Directories that hold targets as data.
    pub target_path: Vec<PathBuf>,
    /// File with placements that come before patterns.
    pub placement: Option<PathBuf>,
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
    /// Where to write a reproducer when a pass fails.
    pub reproducer: Option<PathBuf>,
    /// Called before each phase.
    pub observer: Option<&'a dyn Fn(Phase)>,
}

impl Default for CompileOptions<'_> {
    fn default() -> Self {
        Self {
            targets: "llvm".into(),
            target_path: vec![],
            placement: None,
            name: "model".into(),
            pipeline: None,
            passes: vec![],
            after: Phase::Import,
            dump_phases: None,
            reproducer: None,
            observer: None,
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
    /// LLVM triple of the host.
    pub triple: String,
    /// Further files of the package: generated sources and the like.
    pub files: Vec<ExtraFile>,
    /// What each target contributed.
    pub targets: Vec<TargetPart>,
    /// Arguments for the linker of a program that uses the static library.
    pub link: Vec<String>,
}

impl Compiled {
    /// Links the objects into this process.
    pub fn load(&self) -> Result<Executable> {
        let libraries = runtime::load_libraries(&self.link)?;
        runtime::jit(&self.objects, &self.constants, self.signature.clone(), libraries)
    }

    /// Writes the package: libraries, header, metadata, generated sources. A package that is
    /// there already is replaced; anything else is left alone, with an error.
    pub fn write_package(&self, folder: &Path) -> Result<()> {
        let contents = package::Contents {
            signature: &self.signature,
            triple: &self.triple,
            objects: &self.objects,
            constants: &self.constants,
            files: &self.files,
            targets: &self.targets,
            link: &self.link,
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
        let builder = Builder::before(main_of(root)?)?;
        edit::set_attr(root, make_entry_point::MODEL, builder.str_attr(&options.name));
        edit::set_attr(root, graph_partition::SPEC, builder.str_attr(&options.targets));
        let pipeline = self.pipeline(options)?;
        let stages = Stages {
            pipeline: &pipeline,
            after: options.after,
            until,
            dump: options.dump_phases.as_deref(),
            reproducer: options.reproducer.as_deref(),
            observer: options.observer,
        };
        stages.run(self, module)
    }

    /// Compiles a module to objects.
    pub fn compile(&self, module: Module<'_>, options: &CompileOptions<'_>) -> Result<Compiled> {
        self.run_phases(&module, options, Phase::PlanMemory)?;
        let targets = options.resolve()?;
        let mut signature = Signature::of(ir::root(&module))?;
        for device in &mut signature.devices {
            if let Some(target) = targets.iter().find(|target| target.id == device.target) {
                *device = c::target::device(target);
            }
        }
        let constants = pack_constants::constants(ir::root(&module))?.into_owned();
        let rest = CompileOptions { after: Phase::PlanMemory, ..options.borrowed() };
        self.run_phases(&module, &rest, Phase::Codegen)?;
        let mut compiled = Compiled {
            signature,
            objects: vec![],
            constants,
            triple: String::new(),
            files: vec![],
            targets: vec![],
            link: vec![],
        };
        for part in ir::ops_of(ir::root(&module)) {
            let Some(id) = ir::attr_str(part, "phl.target") else { continue };
            let target = targets.iter().find(|target| target.id == id).ok_or_else(|| {
                Error::invalid(format!(
                    "the module has code of target '{id}', which is not in the target spec '{}'",
                    options.targets
                ))
            })?;
            self.generate(part, target, &options.name, &mut compiled)?;
        }
        if compiled.objects.is_empty() {
            return Err(Error::internal("code generation left no module of a target"));
        }
        Ok(compiled)
    }

    /// Makes object files of one target's module.
    fn generate(
        &self,
        part: Op<'_>,
        target: &TargetInstance,
        model: &str,
        compiled: &mut Compiled,
    ) -> Result<()> {
        let name = format!("{model}_{}", target.id);
        let codegen = &target.kind.codegen;
        let mut files = vec![];
        match codegen.kind {
            CodegenKind::Llvm => {
                if let Some(triple) = ir::attr_str(part, "llvm.target_triple") {
                    compiled.triple = triple;
                }
                compiled.objects.push(llvm::compile(self, part, &name)?);
            }
            CodegenKind::C => {
                let mut options = c::target::options(target, model, "cc")?;
                // Two targets of one kind share the vendor's sources.
                options.sources.retain(|(name, _)| {
                    let path = format!("src/{name}");
                    !compiled.files.iter().any(|file| file.path == path)
                });
                let artifacts = c::compile(self, part, &options)?;
                for (file, text) in artifacts.sources {
                    let path = format!("src/{file}");
                    files.push(path.clone());
                    compiled.files.push(ExtraFile { path, bytes: text.into_bytes() });
                }
                compiled.objects.extend(artifacts.objects);
            }
            CodegenKind::Custom | CodegenKind::Unset => {
                return Err(Error::unsupported(format!(
                    "target '{}' generates code by a hook, and no hook is registered for it",
                    target.id
                )));
            }
        }
        for flag in &codegen.link_flags {
            if !compiled.link.contains(flag) {
                compiled.link.push(flag.clone());
            }
        }
        compiled.targets.push(TargetPart { id: target.id.clone(), files });
        Ok(())
    }
}

impl<'a> CompileOptions<'a> {
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
        options.join(" ")
    }

    /// A copy that borrows what cannot be copied.
    fn borrowed(&self) -> CompileOptions<'a> {
        CompileOptions {
            targets: self.targets.clone(),
            target_path: self.target_path.clone(),
            placement: self.placement.clone(),
            name: self.name.clone(),
            pipeline: self.pipeline.clone(),
            passes: self.passes.clone(),
            after: self.after,
            dump_phases: self.dump_phases.clone(),
            reproducer: self.reproducer.clone(),
            observer: self.observer,
        }
    }
}

fn main_of(root: Op<'_>) -> Result<Op<'_>> {
    func::main(root).ok_or_else(|| {
        Error::invalid("the module has no function @main, nor exactly one public function")
    })
}
