//! Memory and queue of a kind's device, and the functions that handle them.

use super::kind::TargetKind;
use crate::expr::Expr;

/// The memory of a device that its calls take all values in. Functions are C functions that take the
/// device first and return a status.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryDecl {
    /// Name.
    pub name: String,
    /// Size in bytes, an expression over options; `None` for what the device gives.
    pub bytes: Option<Expr>,
    /// Power of two that addresses are multiples of.
    pub alignment: i64,
    /// `int f(DEVICE *, size_t bytes, void **address)`.
    pub allocate: String,
    /// `int f(DEVICE *, void *address)`.
    pub free: Option<String>,
    /// `int f(DEVICE *, void *to, const void *from, size_t bytes)`, from the host's memory.
    pub copy_in: String,
    /// The same to the host's memory.
    pub copy_out: String,
    /// The same with both ends on the device, if it can.
    pub copy_within: Option<String>,
    /// One line of help.
    pub doc: String,
}

/// A queue of work that calls of a device only start.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueDecl {
    /// `int f(DEVICE *)`, which returns when all that was started is done.
    pub wait: String,
    /// Milliseconds after which it gives up, an expression over options: then it is
    /// `int f(DEVICE *, int64_t milliseconds)`.
    pub timeout: Option<Expr>,
    /// `int f(DEVICE *, int64_t *ticket)`: a ticket that is done when all is that was started
    /// before, on the chosen queue.
    pub submit: Option<String>,
    /// `int f(DEVICE *, int64_t ticket)`, which returns when the ticket is done; with a limit,
    /// milliseconds follow.
    pub wait_for: Option<String>,
    /// Number of queues, an expression over options; one without it.
    pub count: Option<Expr>,
    /// `int f(DEVICE *, int64_t queue)`: what is started afterwards is on that queue.
    pub select: Option<String>,
    /// `int f(DEVICE *, int64_t ticket)`: what is started on the chosen queue afterwards begins when
    /// the ticket is done.
    pub after: Option<String>,
    /// One line of help.
    pub doc: String,
}

impl QueueDecl {
    /// Description for help.
    pub(super) fn describe(&self) -> Vec<(String, String)> {
        let limit = self.timeout.iter().map(|limit| ("for at most", format!("{limit} ms")));
        let tickets = self.submit.iter().map(|name| ("tickets from", name.clone()));
        let parts = self.wait_for.iter().map(|name| ("waits for one with", name.clone()));
        let count = self.count.iter().map(|count| ("queues", count.to_string()));
        let all = std::iter::once(("waits with", self.wait.clone())).chain(limit);
        all.chain(tickets)
            .chain(parts)
            .chain(count)
            .map(|(what, text)| (what.to_owned(), text))
            .collect()
    }
}

impl TargetKind {
    /// The C functions that the manifest names by themselves, with their keys.
    pub fn functions(&self) -> Vec<(&'static str, &String)> {
        let codegen = &self.codegen;
        let mut found = vec![
            ("open", codegen.open.as_ref()),
            ("close", codegen.close.as_ref()),
            ("status-string", codegen.status_string.as_ref()),
            ("activate", codegen.activate.as_ref().map(toml::Spanned::get_ref)),
            ("deactivate", codegen.deactivate.as_ref().map(toml::Spanned::get_ref)),
            ("load", codegen.kernels.as_ref().map(|kernels| &kernels.load)),
            ("launch", codegen.kernels.as_ref().map(|kernels| &kernels.launch)),
        ];
        if let Some(queue) = &self.queue {
            found.extend([
                ("wait", Some(&queue.wait)),
                ("submit", queue.submit.as_ref()),
                ("wait-for", queue.wait_for.as_ref()),
                ("select", queue.select.as_ref()),
                ("after", queue.after.as_ref()),
            ]);
        }
        let blob = codegen.blob.iter().flat_map(|blob| blob.get_ref().functions());
        found.extend(blob.map(|(key, name)| (key, Some(name))));
        if let Some(memory) = &self.memory {
            found.extend([
                ("allocate", Some(&memory.allocate)),
                ("free", memory.free.as_ref()),
                ("copy-in", Some(&memory.copy_in)),
                ("copy-out", Some(&memory.copy_out)),
                ("copy-within", memory.copy_within.as_ref()),
            ]);
        }
        found.into_iter().filter_map(|(key, name)| Some((key, name?))).collect()
    }
}
