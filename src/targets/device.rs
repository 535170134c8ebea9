//! A kind's device between opening and closing: activation, memory, queues and blobs.

use super::{codegen::Codegen, instance::TargetInstance, kind::Role};
use crate::{Error, Result, artifact::c_identifier, expr::Val};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Queues that a device has at most.
const MAX_QUEUES: i64 = 256;

/// Extent of work that `activate` and `deactivate` enclose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// An inference, with all transfers and waits that belong to it.
    #[default]
    Inference,
    /// Each function of the device that the host calls: regions and transfers.
    Region,
}

impl Activation {
    /// Name in manifests and pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Region => "region",
        }
    }
}

/// Functions that hand a region to a device as a block of bytes, made by a hook. They return a
/// status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Blob {
    /// `int f(DEVICE *, const void *data, size_t bytes, void **handle)`, when the device is opened.
    pub load: String,
    /// `int f(DEVICE *, void *handle, const void *const *inputs, size_t, void *const *outputs,
    /// size_t)`, in each inference.
    pub execute: String,
    /// `int f(DEVICE *, void *handle)`, before the device is closed.
    pub unload: Option<String>,
}

impl Blob {
    /// The functions with their keys.
    pub fn functions(&self) -> Vec<(&'static str, &String)> {
        let own = [("load", &self.load), ("execute", &self.execute)];
        own.into_iter().chain(self.unload.iter().map(|name| ("unload", name))).collect()
    }
}

impl TargetInstance {
    /// Bytes of the memory that its calls take values in. None without such a memory, or if only
    /// the device knows.
    ///
    /// # Errors
    /// By its expression the size is no positive number.
    pub fn memory_bytes(&self) -> Result<Option<i64>> {
        let Some(memory) = &self.kind.memory else { return Ok(None) };
        let bytes = memory.bytes.as_ref();
        bytes.map(|expr| self.size(expr, "memory", &memory.name)).transpose()
    }

    /// The pass that puts values into the device's memory.
    pub(super) fn memory_pass(&self) -> Result<Option<String>> {
        let Some(memory) = &self.kind.memory else { return Ok(None) };
        let space = c_identifier(&format!("{}_{}", self.id, memory.name));
        let bytes = self.memory_bytes()?;
        let queue = self.kind.queue.as_ref();
        let several = Some(self.queues()?).filter(|count| *count > 1);
        let optional = [
            ("bytes", bytes.map(|bytes| bytes.to_string())),
            ("copy-within", memory.copy_within.clone()),
            ("wait", queue.map(|queue| queue.wait.clone())),
            ("timeout", self.timeout()?.map(|limit| limit.to_string())),
            ("submit", queue.and_then(|queue| queue.submit.clone())),
            ("wait-for", queue.and_then(|queue| queue.wait_for.clone())),
            ("queues", several.map(|count| count.to_string())),
            ("select", queue.and_then(|queue| queue.select.clone()).filter(|_| several.is_some())),
            ("after", queue.and_then(|queue| queue.after.clone()).filter(|_| several.is_some())),
        ];
        let optional =
            optional.into_iter().filter_map(|(key, text)| Some(format!(" {key}={}", text?)));
        Ok(Some(format!(
            "assign-memory-spaces{{target={} space={space} alignment={} copy-in={} copy-out={}{}}}",
            self.id,
            memory.alignment,
            memory.copy_in,
            memory.copy_out,
            optional.collect::<String>()
        )))
    }

    /// Milliseconds after which a wait gives up; none if it never does.
    ///
    /// # Errors
    /// By its expression the limit is no positive number.
    pub fn timeout(&self) -> Result<Option<i64>> {
        let limit = self.kind.queue.as_ref().and_then(|queue| queue.timeout.as_ref());
        let limit = limit.map(|expr| (expr, self.value(expr)));
        let Some((expr, value)) = limit else { return Ok(None) };
        match value {
            Val::Int(limit) if limit > 0 => Ok(Some(limit)),
            other => Err(Error::invalid(format!(
                "{}: the time limit of the queue of target '{}' is {other} by `{expr}`; it is a \
                 positive number of milliseconds",
                self.kind.manifest, self.id
            ))),
        }
    }

    /// Number of queues of the device; one, if it has none of its own.
    ///
    /// # Errors
    /// By its expression the number is not from 1 to [`MAX_QUEUES`].
    pub fn queues(&self) -> Result<usize> {
        let count = self.kind.queue.as_ref().and_then(|queue| queue.count.as_ref());
        let count = count.map(|expr| (expr, self.value(expr)));
        let Some((expr, value)) = count else { return Ok(1) };
        match value {
            Val::Int(count) if (1..=MAX_QUEUES).contains(&count) => Ok(count as usize),
            other => Err(Error::invalid(format!(
                "{}: the number of queues of target '{}' is {other} by `{expr}`; it is a number from \
                 1 to {MAX_QUEUES}",
                self.kind.manifest, self.id
            ))),
        }
    }

    /// The queue in which matches of a pattern run, if it has one of its own.
    ///
    /// # Errors
    /// The device has no queue of this number.
    pub fn pinned(&self, pattern: &str) -> Result<Option<i64>> {
        let pinned = &self.kind.capabilities.region.queues;
        let Some((_, expr)) = pinned.iter().find(|(name, _)| name == pattern) else {
            return Ok(None);
        };
        let (value, count) = (self.value(expr), self.queues()?);
        match value {
            Val::Int(queue) if (0..count as i64).contains(&queue) => Ok(Some(queue)),
            other => Err(Error::invalid(format!(
                "{}: pattern '{pattern}' of target '{}' runs in queue {other} by `{expr}`; the queues are numbered from 0 and \
                 are {count}",
                self.kind.manifest, self.id
            ))),
        }
    }

    /// The pass that says what is called around the device's work, and what its functions are given.
    pub(super) fn session_pass(&self) -> Option<String> {
        let codegen = &self.kind.codegen;
        if codegen.activate.is_none() && codegen.blob.is_none() {
            return None;
        }
        let text = |key: &str, name: &Option<toml::Spanned<String>>| {
            name.as_ref().map(|name| format!(" {key}={}", name.get_ref())).unwrap_or_default()
        };
        let when = codegen.when.as_ref().map(|when| *when.get_ref()).unwrap_or_default();
        Some(format!(
            "assign-sessions{{target={}{}{}{} when={}}}",
            self.id,
            if codegen.blob.is_some() { " session=true" } else { "" },
            text("activate", &codegen.activate),
            text("deactivate", &codegen.deactivate),
            when.name()
        ))
    }
}

/// Fails unless what is said of activation and blobs can be. `fault` makes the error for a place.
pub(super) fn check(
    codegen: &Codegen,
    (role, has_queue): (Role, bool),
    fault: &dyn Fn(&Range<usize>, &str) -> crate::Error,
) -> Result<()> {
    let pair = [&codegen.activate, &codegen.deactivate];
    let first = pair.into_iter().flatten().map(toml::Spanned::span).next();
    let blob = codegen.blob.as_ref().map(toml::Spanned::span);
    let when = codegen.when.as_ref().map(|when| (when.span(), *when.get_ref()));
    if let (Some((place, _)), None) = (&when, &codegen.activate) {
        return Err(fault(place, "`when` says what `activate` is called around, which is missing"));
    }
    if let (Some(place), None) = (&first, &codegen.activate) {
        return Err(fault(place, "`deactivate` needs `activate`, which it ends"));
    }
    for (place, what) in [(&first, "`activate`"), (&blob, "[codegen.blob]")] {
        let Some(place) = place else { continue };
        let message = match () {
            () if role == Role::Host => format!("{what} is for devices, and this is a host"),
            () if codegen.open.is_none() => {
                format!("{what} needs `open`: its functions take the device first")
            }
            () => continue,
        };
        return Err(fault(place, &message));
    }
    match when {
        Some((place, Activation::Region)) if codegen.kind.needs_hook() => Err(fault(
            &place,
            "when = \"region\" is not for kind = \"custom\": a hook's own functions activate the \
             device themselves",
        )),
        Some((place, Activation::Region)) if has_queue => Err(fault(
            &place,
            "when = \"region\" is not for a device with [queue], which is at work when its \
             functions have returned: take \"inference\"",
        )),
        _ => Ok(()),
    }
}
