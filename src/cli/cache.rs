//! The cache of compiled models, as commands use it: whatever is wrong with it costs a warning and a compile.

use super::{args::CacheArgs, data, print_error};
use crate::{Cache, CacheKey, CompileOptions, Error, Result, Session, package};
use melior::ir::Module;
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// The place of one model in a cache.
pub struct Entry {
    cache: Cache,
    key: CacheKey,
}

impl Entry {
    /// The place of a module in the cache that arguments or the environment name. None if there is no cache that
    /// can be used, or more decides on the model than can be known.
    pub fn of(
        session: &Session,
        module: &Module<'_>,
        options: &CompileOptions<'_>,
        args: &CacheArgs,
    ) -> Result<Option<Self>> {
        let Some(cache) = data::cache(args.cache.as_ref()) else { return Ok(None) };
        if let Err(error) = cache.check() {
            warn("is not used", &error);
            return Ok(None);
        }
        Ok(session.cache_key(module, options)?.map(|key| Self { cache, key }))
    }

    /// Passes the cached package to `take`; none without a package, or if it cannot be used.
    pub fn take<T>(&self, take: impl FnOnce(&Path) -> Result<T>) -> Option<T> {
        let found =
            self.cache.find(&self.key).and_then(|found| found.as_deref().map(take).transpose());
        found.unwrap_or_else(|error| {
            warn("has no package that can be used, so the model is compiled", &error);
            None
        })
    }

    /// Copies the package that is kept to a folder. Gives whether it did.
    ///
    /// # Errors
    /// There is a package, but it cannot be written to the folder.
    pub fn copy(&self, output: &Path, replace: package::Replace) -> Result<bool> {
        let copy = |from: &Path| match package::copy(from, output, replace) {
            // What is still whole was not the reason.
            Err(error) if is_whole(from) => Ok(Err(error)),
            other => other.map(Ok),
        };
        self.take(copy).transpose().map(|copied| copied.is_some())
    }

    /// Keeps a package.
    pub fn keep(&self, keep: impl FnOnce(&Cache, &CacheKey) -> Result<()>) {
        if let Err(error) = keep(&self.cache, &self.key) {
            warn("does not keep the model", &error);
        }
    }
}

fn is_whole(package: &Path) -> bool {
    let metadata = package::Metadata::read(package);
    metadata.is_ok_and(|metadata| metadata.check_files(package).is_ok())
}

/// Warns once of a fault of the cache: further ones have the same reason more often than not.
fn warn(what: &str, error: &Error) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        print_error(&format!("warning: the cache {what}: {error}\n"));
    }
}
