//! Target kinds made in Rust, without a manifest's text.

use super::{
    codegen::{Codegen, CodegenKind},
    kind::{CostDecl, Files, PatternDecl, Role, TargetKind},
    manifest::{Origins, Places, is_name},
    options::OptionDecl,
    registry::Registry,
};
use crate::{
    Error, Phase, Result,
    artifact::ArtifactTypes,
    pattern::{Capabilities, PatternSpec},
    targets::hooks::HookSet,
};

impl TargetKind {
    /// A device without patterns. Its code is generated as C, unless
    /// [`TargetKind::with_codegen`] says otherwise.
    pub fn device(name: &str, doc: &str) -> Result<Self> {
        if !is_name(name) {
            return Err(Error::invalid(format!(
                "'{name}' is no name for a target kind: it is to start with a letter and have \
                 letters, digits, '-' and '_' only"
            )));
        }
        let kind = Self {
            name: name.to_owned(),
            role: Role::Device,
            doc: doc.to_owned(),
            options: vec![],
            capabilities: Capabilities::default(),
            cost: CostDecl::default(),
            pools: vec![],
            memory: None,
            queue: None,
            patterns: vec![],
            operators: vec![],
            schedules: vec![],
            pipelines: vec![],
            aliases: vec![],
            hooks: HookSet::default(),
            artifacts: ArtifactTypes::default(),
            libraries: vec![],
            codegen: Codegen::default(),
            files: Files::Embedded(&[]),
            manifest: format!("target '{name}' (Rust)"),
            layers: vec![],
            places: Places::default(),
            origins: Origins::new(),
        };
        Ok(kind.with_codegen(CodegenKind::C))
    }

    /// Reads a manifest (`target.toml`), which may extend a built-in kind. `name` is what messages call it.
    ///
    /// # Errors
    /// The manifest is not valid.
    pub fn parse(text: &str, name: &str, files: Files) -> Result<Self> {
        Registry::builtin()?.parse(text, name, files)
    }

    /// Adds an option.
    pub fn with_option(mut self, option: OptionDecl) -> Self {
        self.options.push(option);
        self
    }

    /// Adds a pattern, after those before it. It is checked when it is used first.
    pub fn with_pattern(mut self, spec: PatternSpec) -> Self {
        let clause_lines = vec![0; spec.clauses.len()];
        self.patterns.push(PatternDecl {
            spec,
            match_line: 0,
            clause_lines,
            call_line: 0,
            cost_line: 0,
            tile_lines: vec![],
        });
        self
    }

    /// Sets what the partition may make of it.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the passes of a phase at which targets take part ([`Phase::extensible`]).
    pub fn with_pipeline(mut self, phase: Phase, passes: &str) -> Self {
        self.pipelines.retain(|(other, _)| *other != phase);
        self.pipelines.push((phase, passes.to_owned()));
        self.pipelines.sort_by_key(|(phase, _)| *phase);
        self
    }

    /// Sets what generates code.
    pub fn with_codegen(self, kind: CodegenKind) -> Self {
        self.generating(|codegen| codegen.kind = kind)
    }

    /// Adds headers that generated C includes, by their names in [`TargetKind::with_files`].
    pub fn with_headers<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.generating(|codegen| codegen.headers.extend(names.into_iter().map(str::to_owned)))
    }

    /// Adds C sources that are compiled and linked with generated code, by their names in
    /// [`TargetKind::with_files`].
    pub fn with_sources<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.generating(|codegen| codegen.sources.extend(names.into_iter().map(str::to_owned)))
    }

    /// Adds flags of the C compiler.
    pub fn with_cflags<'n>(self, flags: impl IntoIterator<Item = &'n str>) -> Self {
        self.generating(|codegen| codegen.cflags.extend(flags.into_iter().map(str::to_owned)))
    }

    /// Adds flags of the linker.
    pub fn with_link_flags<'n>(self, flags: impl IntoIterator<Item = &'n str>) -> Self {
        self.generating(|codegen| codegen.link_flags.extend(flags.into_iter().map(str::to_owned)))
    }

    /// Changes how code is generated. The pipeline of phase codegen follows from it.
    fn generating(mut self, change: impl FnOnce(&mut Codegen)) -> Self {
        change(&mut self.codegen);
        self.pipelines.retain(|(phase, _)| *phase != Phase::Codegen);
        let text = self.codegen.default_pipeline(self.role);
        self.pipelines.extend(text.map(|text| (Phase::Codegen, text)));
        self
    }

    /// Sets where its files are.
    pub fn with_files(mut self, files: Files) -> Self {
        self.files = files;
        self
    }
}
