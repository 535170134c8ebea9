//! Effects of a function's run on memory, as far as its callers know them.

use super::{Memory, Order, Place, Span, lifetime, places, spans};
use crate::{
    ir::{
        self, Op,
        board::Port,
        calls::{self, CallGraph},
        edit, func,
        memory::of_argument,
        names::{self, IO},
    },
    pass::PassError,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::BTreeMap;

/// The end of a life that lasts until the caller needs the content no more.
pub(super) const AFTER: usize = usize::MAX;

/// The functions that callers look into, by name.
pub type Effects<'c> = BTreeMap<String, Effect<'c>>;

/// Effects of a function on memory.
pub struct Effect<'c> {
    /// Number of points of its run.
    pub length: usize,
    /// Index of the argument that is its arena in a memory space; the host's has the empty name.
    pub arenas: BTreeMap<String, usize>,
    /// Use of its arguments; none for one that it may use at any time.
    pub arguments: Vec<Option<Argument>>,
    /// The use of each arena by itself and by what it calls.
    pub uses: BTreeMap<String, Vec<BufferUse<'c>>>,
}

/// Use of an argument by a function.
pub struct Argument {
    /// The first point at which it is used.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// The lives of its content if the caller does not need it after the call.
    pub dropped: Lives,
    /// The lives of its content if the caller needs it after the call.
    pub kept: Lives,
}

/// The lives of what a buffer contains.
pub struct Lives {
    /// Last point at which the content at the start of the function is in use.
    pub before: Option<usize>,
    /// Spans in which contents that are written in the function are in use.
    pub spans: Vec<Span>,
}

/// The use of bytes of an arena.
#[derive(Clone)]
pub struct BufferUse<'c> {
    /// The operation of the function that makes the buffer, or calls who does.
    pub op: Op<'c>,
    /// The operation that makes the buffer, wherever it is.
    pub made: Op<'c>,
    /// Description of the buffer, for messages.
    pub what: String,
    /// The time of use, in points of the function.
    pub span: Span,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The buffer that this is a use of.
    pub buffer: usize,
}

impl BufferUse<'_> {
    /// Description of the buffer and its bytes, for messages.
    pub fn describe(&self) -> String {
        let end = self.offset.saturating_add(self.size);
        format!("{} at bytes {} to {end}", self.what, self.offset)
    }
}

/// Reads the functions that are called.
pub fn effects<'c>(graph: &CallGraph<'c>) -> Result<Effects<'c>, PassError<'c>> {
    let mut effects = Effects::new();
    let transparent = graph.transparent();
    for name in graph.order.iter().filter(|name| transparent.contains(*name)) {
        let Some(function) = graph.function(name) else { continue };
        let ops = edit::walk(function);
        let found = places(function, &ops)?;
        let effect = Effect::of(function, &ops, &found, &effects)?;
        effects.insert(name.clone(), effect);
    }
    Ok(effects)
}

impl<'c> Effect<'c> {
    fn of(
        function: Op<'c>,
        ops: &[Op<'c>],
        places: &[Place<'c>],
        known: &Effects<'c>,
    ) -> Result<Self, PassError<'c>> {
        let order = Order::of(function, ops, known);
        let signature = func::Signature::of(function)?;
        let arena = |list: &func::Attributes<'c>| {
            let role = list.iter().find(|(name, _)| name == IO).map(|(_, value)| *value);
            match role.and_then(edit::string).as_deref() {
                Some("arena") => Some(String::new()),
                Some(names::DEVICE_ARENA | names::POOL_ARENA) => Some(of_argument(list)),
                _ => None,
            }
        };
        let shares = function.has_attribute(names::SHARES_BYTES);
        let arguments = (0..signature.arguments.len()).map(|index| {
            let value = func::argument(function, index).filter(|_| shares)?;
            lifetime::argument(&order, function, value)
        });
        let mut in_arenas: BTreeMap<String, Vec<&Place<'c>>> = BTreeMap::new();
        for place in places {
            if let Memory::Arena(space) = &place.memory {
                in_arenas.entry(space.clone()).or_default().push(place);
            }
        }
        let numbered = signature.arguments.iter().enumerate();
        let uses = in_arenas.into_iter();
        Ok(Self {
            length: order.span(function).1 + 1,
            arenas: numbered.filter_map(|(i, (_, list))| Some((arena(list)?, i))).collect(),
            arguments: arguments.collect(),
            uses: uses.map(|(space, all)| (space, uses_of(&order, function, &all))).collect(),
        })
    }
}

/// The use of places by a function and, where they are arenas, by what it calls.
pub fn uses_of<'c>(
    order: &Order<'_, 'c>,
    function: Op<'c>,
    places: &[&Place<'c>],
) -> Vec<BufferUse<'c>> {
    let mut found: Vec<BufferUse<'c>> = vec![];
    let mut buffers = 0;
    for place in places {
        let (op, offset) = (place.op, place.offset);
        let Some((space, calls)) = frame_of(order, place) else {
            let mut spans = spans(order, function, op, place.value);
            if let Some(port) = Port::of(op) {
                // The caller writes it before, or reads it afterwards.
                let all =
                    (spans.iter().map(|span| span.0).min(), spans.iter().map(|span| span.1).max());
                let last = order.span(function).1;
                spans = match all {
                    (Some(start), Some(end)) => vec![port.span((start, end), last)],
                    _ => vec![(0, last)],
                };
            }
            for span in spans {
                let (what, size) = (place.value.r#type().to_string(), place.size);
                found.push(BufferUse { op, made: op, what, span, offset, size, buffer: buffers });
            }
            buffers += 1;
            continue;
        };
        for (call, effect) in calls {
            let begin = order.begin(call);
            let name = calls::callee(call).unwrap_or_default();
            let uses = effect.uses.get(space).map(Vec::as_slice).unwrap_or_default();
            found.extend(uses.iter().map(|inner| BufferUse {
                op: call,
                made: inner.made,
                what: match inner.what.contains(" of @") {
                    true => inner.what.clone(),
                    false => format!("{} of @{name}", inner.what),
                },
                span: (begin + inner.span.0, begin + inner.span.1),
                offset: offset.saturating_add(inner.offset),
                size: inner.size,
                buffer: buffers + inner.buffer,
            }));
            buffers += uses.iter().map(|inner| inner.buffer + 1).max().unwrap_or(0);
        }
    }
    found
}

/// The calls that a place is the arena of, if it is nothing else.
fn frame_of<'e, 'p, 'c>(
    order: &Order<'e, 'c>,
    place: &'p Place<'c>,
) -> Option<(&'p str, Vec<(Op<'c>, &'e Effect<'c>)>)> {
    let Memory::Arena(space) = &place.memory else { return None };
    let users = ir::users(place.value);
    let calls: Option<Vec<_>> = users
        .into_iter()
        .map(|user| {
            let effect = order.effect(user)?;
            let arena = [*effect.arenas.get(space)?];
            let given = calls::arguments_of(user, place.value)?;
            (given == arena).then_some((user, effect))
        })
        .collect();
    calls.filter(|calls| !calls.is_empty()).map(|calls| (space.as_str(), calls))
}
