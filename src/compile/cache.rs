//! Packages by what they are compiled from, so that nothing is compiled twice.
//!
//! A key is the XXH3 hash of all that decides on a package: the module with its weights, the pipeline and
//! options, what their files hold, the machine, the C compiler, and this program. Code of others that takes
//! part (hooks, targets that are folders) is not known well enough for a key.

use super::CompileOptions;
use crate::{
    Error, Result, Session,
    artifact::{Compiled, Machine},
    ir::{self, print},
    package::{self, Replace},
    process,
    targets::{Files, TargetInstance},
};
use melior::ir::Module;
use std::{
    fs,
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

/// What a package is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey(String);

impl Cache {
    /// The cache in a folder, which is made when it is first needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The package of a key, if it is there.
    pub fn find(&self, key: &CacheKey) -> Option<PathBuf> {
        let folder = self.folder.join(&key.0);
        package::Metadata::read(&folder).is_ok().then_some(folder)
    }

    /// Keeps a copy of a package.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_copy(&self, key: &CacheKey, of: &Path) -> Result<()> {
        package::copy(of, &self.folder.join(&key.0), Replace::Anything)
    }

    /// Keeps a package.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, key: &CacheKey, compiled: &Compiled) -> Result<()> {
        let folder = self.folder.join(&key.0);
        compiled.write_package_over(&folder, Replace::Anything)?;
        tracing::info!(target: "phaseline::package", folder = %folder.display(), "kept");
        Ok(())
    }
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
            is_own(&target.kind.files) && hooks.data.is_empty() && hooks.rust.is_none()
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
        let CompileOptions { name, cc, after, lowering_order, bind, .. } = options;
        let (patches, limit, weights) = (options.patches, options.arena_limit, options.weights);
        let evaluate = options.evaluate_constants;
        let ids: Vec<_> =
            targets.iter().map(|target| (&target.id, &target.kind.name, &target.options)).collect();
        add(format!(
            "{name:?} {cc:?} {after:?} {lowering_order:?} {bind:?} {patches:?} {limit:?} {weights:?} {evaluate} {ids:?}"
        )
        .as_bytes());
        add(format!("{:?}", Machine::select("", "", "")?).as_bytes());
        print::bytecode(ir::root(module), &mut add);
        Ok(Some(CacheKey(format!("{:032x}", hash.finish_128()))))
    }
}

/// What a C compiler says that it is; nothing if there is none, which is no fault before something is
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

/// What tells a version of a program from another one, without reading it.
fn stamp(path: &Path) -> std::io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {} {changed:?}", path.display(), metadata.len()).into_bytes())
}
