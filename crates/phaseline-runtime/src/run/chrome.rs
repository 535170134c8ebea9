//! The steps of a run as a file for Chrome's `about:tracing` and Perfetto.

use super::Event;
use crate::{
    Error, Result,
    artifact::{Means, Operation},
};
use std::time::Duration;

/// Busy time of a queue: from the start of its first work to the end of the wait for it.
struct Busy<'o> {
    target: &'o str,
    queue: Option<u64>,
    begin: Duration,
    end: Duration,
}

impl Busy<'_> {
    fn row(&self) -> String {
        let number = self.queue.map(|queue| format!(" {queue}")).unwrap_or_default();
        format!("{}: queue{number}", self.target)
    }
}

fn queues<'o>(operations: &'o [Operation], events: &[Event]) -> Vec<Busy<'o>> {
    let mut open: Vec<Busy<'o>> = vec![];
    let mut found = vec![];
    for event in events {
        let Some(of) = operations.get(event.operation) else { continue };
        let same = |busy: &Busy<'o>| busy.target == of.target;
        let (begin, end) = (event.begin, event.end);
        match of.means {
            Means::Wait => {
                // Without a number it is for all queues of the device.
                let waited = |busy: &Busy<'o>| {
                    let all = of.queue.is_none() || busy.queue.is_none();
                    same(busy) && (all || busy.queue == of.queue)
                };
                let (done, rest) = open.into_iter().partition(waited);
                let done: Vec<_> = done;
                found.extend(done.into_iter().map(|busy| Busy { end, ..busy }));
                open = rest;
            }
            Means::Call | Means::Transfer
                if !open.iter().any(|busy| same(busy) && busy.queue == of.queue) =>
            {
                open.push(Busy { target: &of.target, queue: of.queue, begin, end });
            }
            _ => {}
        }
    }
    found
}

/// The steps of a run in Chrome's trace format.
pub(super) fn chrome(operations: &[Operation], events: &[Event]) -> Result<String> {
    let mut targets: Vec<&str> = vec![];
    let mut list = vec![];
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    for event in events {
        let Some(of) = operations.get(event.operation) else { continue };
        let row = targets.iter().position(|target| *target == of.target).unwrap_or_else(|| {
            targets.push(&of.target);
            targets.len() - 1
        });
        list.push(serde_json::json!({
            "name": of.node, "cat": of.means.to_string(), "ph": "X", "pid": 1, "tid": row + 1,
            "ts": micros(event.begin), "dur": micros(event.end - event.begin),
            "args": {
                "code": of.code, "inputs": of.inputs, "outputs": of.outputs, "tasks": of.tasks,
                "operations": of.operations, "bytes": of.bytes,
            },
        }));
    }
    let busy = queues(operations, events);
    let mut queues: Vec<String> = vec![];
    for busy in busy {
        let (name, begin, end) = (busy.row(), busy.begin, busy.end);
        let row = queues.iter().position(|known| *known == name).unwrap_or_else(|| {
            queues.push(name);
            queues.len() - 1
        });
        list.push(serde_json::json!({
            "name": "under way", "cat": "queue", "ph": "X", "pid": 1,
            "tid": targets.len() + row + 1, "ts": micros(begin), "dur": micros(end - begin),
        }));
    }
    let rows = targets.iter().copied().chain(queues.iter().map(String::as_str));
    for (row, target) in rows.enumerate() {
        list.push(serde_json::json!({
            "name": "thread_name", "ph": "M", "pid": 1, "tid": row + 1, "args": {"name": target},
        }));
    }
    let whole = serde_json::json!({"displayTimeUnit": "ms", "traceEvents": list});
    serde_json::to_string_pretty(&whole)
        .map_err(|error| Error::internal(format!("the trace has no JSON form: {error}")))
}
