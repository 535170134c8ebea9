//! Cache of packages, by the inputs of their compiles, so that nothing is compiled twice.
//!
//! A key is the XXH3 hash of all that decides on a package. That is the module with its weights,
//! the pipeline, options and their files, the machine, the C compiler, and this program. Code of
//! others that takes part (hooks, targets that are folders) is not known well enough for a key.
//!
//! A cached package runs with the user's rights, so none is taken that others could have put there.

use super::CompileOptions;
use crate::{
    Error, Result, Session,
    artifact::{Compiled, machines},
    io::owner,
    ir::{self, print},
    package::{self, Replace},
    process::{self, Folder},
    targets::{Files, TargetInstance, is_builtin},
};
use melior::ir::Module;
use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};
use twox_hash::XxHash3_128;

/// A folder of packages.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// Key of a package in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey(String);

impl Cache {
    /// The cache in a folder, which is made when it is first needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Fails if others could put packages there, which run with the user's rights.
    ///
    /// # Errors
    /// The folder is another user's, others may write to it, or it is no folder.
    pub fn check(&self) -> Result<()> {
        let path = self.folder.display();
        let found = match fs::metadata(&self.folder) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("cannot look at", &self.folder, error)),
        };
        if !found.is_dir() {
            return Err(Error::invalid(format!("{path} is no folder; name another one")));
        }
        // Where only owners may remove and rename, what is there is looked at by itself.
        let is_sticky = found.mode() & 0o1000 != 0;
        match owner::fault(&found, is_sticky) {
            None => Ok(()),
            Some(fault) => Err(Error::invalid(format!(
                "{path} {fault}, who could put code there that runs as yours: name a folder that only you \
                 may write to (chmod go-w)"
            ))),
        }
    }

    /// The package of a key, if it is there.
    ///
    /// # Errors
    /// The cache cannot be trusted ([`Cache::check`]), or what is there is damaged or somebody else's.
    pub fn find(&self, key: &CacheKey) -> Result<Option<PathBuf>> {
        self.check()?;
        let folder = self.folder.join(&key.0);
        if folder.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        check_owner(&folder)?;
        package::Metadata::read(&folder)?;
        Ok(Some(folder))
    }

    /// Keeps a copy of a package.
    ///
    /// # Errors
    /// It cannot be written, or the cache cannot be trusted ([`Cache::check`]).
    pub fn keep_copy(&self, key: &CacheKey, of: &Path) -> Result<()> {
        self.put(key, |folder| package::copy(of, folder, Replace::Anything))
    }

    /// Keeps a package.
    ///
    /// # Errors
    /// It cannot be written, or the cache cannot be trusted ([`Cache::check`]).
    pub fn keep(&self, key: &CacheKey, compiled: &Compiled) -> Result<()> {
        self.put(key, |folder| compiled.write_package_over(folder, Replace::Anything))
    }

    /// Puts a package in the place of whatever is there. It is written where nobody else sees it.
    fn put(&self, key: &CacheKey, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.check()?;
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|e| Error::io("cannot create", &self.folder, e))?;
        let fail = |e| Error::io("cannot write to", &self.folder, e);
        let staging = Folder::beside(&self.folder).map_err(fail)?;
        let package = staging.path().join("package");
        write(&package)?;
        close(&package).map_err(fail)?;
        let folder = self.folder.join(&key.0);
        process::put(&package, &folder).map_err(fail)?;
        tracing::info!(target: "phaseline::package", folder = %folder.display(), "kept");
        Ok(())
    }
}

/// Lets nobody else write to what is at a path, and below it.
fn close(path: &Path) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    if found.is_symlink() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & 0o755))?;
    if found.is_dir() {
        fs::read_dir(path)?.try_for_each(|entry| close(&entry?.path()))?;
    }
    Ok(())
}

/// Fails if anything at a path or below it is not the user's alone.
fn check_owner(path: &Path) -> Result<()> {
    let fail = |e| Error::io("cannot look at", path, e);
    let found = path.symlink_metadata().map_err(fail)?;
    if let Some(fault) = owner::fault(&found, false) {
        return Err(Error::invalid(format!("{} {fault}", path.display())));
    }
    if found.is_dir() {
        for entry in fs::read_dir(path).map_err(fail)? {
            check_owner(&entry.map_err(fail)?.path())?;
        }
    }
    Ok(())
}

impl Session {
    /// The key of a compile; none if more than can be known decides on its package.
    ///
    /// # Errors
    /// The options are not valid, or their files cannot be read.
    pub fn cache_key(
        &self,
        module: &Module<'_>,
        options: &CompileOptions<'_>,
    ) -> Result<Option<CacheKey>> {
        let targets = options.resolve(self)?;
        let is_own = |files: &Files| matches!(files, Files::Embedded(_));
        let known = |target: &TargetInstance| {
            let hooks = &target.kind.hooks;
            is_builtin(&target.kind.name)
                && is_own(&target.kind.files)
                && hooks.data.is_empty()
                && hooks.rust.is_none()
        };
        let watched = options.dump_phases.is_some()
            || options.reproducer.is_some()
            || options.pass_observer.is_some()
            || options.devices.is_some();
        if watched || !targets.iter().all(known) {
            return Ok(None);
        }
        // Fast, and long enough: what is hashed is the user's own.
        let mut hash = XxHash3_128::new();
        let mut add = |part: &[u8]| {
            // With its length: what follows is no part of it.
            hash.write(&(part.len() as u64).to_le_bytes());
            hash.write(part);
        };
        let Some(own) = std::env::current_exe().ok().and_then(|path| stamp(&path).ok()) else {
            return Ok(None);
        };
        add(&own);
        add(&version(&options.cc));
        for file in [&options.placement, &options.profile, &options.pools] {
            match file {
                Some(path) => add(&fs::read(path).map_err(|e| Error::io("cannot read", path, e))?),
                None => add(b""),
            }
        }
        add(self.pipeline(options)?.to_string().as_bytes());
        let CompileOptions { name, cc, after, lowering_order, bind, states, .. } = options;
        let (patches, limit, weights) = (options.patches, options.arena_limit, options.weights);
        let layouts = &options.layouts;
        let evaluate = options.evaluate_constants;
        let ids: Vec<_> =
            targets.iter().map(|target| (&target.id, &target.kind.name, &target.options)).collect();
        add(format!(
            "{name:?} {cc:?} {after:?} {lowering_order:?} {bind:?} {states:?} {patches:?} {limit:?} {weights:?} {layouts:?} {evaluate} {ids:?}"
        )
        .as_bytes());
        add(format!("{:?}", machines::select("", "", "")?).as_bytes());
        print::bytecode(ir::root(module), &mut add);
        Ok(Some(CacheKey(format!("{:032x}", hash.finish_128()))))
    }
}

/// Version text of a C compiler; empty if there is none, which is no fault before something is
/// compiled.
fn version(cc: &str) -> Vec<u8> {
    let mut words = cc.split_whitespace();
    let command = words.next().map(|program| {
        let mut command = Command::new(program);
        command.args(words).arg("--version");
        process::output(&mut command)
    });
    command.and_then(std::io::Result::ok).map(|output| output.stdout).unwrap_or_default()
}

/// Path, size and modification time of a program, which tell its versions apart without reading it.
fn stamp(path: &Path) -> std::io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {} {changed:?}", path.display(), metadata.len()).into_bytes())
}
