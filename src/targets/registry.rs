//! The known target kinds, and how a spec becomes targets.

use super::{
    alias::{ALIASES, Alias},
    instance::TargetInstance,
    kind::{Files, TargetKind, option_word},
    manifest,
    spec::{COMPOSITE, TargetEntry, TargetSpec},
};
use crate::{
    Error, Result, error::suggestion, expr::OptionValues, ir::context::user, phase::HookPoint,
};
use melior::Context;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Target kinds that an embedder added to its session, as the session's context carries them.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmbedderKinds(pub(crate) Vec<Arc<TargetKind>>);

impl EmbedderKinds {
    /// Adds a kind. Its name must be new.
    pub fn add(&mut self, kind: TargetKind) -> Result<()> {
        let mut registry = Registry::with_kinds(self)?;
        let kind = Arc::new(kind);
        registry.add_shared(kind.clone())?;
        self.0.push(kind);
        Ok(())
    }
}

/// The target kinds that the session of a context has been given; none for other contexts.
pub fn of_context(context: &Context) -> &[Arc<TargetKind>] {
    let kinds = user::<EmbedderKinds>(context);
    kinds.map_or(&[], |kinds| kinds.0.as_slice())
}

/// A built-in kind: the name of its folder, and its files by the names that its manifest uses.
type Builtin = (&'static str, &'static [(&'static str, &'static str)]);

// The built-in kinds, the folders of `targets/`: `BUILTINS`, which build.rs writes.
include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// True for a built-in kind; no other has its name.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|(builtin, _)| *builtin == name)
}

/// The names of the built-in kinds.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|(name, _)| *name)
}

/// The file that makes a directory a target kind.
pub const MANIFEST: &str = "target.toml";

/// The known target kinds and aliases.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    pub(super) kinds: BTreeMap<String, Arc<TargetKind>>,
    pub(super) aliases: BTreeMap<String, Alias>,
}

impl Registry {
    /// A registry without kinds.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The built-in kinds, which are read once: a compile asks for them in several places.
    pub fn builtin() -> Result<Self> {
        static READ: OnceLock<Registry> = OnceLock::new();
        if let Some(registry) = READ.get() {
            return Ok(registry.clone());
        }
        let mut registry = Self::empty();
        for (name, files) in BUILTINS {
            let text = Files::Embedded(files).read(MANIFEST)?;
            let place = format!("targets/{name}/{MANIFEST}");
            let kind = registry.parse(&text, &place, Files::Embedded(files))?;
            registry.add(kind)?;
        }
        Ok(READ.get_or_init(|| registry).clone())
    }

    /// The built-in kinds, and those of an embedder.
    pub fn with_kinds(kinds: &EmbedderKinds) -> Result<Self> {
        let mut registry = Self::builtin()?;
        kinds.0.iter().try_for_each(|kind| registry.add_shared(kind.clone()))?;
        Ok(registry)
    }

    /// Takes a kind out, so that a test can have one of its own by that name.
    #[cfg(test)]
    pub(super) fn remove(&mut self, name: &str) {
        self.kinds.remove(name);
    }

    /// Adds a kind. Its name must be new.
    pub fn add(&mut self, kind: TargetKind) -> Result<()> {
        self.add_shared(Arc::new(kind))
    }

    /// As [`Registry::add`], for a kind that others hold as well.
    pub fn add_shared(&mut self, kind: Arc<TargetKind>) -> Result<()> {
        if let Some(known) = self.kinds.get(&kind.name) {
            return Err(Error::invalid(format!(
                "two target kinds are called '{}': {} and {}; rename one of them",
                kind.name, known.manifest, kind.manifest
            )));
        }
        if let Some(alias) = self.aliases.get(&kind.name) {
            return Err(Error::invalid(format!(
                "{}: target kind '{}' has the name of an alias, in {}; rename one of them",
                kind.manifest, kind.name, alias.place
            )));
        }
        if kind.name == COMPOSITE {
            return Err(Error::invalid(format!(
                "{}: '{COMPOSITE}' means devices and a host, and is no name for a target kind",
                kind.manifest
            )));
        }
        for (name, alias) in &kind.aliases {
            self.add_alias(name, alias.clone())?;
        }
        self.kinds.insert(kind.name.clone(), kind);
        Ok(())
    }

    /// Adds the kind of a directory with `target.toml`, or the kinds of all directories in it and
    /// the aliases of its `aliases.toml`. Returns how many kinds there were; nothing is an error.
    pub fn add_path(&mut self, path: &Path) -> Result<usize> {
        if path.join(MANIFEST).is_file() {
            self.add_directory(path)?;
            return Ok(1);
        }
        let entries =
            std::fs::read_dir(path).map_err(|error| Error::io("cannot read", path, error))?;
        let mut directories = vec![];
        for entry in entries {
            let entry = entry.map_err(|error| Error::io("cannot read", path, error))?;
            if entry.path().join(MANIFEST).is_file() {
                directories.push(entry.path());
            }
        }
        directories.sort();
        let count = directories.len();
        self.add_directories(directories)?;
        let aliases = self.add_alias_file(&path.join(ALIASES))?;
        if count == 0 && aliases == 0 {
            return Err(Error::invalid(format!(
                "{}: neither it nor a directory in it has a {MANIFEST}, and it has no {ALIASES}",
                path.display()
            )));
        }
        Ok(count)
    }

    /// Adds the kinds of directories, those that others extend before these.
    fn add_directories(&mut self, directories: Vec<PathBuf>) -> Result<()> {
        let mut waiting = vec![];
        for directory in directories {
            let (name, base) = manifest::names(&directory.join(MANIFEST));
            waiting.push((directory, name, base));
        }
        while !waiting.is_empty() {
            let awaited = |base: &Option<String>| {
                waiting.iter().any(|(_, name, _)| name.is_some() && name == base)
            };
            let ready = waiting.iter().position(|(_, _, base)| !awaited(base));
            let Some(ready) = ready else { return Err(circle(&waiting)) };
            let (directory, ..) = waiting.remove(ready);
            self.add_directory(&directory)?;
        }
        Ok(())
    }

    /// Adds the kind of a directory; one that is there already is no other kind.
    fn add_directory(&mut self, path: &Path) -> Result<()> {
        if !self.kinds_below(path).is_empty() {
            return Ok(());
        }
        let file = path.join(MANIFEST);
        let text =
            crate::io::read_text(&file).map_err(|error| Error::io("cannot read", &file, error))?;
        let files = Files::Directory(path.to_path_buf());
        let kind = self.parse(&text, &file.display().to_string(), files)?;
        self.add(kind)
    }

    /// Reads a manifest, which may extend a kind of this registry.
    pub fn parse(&self, text: &str, name: &str, files: Files) -> Result<TargetKind> {
        let known = |base: &str| {
            self.kinds.get(base).map(|kind| &**kind).ok_or_else(|| {
                let hint = suggestion(base, self.kinds.keys().map(String::as_str));
                format!(
                    "extends '{base}', which is no known target kind{hint}; directories are read in \
                     the order of --target-path"
                )
            })
        };
        let mut kind = manifest::parse_extending(text, name, files, &known)?;
        let base = kind.layers.get(1).and_then(|layer| self.kinds.get(&layer.kind));
        kind.hooks.rust = base.and_then(|base| base.hooks.rust.clone());
        Ok(kind)
    }

    /// The names of the kinds whose directory is this one, or in it.
    pub fn kinds_below(&self, path: &Path) -> Vec<String> {
        let real = |path: &Path| path.canonicalize().ok();
        let Some(path) = real(path) else { return vec![] };
        let is_below = |kind: &TargetKind| match &kind.files {
            Files::Directory(folder) => real(folder)
                .is_some_and(|folder| folder == path || folder.parent() == Some(path.as_path())),
            Files::Embedded(_) => false,
        };
        self.kinds().filter(|kind| is_below(kind)).map(|kind| kind.name.clone()).collect()
    }

    /// All kinds, by name.
    pub fn kinds(&self) -> impl Iterator<Item = &Arc<TargetKind>> {
        self.kinds.values()
    }

    /// A kind by name. The error has the near misses.
    pub fn get(&self, name: &str) -> Result<&Arc<TargetKind>> {
        self.kinds.get(name).ok_or_else(|| {
            let known = self.kinds.keys().chain(self.aliases.keys()).map(String::as_str);
            Error::invalid(format!(
                "there is no target '{name}'{}\n`phaseline targets` lists the targets; \
                 directories with a {MANIFEST} are added with --target-path",
                suggestion(name, known)
            ))
        })
    }

    /// Turns a spec into targets: devices in order of preference, then the host.
    pub fn resolve(&self, spec: &TargetSpec) -> Result<Vec<TargetInstance>> {
        let mut targets = vec![];
        for entry in &self.expand(spec)?.targets {
            targets.push(self.instance(entry)?);
        }
        check_ids(&targets)?;
        check_roles(&targets)?;
        Ok(targets)
    }

    fn instance(&self, entry: &TargetEntry) -> Result<TargetInstance> {
        let kind = self.get(&entry.kind)?;
        let mut options = OptionValues::new();
        for option in &kind.options {
            if let Some(default) = &option.default {
                options.insert(option_word(&option.name), default.clone());
            }
        }
        for given in &entry.options {
            let place = |reason: String| {
                let name = &given.name;
                Error::invalid(format!("target '{}': option '{name}' {reason}", entry.kind))
            };
            let Some(decl) = kind.option(&given.name) else {
                let known = kind.options.iter().map(|option| option.name.as_str());
                return Err(place(format!("is unknown{}", suggestion(&given.name, known))));
            };
            let value = decl.parse(given.value.as_deref()).map_err(place)?;
            options.insert(option_word(&decl.name), value);
        }
        if kind.codegen.kind.needs_hook() && !kind.hooks.has(HookPoint::TirToRuntime) {
            return Err(Error::invalid(format!(
                "{}: codegen.kind = \"custom\" needs the hook tir-to-runtime: a command in [hooks], or \
                 Rust of the program that adds the target",
                kind.manifest
            )));
        }
        let id = entry.id.clone().unwrap_or_else(|| entry.kind.clone());
        Ok(TargetInstance { id, kind: kind.clone(), options })
    }
}

/// A directory with a manifest, the name of its kind, and that of the one that it extends.
type Waiting = (PathBuf, Option<String>, Option<String>);

/// Says which kinds extend one another. Each of those that wait extends one that waits.
fn circle(waiting: &[Waiting]) -> Error {
    let mut names: Vec<&str> = vec![];
    let mut next = waiting.first();
    while let Some((directory, Some(name), base)) = next {
        if let Some(first) = names.iter().position(|known| known == name) {
            names.drain(..first);
            names.push(name);
            return Error::invalid(format!(
                "{}: target kinds extend one another in a circle: {}",
                directory.join(MANIFEST).display(),
                names.join(" -> ")
            ));
        }
        names.push(name);
        next = waiting.iter().find(|(_, name, _)| name == base);
    }
    Error::internal("kinds wait for one another, and there is no circle")
}

fn check_ids(targets: &[TargetInstance]) -> Result<()> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for target in targets {
        // Ids become parts of C names.
        if seen.insert(option_word(&target.id)) {
            continue;
        }
        let kind = &target.kind.name;
        return Err(Error::invalid(format!(
            "two targets are called '{}'; give them different ids, as in 'a: {kind}, b: {kind}'",
            target.id
        )));
    }
    if let Some(target) =
        targets.iter().find(|target| target.id == crate::partition::placement::HOST)
    {
        return Err(Error::invalid(format!(
            "'{}' is no id for a target: in placements it stands for the host; choose another",
            target.id
        )));
    }
    Ok(())
}

/// The last target takes all that is left, so it has to be a host. Others before it may be hosts,
/// too: they are devices that can take everything.
fn check_roles(targets: &[TargetInstance]) -> Result<()> {
    if targets.last().is_none_or(TargetInstance::is_host) {
        return Ok(());
    }
    let list = |targets: &mut dyn Iterator<Item = &TargetInstance>| {
        targets.map(|target| target.id.clone()).collect::<Vec<_>>().join(", ")
    };
    let Some(host) = targets.iter().rfind(|target| target.is_host()) else {
        let devices = list(&mut targets.iter());
        let one = targets.len() == 1;
        return Err(Error::invalid(format!(
            "'{devices}' {} only what {} patterns match and {} a host for the rest: add one at \
             the end, as in '{devices}, llvm'",
            if one { "runs" } else { "run" },
            if one { "its" } else { "their" },
            if one { "needs" } else { "need" },
        )));
    };
    let others = list(&mut targets.iter().filter(|target| target.id != host.id));
    Err(Error::invalid(format!(
        "'{}' is a host and takes all that is left, so it comes last: '{others}, {}'",
        host.id, host.id
    )))
}
