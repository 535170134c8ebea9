//! Target kinds: all that is known about a kind of target, from one declaration.

use super::{
    alias::Alias,
    codegen::Codegen,
    file_name::{self, Use},
    library::LibraryDecl,
    manifest::{Origins, Places},
    memory::{MemoryDecl, QueueDecl},
    operator::OperatorDecl,
    options::{OptionDecl, OptionKind},
};
use crate::{
    Error, Phase, Result,
    artifact::ArtifactTypes,
    expr::{Expr, OptionType},
    graph::OpTable,
    pattern::{Capabilities, DmaSpec, Pattern, PatternSpec},
    phase::HookPoint,
    targets::hooks::{Command, DataHook, HookSet, Hooks, Protocol, Serve, Served},
};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The form in which code of this process is asked as a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedFlags {
    /// True if it is asked once about all constants of a call.
    pub together: bool,
    /// True if it is given the whole module.
    pub module: bool,
    /// Before a region has its place, too.
    pub dry_run: bool,
}

/// Role of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs everything; it comes last in a target spec.
    Host,
    /// Runs what its patterns match, and needs a host beside it.
    Device,
}

/// A memory that belongs to a target.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolDecl {
    /// Name.
    pub name: String,
    /// Size in bytes, an expression over options; `None` for no limit.
    pub bytes: Option<Expr>,
    /// Alignment of the whole pool in bytes.
    pub alignment: i64,
    /// Bytes that the innermost dimension of a tile is filled up to a multiple of; 1 for none.
    pub row: i64,
    /// Memory scope of buffers in it.
    pub scope: String,
    /// Transfers of tiles to the pool and back.
    pub dma: Option<DmaDecl>,
    /// One line of help.
    pub doc: String,
}

/// Texts of a declaration, with their lines in the manifest.
pub type TileLines = Vec<(String, usize)>;

/// Transfers of tiles to a pool and back, with the places of its texts in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DmaDecl {
    /// The declaration.
    pub spec: DmaSpec,
    /// The lines of its texts.
    pub lines: TileLines,
}

/// Costs of work and transfers in nanoseconds; expressions over options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostDecl {
    /// One call of a region.
    pub per_call: Option<Expr>,
    /// A byte that enters or leaves a region.
    pub per_byte: Option<Expr>,
    /// An arithmetic operation, where a pattern gives no cost.
    pub per_flop: Option<Expr>,
    /// A byte that an operation reads or writes, where a pattern gives no cost.
    pub per_access: Option<Expr>,
}

/// A pattern with the places of its texts in the manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternDecl {
    /// The declaration.
    pub spec: PatternSpec,
    /// Line of the match expression.
    pub match_line: usize,
    /// Lines of the conditions.
    pub clause_lines: Vec<usize>,
    /// Line of the prototype.
    pub call_line: usize,
    /// Line of the cost.
    pub cost_line: usize,
    /// Lines of the texts that say how work is cut.
    pub tile_lines: TileLines,
}

/// A library of the transform dialect, as a manifest has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleDecl {
    /// The pattern whose operations it is for; all of the target's if `None`.
    pub pattern: Option<String>,
    /// The text, with options not filled in yet.
    pub text: String,
    /// Location of the text, for messages.
    pub place: String,
}

/// Storage of a kind's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// In the program: names and texts.
    Embedded(&'static [(&'static str, &'static str)]),
    /// In a directory.
    Directory(PathBuf),
}

impl Files {
    /// The text of a file that a manifest names.
    pub(crate) fn read(&self, name: &str) -> Result<Cow<'static, str>> {
        match self {
            Files::Embedded(files) => {
                let found = files.iter().find(|(other, _)| *other == name);
                found.map(|(_, text)| Cow::Borrowed(*text)).ok_or_else(|| {
                    Error::internal(format!("file '{name}' of a built-in target is not embedded"))
                })
            }
            Files::Directory(directory) => {
                let path = Self::path(directory, name)?;
                let text = crate::io::read_text(&path);
                text.map(Cow::Owned).map_err(|error| Error::io("cannot read", &path, error))
            }
        }
    }

    /// The path of a file in a target's folder.
    fn path(folder: &Path, name: &str) -> Result<PathBuf> {
        // Kinds that were not read from a manifest name files, too.
        let path = folder.join(name);
        file_name::check(name, Use::Pipeline)
            .and_then(|()| file_name::check_place(folder, &path))
            .map_err(Error::invalid)?;
        Ok(path)
    }

    /// True if there is a file of that name.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Files::Embedded(files) => files.iter().any(|(known, _)| *known == name),
            Files::Directory(folder) => folder.join(name).exists(),
        }
    }

    /// Name of a file in messages.
    pub fn describe(&self, kind: &str, name: &str) -> String {
        match self {
            Files::Embedded(_) => format!("built-in {kind}/{name}"),
            Files::Directory(directory) => directory.join(name).display().to_string(),
        }
    }
}

/// A kind of target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetKind {
    /// Name in target specs.
    pub name: String,
    /// Host or device.
    pub(crate) role: Role,
    /// One line of help.
    pub doc: String,
    /// Options.
    pub(crate) options: Vec<OptionDecl>,
    /// Capabilities besides its patterns.
    pub(crate) capabilities: Capabilities,
    /// Costs of work and transfers.
    pub(crate) cost: CostDecl,
    /// Memories.
    pub(crate) pools: Vec<PoolDecl>,
    /// The memory that its calls take values in, where that is not the host's.
    pub(crate) memory: Option<MemoryDecl>,
    /// Queue that its work is waited for on, if calls only start it.
    pub(crate) queue: Option<QueueDecl>,
    /// Patterns in order of declaration; those of single operations come last.
    pub(crate) patterns: Vec<PatternDecl>,
    /// Operators of vendors that its patterns may name.
    pub(crate) operators: Vec<Arc<OperatorDecl>>,
    /// Schedules of what is lowered by default.
    pub(crate) schedules: Vec<ScheduleDecl>,
    /// Pipeline text of the phases that it takes part in.
    pub(crate) pipelines: Vec<(Phase, String)>,
    /// Names for specs, which come with the kind.
    pub(crate) aliases: Vec<(String, Alias)>,
    /// Hooks.
    pub(crate) hooks: HookSet,
    /// Types of the files that its hooks write, where their names do not say it.
    pub(crate) artifacts: ArtifactTypes,
    /// Libraries of others that packages carry.
    pub(crate) libraries: Vec<LibraryDecl>,
    /// Code generation.
    pub(crate) codegen: Codegen,
    /// Its files.
    pub(crate) files: Files,
    /// Name of its manifest in messages.
    pub(crate) manifest: String,
    /// Its manifest, then those of the kinds that it extends; none if it was made in Rust.
    pub(crate) layers: Vec<Layer>,
    /// Files of the lines of its declarations.
    pub(crate) places: Places,
    /// Origins of declarations that its own manifest has not, by their names.
    pub(crate) origins: Origins,
}

/// A manifest as it was read, for kinds that extend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Name of the kind.
    pub kind: String,
    /// Name of the manifest in messages.
    pub manifest: String,
    /// Its text.
    pub text: String,
    /// The files that it names.
    pub files: Files,
}

impl CostDecl {
    /// Declared costs, by name, as texts.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("per-call", &self.per_call),
            ("per-byte", &self.per_byte),
            ("per-flop", &self.per_flop),
            ("per-access", &self.per_access),
        ];
        all.into_iter()
            .filter_map(|(name, expr)| Some((name, expr.as_ref()?.to_string())))
            .collect()
    }
}

impl TargetKind {
    /// The text of a source or a header, which may be a file of a kind that it extends.
    pub(crate) fn read(&self, name: &str) -> Result<Cow<'static, str>> {
        self.files_with(name).read(name).map_err(|error| self.of_manifest(&error))
    }

    /// The bytes of an object or an archive, as [`TargetKind::read`] finds it.
    pub(crate) fn read_bytes(&self, name: &str) -> Result<Vec<u8>> {
        match self.files_with(name) {
            Files::Embedded(_) => Err(Error::invalid(format!(
                "{}: '{name}' is an object or an archive, which a built-in target cannot have",
                self.manifest
            ))),
            Files::Directory(folder) => {
                let path = Files::path(folder, name)?;
                let bytes = crate::io::read_regular(&path);
                bytes.map_err(|error| self.of_manifest(&Error::io("cannot read", &path, error)))
            }
        }
    }

    /// The error of a file, with the manifest that names the file.
    fn of_manifest(&self, error: &Error) -> Error {
        Error::invalid(format!("{}: {error}", self.manifest))
    }

    fn files_with(&self, name: &str) -> &Files {
        let mut layers = self.layers.iter().map(|layer| &layer.files);
        layers.find(|files| files.has(name)).unwrap_or(&self.files)
    }

    /// True if a file is its own, and not that of a kind that it extends.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.layers.first().is_none_or(|layer| layer.files.has(name))
    }

    /// The folders that its files are in, nearest first.
    pub(crate) fn folders(&self) -> Vec<&Path> {
        let own = self.layers.is_empty().then_some(&self.files);
        let all = own.into_iter().chain(self.layers.iter().map(|layer| &layer.files));
        let folders = all.filter_map(|files| match files {
            Files::Directory(folder) => Some(folder.as_path()),
            Files::Embedded(_) => None,
        });
        folders.collect()
    }

    /// Folder for `${dir}` or `${dir:KIND}`, in the manifest of this kind or of one that it
    /// extends.
    pub(crate) fn folder_of(&self, word: &str) -> Option<&Path> {
        let name = if word == "dir" { &self.name } else { word.strip_prefix("dir:")? };
        let mut layers = self.layers.iter().map(|layer| (&layer.kind, &layer.files));
        match layers.find(|(kind, _)| *kind == name) {
            Some((_, Files::Directory(folder))) => Some(folder),
            _ => None,
        }
    }

    /// The kind with hooks in Rust, which are asked before those of the manifest.
    pub fn with_hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks.rust = Some(hooks);
        self
    }

    /// The kind with a hook that code of this process answers, in protocol 2 of programs (docs/reference/hooks.md). It takes the
    /// place of the manifest's hook at that point.
    ///
    /// # Errors
    /// A flag is not for this point.
    pub fn with_served_hook(
        mut self,
        point: HookPoint,
        name: &str,
        flags: ServedFlags,
        serve: Arc<Serve>,
    ) -> Result<Self> {
        let ServedFlags { together, module, dry_run } = flags;
        let only = |flag: &str, of: HookPoint| match point == of {
            true => Ok(()),
            false => Err(Error::invalid(format!("{flag} is for hook {of}, and this is {point}"))),
        };
        if together {
            only("together", HookPoint::ConstantUpdater)?;
        }
        if dry_run {
            only("dry-run", HookPoint::GraphToRuntime)?;
        }
        let hook = DataHook::Command(Command {
            words: vec![name.replace('$', "_")],
            together,
            module,
            protocol: Protocol::Regions,
            dry_run,
            max_seconds: None,
            max_bytes: None,
            served: Some(Served(serve)),
        });
        self.hooks.data.retain(|(other, _)| *other != point);
        self.hooks.data.push((point, hook));
        self.hooks.data.sort_by_key(|(point, _)| *point);
        Ok(self)
    }

    /// The declaration of an option.
    pub(crate) fn option(&self, name: &str) -> Option<&OptionDecl> {
        self.options.iter().find(|option| option.name == name)
    }

    /// The types of the options, for checks of predicates.
    pub(crate) fn option_types(&self) -> BTreeMap<String, OptionType> {
        // Predicates are written with '_' where an option's name has '-'.
        let types = self.options.iter().map(|option| (option_word(&option.name), option.ty()));
        types.collect()
    }

    /// A table of operations with the operators that the kind declares, by the names that its
    /// patterns have for them.
    pub(crate) fn table(&self, table: &OpTable) -> OpTable {
        let mut table = table.clone();
        for operator in &self.operators {
            table.name_operator(&operator.word, operator.decl.clone());
        }
        table
    }

    /// Reads the patterns and checks them against the operations. The error names all faults, each
    /// with file and line.
    pub(crate) fn load_patterns(&self, table: &OpTable) -> Result<Vec<Pattern>> {
        let table = &self.table(table);
        let options = self.option_types();
        let mut patterns = vec![];
        let mut faults = vec![];
        for decl in &self.patterns {
            match Pattern::new(decl.spec.clone().with_operands(table), table, &options) {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => {
                    let line = decl.line_of(&error.text);
                    let place = self.places.name(line).unwrap_or_else(|| self.manifest.clone());
                    faults.push(format!("{place}: {error}"));
                }
            }
        }
        keep_starts(&mut patterns);
        if faults.is_empty() { Ok(patterns) } else { Err(Error::invalid(faults.join("\n"))) }
    }

    /// Values that an option takes.
    pub(crate) fn option_kind(&self, name: &str) -> Option<&OptionKind> {
        let same = |option: &&OptionDecl| option_word(&option.name) == option_word(name);
        self.options.iter().find(same).map(|option| &option.kind)
    }

    /// The pipeline of a phase, with options not filled in yet.
    #[cfg(test)]
    pub(crate) fn pipeline(&self, phase: Phase) -> Option<&str> {
        self.pipelines.iter().find(|(other, _)| *other == phase).map(|(_, text)| text.as_str())
    }
}

/// An operand that is absent is passed as offset 0. Where a call does not say otherwise that it is
/// absent, no tile of the pool may be there.
fn keep_starts(patterns: &mut [Pattern]) {
    let open = |pattern: &Pattern| -> Option<Vec<String>> {
        let (call, tile) = (pattern.call.as_ref()?, pattern.tile.as_ref()?);
        let unsaid = call.unsaid_optionals().filter(|name| !pattern.always_captures(name));
        Some(unsaid.filter_map(|name| tile.spec.pool_of(name)).map(str::to_owned).collect())
    };
    let pools: Vec<String> = patterns.iter().filter_map(open).flatten().collect();
    for tile in patterns.iter_mut().filter_map(|pattern| pattern.tile.as_mut()) {
        tile.keeps_start.clone_from(&pools);
    }
}

impl PatternDecl {
    /// The line of the manifest that a text of the pattern starts on.
    fn line_of(&self, text: &str) -> usize {
        let clauses = self.spec.clauses.iter().zip(&self.clause_lines);
        let clause = clauses.filter(|(clause, _)| clause.as_str() == text).map(|(_, line)| *line);
        let call = (self.spec.call.as_deref() == Some(text)).then_some(self.call_line);
        let cost = (self.spec.cost.as_deref() == Some(text)).then_some(self.cost_line);
        let tile = self.tile_lines.iter().filter(|(other, _)| other == text).map(|(_, line)| *line);
        clause.chain(call).chain(cost).chain(tile).next().unwrap_or(self.match_line)
    }
}

/// The name of an option in predicates and pipelines.
pub fn option_word(name: &str) -> String {
    name.replace('-', "_")
}
