//! Requests for memory while a network runs: allocations, scratch memory of calls, and calls of
//! functions that ask in turn.

use super::overlap::{self, Overlap};
use crate::{
    ir::{
        self, Op,
        board::{self, Port},
        calls::{self, CallGraph},
        edit,
        liveness::{Lifetime, Run, Timeline},
        memory::Memory,
        memref, names, print,
        size::{self, ALIGNMENT},
    },
    pass::{PassError, PassResult},
    plan::{
        Buffer,
        program::{self, Call, Frame},
    },
    planned::pool_of,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::BTreeMap;

/// The memory that is looked at.
#[derive(Clone, Copy)]
pub enum Scope<'m> {
    /// The host's, whatever pools it is divided into.
    Host,
    /// A device's own.
    Device(&'m Memory),
    /// A pool of the board, a part of the host's.
    Pool(&'m board::Pool),
}

impl<'m> Scope<'m> {
    /// The memory space in types; empty for the host's.
    fn space(self) -> &'m str {
        match self {
            Scope::Device(memory) => memory.space.as_str(),
            Scope::Host | Scope::Pool(_) => "",
        }
    }

    /// Alignment of a buffer.
    pub fn alignment(self) -> u64 {
        let asked = match self {
            Scope::Host => 0,
            Scope::Device(memory) => memory.alignment,
            Scope::Pool(pool) => pool.alignment,
        };
        asked.max(ALIGNMENT as u64)
    }

    /// True if an operation that asks for memory in `space` asks for this.
    fn has(self, op: Op<'_>, space: &str) -> bool {
        let in_pool = match self {
            Scope::Pool(pool) => board::of(op).as_deref() == Some(&*pool.name),
            Scope::Host | Scope::Device(_) => true,
        };
        in_pool && space == self.space()
    }
}

/// The memory that is looked at, among all.
#[derive(Clone, Copy)]
pub struct Spaces<'m> {
    /// The one.
    pub scope: Scope<'m>,
    /// The memories of devices.
    pub memories: &'m [Memory],
    /// True if memory on the chip of devices, which tiles are in, is looked at, too.
    pub tiles: bool,
}

impl Spaces<'_> {
    fn is_on_chip(&self, space: &str) -> bool {
        !space.is_empty() && !self.memories.iter().any(|memory| memory.space == space)
    }
}

/// The functions of a module, those called before those that call them.
pub struct Program<'c, 'm> {
    /// Memory that each function needs.
    pub functions: Vec<FunctionMemory<'c, 'm>>,
}

/// Memory that a function needs while it runs.
pub struct FunctionMemory<'c, 'm> {
    /// The memory.
    pub scope: Scope<'m>,
    /// The function.
    pub function: Op<'c>,
    /// Points at which its operations run.
    pub timeline: Timeline,
    /// Its own buffers.
    pub requests: Vec<Request<'c>>,
    /// Its buffers in memory on the chip of devices.
    pub tiles: BTreeMap<String, Vec<Request<'c>>>,
    /// Calls of functions that stand before it.
    pub calls: Vec<(Op<'c>, Call)>,
    /// True if its callers do not look into it.
    pub opaque: bool,
}

/// A buffer to be planned.
pub struct Request<'c> {
    /// The allocation, or the call that needs scratch memory.
    pub op: Op<'c>,
    /// The buffer as the planner sees it.
    pub buffer: Buffer,
    /// Operations that free it.
    pub deallocs: Vec<Op<'c>>,
}

impl<'c, 'm> Program<'c, 'm> {
    /// Reads the functions of a call graph.
    pub fn of(graph: &CallGraph<'c>, spaces: Spaces<'m>) -> PassResult<'c, Self> {
        let overlap = Overlap::of(graph, spaces.scope);
        let transparent = graph.transparent();
        let mut runs: BTreeMap<String, Run> = BTreeMap::new();
        let mut program = Self { functions: vec![] };
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for name in &graph.order {
            let Some(function) = graph.function(name) else { continue };
            let timeline = Timeline::of(function, &runs);
            let opaque = !transparent.contains(name);
            if !opaque {
                runs.insert(name.clone(), timeline.run(function));
            }
            places.insert(name.clone(), program.functions.len());
            let mut memory = FunctionMemory::of(function, timeline, (&places, spaces), opaque)?;
            if let Some(overlap) = &overlap {
                memory.outlast(overlap);
            }
            program.functions.push(memory);
        }
        Ok(program)
    }

    /// The place of a function in the list.
    pub fn index(&self, function: Op<'c>) -> Option<usize> {
        self.functions.iter().position(|memory| edit::same(memory.function, function))
    }

    /// The functions as the planner sees them.
    pub fn times(&self) -> Vec<program::Function> {
        self.functions.iter().map(FunctionMemory::times).collect()
    }

    /// Location of the operation at which most of a frame is in use.
    pub fn peak(&self, frame: &Frame) -> Option<String> {
        let bound = frame.bound.filter(|bound| bound.bytes > 0)?;
        let memory = &self.functions[bound.function];
        let at = memory.timeline.at(bound.point, &edit::walk(memory.function))?;
        Some(print::place(at.location()))
    }
}

impl<'c, 'm> FunctionMemory<'c, 'm> {
    fn of(
        function: Op<'c>,
        timeline: Timeline,
        (places, spaces): (&BTreeMap<String, usize>, Spaces<'m>),
        opaque: bool,
    ) -> PassResult<'c, Self> {
        let scope = spaces.scope;
        let (mut calls, mut requests) = (vec![], vec![]);
        let mut tiles: BTreeMap<String, Vec<Request<'c>>> = BTreeMap::new();
        for op in edit::walk(function) {
            if let Some(bytes) = ir::attr_i64(op, "scratch_bytes") {
                let space = ir::attr_str(op, names::SCRATCH_MEMORY).unwrap_or_default();
                if !scope.has(op, &space) {
                    continue;
                }
                let size = bytes.max(0) as u64;
                let buffer = Buffer::once(size, scope.scratch_alignment(), timeline.span(op));
                requests.push(Request { op, buffer, deallocs: vec![] });
            } else if let Some(callee) = calls::callee(op).and_then(|name| places.get(&name)) {
                let (span, start) = (timeline.span(op), timeline.begin(op));
                calls.push((op, Call { callee: *callee, span, start }));
            } else if ir::op_name(op) == "memref.alloc" {
                let space = space_of(op)?;
                if scope.has(op, &space) {
                    requests.push(request(&timeline, op, scope.alignment())?);
                } else if spaces.tiles && spaces.is_on_chip(&space) {
                    let align = pool_of(op, &space)?.1;
                    tiles.entry(space).or_default().push(request(&timeline, op, align)?);
                }
            }
        }
        Ok(Self { scope, function, timeline, requests, tiles, calls, opaque })
    }

    /// Extends the use of buffers of work that goes on after its call, until the work is known to
    /// be over.
    fn outlast(&mut self, overlap: &Overlap<'c>) {
        let Some(schedule) = overlap.schedule(self.function) else { return };
        let until = |span: &mut (usize, usize), ops: &[Op<'c>]| {
            if let Some(last) = schedule.last_beside(ops) {
                span.1 = span.1.max(self.timeline.span(last).1);
            }
        };
        for request in &mut self.requests {
            for span in &mut request.buffer.spans {
                until(span, &overlap::uses(request.op));
            }
        }
        for (op, call) in &mut self.calls {
            until(&mut call.span, &[*op]);
        }
    }

    /// The function as the planner sees it.
    fn times(&self) -> program::Function {
        program::Function {
            length: self.timeline.length(),
            buffers: self.requests.iter().map(|request| request.buffer.clone()).collect(),
            calls: self.calls.iter().map(|(_, call)| *call).collect(),
            opaque: self.opaque,
        }
    }
}

impl Scope<'_> {
    /// Alignment of scratch memory: in the memory of a device no more than the host's.
    fn scratch_alignment(self) -> u64 {
        match self {
            Scope::Device(_) => ALIGNMENT as u64,
            Scope::Host | Scope::Pool(_) => self.alignment(),
        }
    }
}

/// The memory space that an allocation is in; empty for the host's.
fn space_of<'c>(op: Op<'c>) -> PassResult<'c, String> {
    let ty = ir::result0(op)?.r#type();
    memref::space_or_host(ty).ok_or_else(|| {
        PassError::at(&op, format!("allocates {ty}, whose memory space is no #tir.space"))
    })
}

/// The request of an allocation.
fn request<'c>(timeline: &Timeline, op: Op<'c>, align: u64) -> PassResult<'c, Request<'c>> {
    let ty = ir::result0(op)?.r#type();
    let size = size::bytes(ty).filter(|_| op.operand_count() == 0).ok_or_else(|| {
        PassError::at(
            &op,
            format!(
                "allocates {ty}, whose size is not known when compiling: give the unknown \
                 dimensions of the model's inputs with --shape"
            ),
        )
    })?;
    let asked = ir::attr_i64(op, "alignment").map_or(ALIGNMENT, |align| align.max(ALIGNMENT));
    if asked != ALIGNMENT {
        return Err(PassError::at(
            &op,
            format!("asks for alignment {asked}; buffers are aligned to {ALIGNMENT} at most"),
        ));
    }
    let Lifetime { start, end, deallocs } =
        timeline.lifetime(op).map_err(|(at, reason)| PassError::at(&at, reason))?;
    let last = timeline.length().saturating_sub(1);
    let span = Port::of(op).map_or((start, end), |port| port.span((start, end), last));
    Ok(Request { op, buffer: Buffer::once(size, align, span), deallocs })
}
