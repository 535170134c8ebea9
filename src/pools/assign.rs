//! The choice of a pool for each buffer and each constant.
//!
//! Pools are filled one after the other, the fastest first: with what may live nowhere else, then
//! with what is read and written most for its size. The planner of the memory decides from the same
//! buffers if they fit. If it needs more than is in use at once, colder ones go to the next pool.

use super::{
    demand::{Program, Scope, Spaces},
    fill::{self, Candidate},
    heat, ports,
    timetable::Timetable,
};
use crate::{
    ir::{
        self, Op,
        board::{Content, Pool, Port},
        calls::CallGraph,
        edit, func, memory, memref, names, size,
    },
    pass::{PassError, PassResult},
    plan::{
        self,
        program::{self, Frame},
    },
    planned::{
        capacity, generated,
        users::{HOST, Targets, Users},
    },
};
use indexmap::IndexMap;
use melior::ir::{ValueLike, attribute::StringAttribute, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet};

/// Something that needs a place.
struct Item<'c> {
    /// Operations that are told the pool: an allocation, a call with scratch memory, or the reads
    /// of a constant.
    ops: Vec<Op<'c>>,
    bytes: u64,
    content: Content,
    /// Function and request of what is no constant.
    request: Option<(usize, usize)>,
    heat: u64,
    /// Targets that touch it.
    users: Targets,
}

/// Assigns a pool to each allocation, scratch memory and read of a constant in the host's memory.
pub fn assign<'c>(module: Op<'c>, pools: &[Pool]) -> PassResult<'c> {
    ports::make(module, pools)?;
    let graph = CallGraph::of(module)?;
    let users = Users::of(module, &graph)?;
    let spaces = Spaces { scope: Scope::Host, memories: &[], tiles: false };
    let program = Program::of(&graph, spaces)?;
    let timetable = Timetable::of(&program);
    let mut items = values(&program, &timetable, &users)?;
    items.extend(constants(module, &program, &timetable, &users)?);
    let choice = Choice { module, pools, program: &program, timetable: &timetable, items: &items };
    let context = ir::context_of(module);
    for (item, pool) in items.iter().zip(choice.run()?) {
        for op in &item.ops {
            edit::set_attr(*op, names::POOL, StringAttribute::new(context, &pool.name).into());
        }
    }
    Ok(())
}

/// The buffers of all functions.
fn values<'c>(
    program: &Program<'c, '_>,
    timetable: &Timetable,
    users: &Users,
) -> PassResult<'c, Vec<Item<'c>>> {
    let mut items = vec![];
    for (index, memory) in program.functions.iter().enumerate() {
        for (place, request) in memory.requests.iter().enumerate() {
            let op = request.op;
            let is_buffer = ir::op_name(op) == "memref.alloc";
            let (mut touching, heat) = match is_buffer {
                true => {
                    let value = ir::result0(op)?;
                    (users.touching(memory.function, value), heat::of(value))
                }
                false => (users.at(op, &users.target_of(memory.function)), heat::SCRATCH),
            };
            let port = Port::of(op);
            // Callers are programs of the host.
            touching.extend(port.map(|_| HOST.to_owned()));
            items.push(Item {
                ops: vec![op],
                bytes: request.buffer.size,
                content: port.map_or(Content::Activations, |port| port.content),
                request: Some((index, place)),
                heat: heat.saturating_mul(timetable.runs[index]),
                users: touching,
            });
        }
    }
    Ok(items)
}

/// The constants in the host's memory, in the order in which the program reads them. Those of a device's memory
/// are one thing: the block that it is loaded from.
fn constants<'c>(
    module: Op<'c>,
    program: &Program<'c, '_>,
    timetable: &Timetable,
    users: &Users,
) -> PassResult<'c, Vec<Item<'c>>> {
    let globals = ir::ops_of(module).into_iter();
    let globals = globals.filter(|op| ir::op_name(*op) == "memref.global");
    let globals: BTreeMap<_, _> = globals.map(|op| (func::symbol(op), op)).collect();
    let memories = memory::declared(module)?;
    let mut found: IndexMap<String, Item<'c>> = IndexMap::new();
    let mut images: IndexMap<String, Item<'c>> = IndexMap::new();
    let mut loaded = BTreeSet::new();
    for (index, memory) in program.functions.iter().enumerate() {
        for op in edit::walk(memory.function) {
            let name = func::symbol_ref(op, "name");
            let Some(name) = name.filter(|_| ir::op_name(op) == "memref.get_global") else {
                continue;
            };
            let value = ir::result0(op)?;
            let global = globals.get(&name).filter(|global| global.has_attribute("constant"));
            let data = global.and_then(|global| global.attribute("initial_value").ok());
            let Some(data) = data else { continue };
            let item = |bytes| Item {
                ops: vec![],
                bytes,
                content: Content::Constants,
                request: None,
                heat: 0,
                users: Targets::new(),
            };
            let bytes = generated::size_of(data);
            if let Some(space) = memref::space(value.r#type()) {
                let Some(memory) = memories.iter().find(|memory| memory.space == space) else {
                    continue;
                };
                let image = images.entry(space).or_insert_with(|| item(0));
                if loaded.insert(name) {
                    let align = memory.alignment.max(size::ALIGNMENT as u64);
                    image.bytes = image.bytes.saturating_add(bytes.next_multiple_of(align));
                }
                image.users.extend([HOST.to_owned(), memory.target.clone()]);
                image.ops.push(op);
                continue;
            }
            let item = found.entry(name).or_insert_with(|| item(bytes));
            let heat = heat::of(value).saturating_mul(timetable.runs[index]);
            item.heat = item.heat.saturating_add(heat);
            item.users.extend(users.touching(memory.function, value));
            item.ops.push(op);
        }
    }
    Ok(found.into_values().chain(images.into_values()).collect())
}

struct Choice<'a, 'c, 'm> {
    module: Op<'c>,
    pools: &'a [Pool],
    program: &'a Program<'c, 'm>,
    timetable: &'a Timetable,
    items: &'a [Item<'c>],
}

/// Bytes in use of a pool.
struct Filled {
    constants: u64,
    values: u64,
    peak: Option<String>,
}

impl<'a, 'c> Choice<'a, 'c, '_> {
    /// The pool of each item.
    fn run(&self) -> PassResult<'c, Vec<&'a Pool>> {
        let possible: Vec<_> =
            self.items.iter().map(|item| self.possible(item)).collect::<Result<_, _>>()?;
        let mut found: Vec<Option<&Pool>> = vec![None; self.items.len()];
        for (place, pool) in self.pools.iter().enumerate() {
            let open = |index: &usize| found[*index].is_none() && possible[*index].contains(&place);
            let open: Vec<usize> = (0..self.items.len()).filter(open).collect();
            let forced = |index: usize| possible[index].last() == Some(&place);
            for index in self.fill(pool, &open, &forced)? {
                found[index] = Some(pool);
            }
        }
        let missing = || PassError::new("a buffer is in no pool");
        found.into_iter().map(|pool| pool.ok_or_else(missing)).collect()
    }

    /// The places of the pools that an item may live in.
    fn possible(&self, item: &Item<'c>) -> PassResult<'c, Vec<usize>> {
        let fits = |pool: &Pool| {
            let reached = item.users.iter().all(|user| pool.is_reached_by(user));
            reached && pool.may_hold(item.content)
        };
        let found: Vec<_> =
            (0..self.pools.len()).filter(|place| fits(&self.pools[*place])).collect();
        if let (true, Some(op)) = (found.is_empty(), item.ops.first()) {
            let users: Vec<_> = item.users.iter().map(String::as_str).collect();
            let content = item.content.name();
            let why = match self.pools.iter().any(|pool| pool.may_hold(item.content)) {
                true => format!(
                    "no pool of the board that holds {content} is reached by all of them: add them to \
                     its users"
                ),
                false => format!(
                    "no pool of the board holds {content}: add \"{content}\" to what one of them holds"
                ),
            };
            return Err(PassError::at(
                op,
                format!("needs {} bytes, used by {}, but {why}", item.bytes, users.join(" and ")),
            ));
        }
        Ok(found)
    }

    /// The items among `open` that live in a pool.
    fn fill(
        &self,
        pool: &Pool,
        open: &[usize],
        forced: &dyn Fn(usize) -> bool,
    ) -> PassResult<'c, Vec<usize>> {
        let candidates: Vec<_> =
            open.iter().map(|index| self.candidate(*index, pool, forced)).collect();
        let mut limit = pool.bytes;
        loop {
            let chosen = fill::choose(&candidates, self.timetable.length, limit);
            let chosen: Vec<usize> = chosen.into_iter().map(|place| open[place]).collect();
            let filled = self.filled(pool, &chosen)?;
            let wanted = filled.constants.saturating_add(filled.values);
            if wanted <= pool.bytes {
                return Ok(chosen);
            }
            if limit == 0 || chosen.iter().all(|index| forced(*index)) {
                let Filled { constants, values, peak } = &filled;
                let at = func::main(self.module).unwrap_or(self.module);
                let message = capacity::does_not_fit(pool, *constants, *values, peak.as_deref());
                return Err(PassError::at(&at, message));
            }
            limit = limit.saturating_sub((wanted - pool.bytes).max(limit / 64).max(1));
        }
    }

    fn candidate(
        &self,
        index: usize,
        pool: &Pool,
        forced: &dyn Fn(usize) -> bool,
    ) -> Candidate<'a> {
        let item = &self.items[index];
        let spans = item.request.map(|(function, request)| self.timetable.spans(function, request));
        let bytes = item.bytes.next_multiple_of(Scope::Pool(pool).alignment());
        Candidate { bytes, spans, heat: item.heat, forced: forced(index) }
    }

    /// Bytes in use of a pool in which these items live.
    fn filled(&self, pool: &Pool, chosen: &[usize]) -> PassResult<'c, Filled> {
        let align = Scope::Pool(pool).alignment();
        let of_constant = |index: &&usize| self.items[**index].request.is_none();
        let bytes = |index: &usize| self.items[*index].bytes.next_multiple_of(align);
        let constants = chosen.iter().filter(of_constant).map(bytes).sum();
        let requests: BTreeSet<_> =
            chosen.iter().filter_map(|index| self.items[*index].request).collect();
        let mut functions = self.program.times();
        for (index, function) in functions.iter_mut().enumerate() {
            let all = std::mem::take(&mut function.buffers).into_iter().enumerate();
            let kept = all.filter(|(place, _)| requests.contains(&(index, *place)));
            function.buffers = kept.map(|(_, buffer)| plan::Buffer { align, ..buffer }).collect();
        }
        let main = func::main(self.module).and_then(|main| self.program.index(main));
        let frames = program::plan(&functions, 0)
            .map_err(|error| PassError::at(&self.module, format!("cannot be planned: {error}")))?;
        let none = Frame::default();
        let frame = main.map_or(&none, |main| &frames[main]);
        Ok(Filled { constants, values: frame.bytes, peak: self.program.peak(frame) })
    }
}
