//! `pack-constants`: collects the weights of all functions in one block of memory.
//!
//! The block is the module attribute `phl.constants` and an argument of the main function, which
//! is given its address when it runs, and of every other function that reads constants. Weights so
//! never pass through code generation, and equal ones are kept once.

use crate::{
    host::fills,
    ir::{
        self, Op, Val,
        board::{self, Pool},
        call_extern::Group,
        calls::{self, CallGraph},
        edit, elements, func, guard, memory, memref,
        names::{self, CONSTANTS},
        size::ALIGNMENT,
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
    parallel,
    planned::{constants::{Block, Load, Values, loads_from_pools}, words},
    tensor::AlignedBuffer,
};
use bytes::Bytes;
use melior::{
    Context,
    ir::{Attribute, Type, ValueLike, operation::OperationLike},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

crate::pass_options! {
    /// Options of `pack-constants`.
    pub struct Options {
        min_bytes: i64 = "65", "Least size in bytes of a packed constant of the host; smaller ones \
                                stay in its code. Constants of other targets are always packed";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "pack-constants",
    summary: "Pack the weights of all functions into one block of memory",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "linalg", "memref"],
    run,
};

/// The reads of constants by function, with places in the table.
type Reads<'c> = BTreeMap<String, Vec<(Op<'c>, usize)>>;

/// A distinct constant of a memory.
struct Entry<'c> {
    /// A device's, a pool of the board, or empty for the host's memory.
    space: String,
    /// From the start of what that memory has.
    offset: u64,
    value: Attribute<'c>,
    /// Bytes of the words that it is made of.
    word: u64,
}

struct Packing<'c> {
    context: &'c Context,
    module: Op<'c>,
    graph: CallGraph<'c>,
    main: Op<'c>,
    min_bytes: u64,
    globals: BTreeMap<String, Op<'c>>,
    table: Vec<Entry<'c>>,
    /// Constants by memory, hash of some and number of all bytes. Only looked up, so its order is of no
    /// effect.
    known: HashMap<(String, u64, usize), Vec<usize>>,
    /// The place in the table of each global.
    places: BTreeMap<String, usize>,
    /// Globals that are written when the network runs.
    filled: BTreeSet<String>,
    /// Alignment of the constants in a device's memory or a pool of the board.
    alignments: BTreeMap<String, u64>,
    /// The pools that the host's memory is divided into, if it is.
    pools: Vec<Pool>,
    /// The pool of the board from which each device's memory is loaded.
    images: BTreeMap<String, String>,
    /// Bytes of the constants of each memory, and where in the block they start.
    sizes: BTreeMap<String, u64>,
    starts: BTreeMap<String, u64>,
    /// The block of each memory in the main function.
    blocks: BTreeMap<String, Val<'c>>,
    /// Bytes after each constant that nothing reads.
    guard: u64,
}

fn run<'c>(module: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Some(main) = func::main(module).filter(|main| edit::entry_block(*main).is_some()) else {
        return Ok(());
    };
    let globals: BTreeMap<_, _> = ir::ops_of(module)
        .into_iter()
        .filter(|op| ir::op_name(*op) == "memref.global")
        .map(|op| (func::symbol(op), op))
        .collect();
    let aligned = |memory: memory::Memory| (memory.space, memory.alignment.max(ALIGNMENT as u64));
    let pools = board::declared(module)?;
    let in_pools = pools.iter().map(|pool| (pool.name.clone(), pool.alignment.max(ALIGNMENT as u64)));
    let alignments = memory::declared(module)?.into_iter().map(aligned).chain(in_pools).collect();
    let mut packing = Packing {
        alignments,
        pools,
        context: ir::context_of(module),
        module,
        graph: CallGraph::of(module)?,
        main,
        min_bytes: u64::try_from(options.min_bytes).unwrap_or(0),
        globals,
        table: vec![],
        known: HashMap::new(),
        places: BTreeMap::new(),
        filled: BTreeSet::new(),
        images: BTreeMap::new(),
        sizes: BTreeMap::new(),
        starts: BTreeMap::new(),
        blocks: BTreeMap::new(),
        guard: guard::bytes(module),
    };
    packing.run()
}

impl<'c> Packing<'c> {
    fn run(&mut self) -> PassResult<'c> {
        if self.pools.is_empty() {
            // On a board constants take read-only memory, which there is more of.
            self.filled = fills::write(self.module, self.main, &self.globals)?;
        }
        // In the order of the module, so that the block has the order of the program.
        let reads = self.reads()?;
        if self.table.is_empty() {
            self.erase_unused();
            return Ok(());
        }
        if self.module.has_attribute(CONSTANTS) {
            return Err(PassError::new(format!("the module has constants in {CONSTANTS} already")));
        }
        if !self.pools.is_empty() {
            return self.run_in_pools(&reads);
        }
        let sizes = self.settle();
        for (space, size) in &sizes {
            self.give(space, *size, &reads)?;
        }
        self.erase_unused();
        self.write_block(sizes[""])?;
        let devices = sizes.iter().filter(|(space, _)| !space.is_empty());
        let loads = devices.map(|(space, bytes)| Load {
            space: space.clone(),
            source: String::new(),
            offset: self.starts.get(space).copied().unwrap_or(0),
            bytes: *bytes,
        });
        self.load_first(&loads.collect::<Vec<_>>())
    }

    /// As [`Packing::run`] for a board: each pool has a block of its own, and nobody is given all.
    fn run_in_pools(&mut self, reads: &Reads<'c>) -> PassResult<'c> {
        let (sizes, loads) = loads_from_pools(&self.pools, &self.sizes, &self.images)
            .map_err(|error| PassError::at(&self.main, error))?;
        let (offsets, end) = board::constants_offsets(&self.pools, &sizes);
        for (index, pool) in self.pools.clone().iter().enumerate() {
            self.starts.insert(pool.name.clone(), offsets[index]);
            if sizes[index] > 0 {
                self.give(&pool.name, sizes[index], reads)?;
            }
        }
        for load in &loads {
            let start = self.starts.get(&load.source).copied().unwrap_or(0);
            self.starts.insert(load.space.clone(), start + load.offset);
            self.give(&load.space, load.bytes, reads)?;
        }
        self.erase_unused();
        self.write_block(end)?;
        self.load_first(&loads)
    }

    /// Gives the constants of each memory their place in the block, the host's first. Gives the sizes:
    /// the host is given all, from which devices' memories are loaded.
    fn settle(&mut self) -> BTreeMap<String, u64> {
        let mut sizes = std::mem::take(&mut self.sizes);
        let mut start = sizes.get("").copied().unwrap_or(0);
        self.starts.insert(String::new(), 0);
        for (space, size) in sizes.iter().filter(|(space, _)| !space.is_empty()) {
            self.starts.insert(space.clone(), start);
            start += size;
        }
        sizes.insert(String::new(), start);
        sizes
    }

    /// Gives each function the block of a memory that reads constants there.
    fn give(&mut self, space: &str, size: u64, reads: &Reads<'c>) -> PassResult<'c> {
        let mut readers: BTreeSet<String> = BTreeSet::new();
        // Calls are made anew when they are given more.
        let graph = CallGraph::of(self.module)?;
        for name in &graph.order {
            let Some(function) = graph.function(name) else { continue };
            let reads = reads.get(name).map(Vec::as_slice).unwrap_or_default();
            let reads = reads.iter().filter(|(_, place)| self.table[*place].space == space);
            let reads: Vec<_> = reads.collect();
            let calls = graph.calls(function).into_iter();
            let calls: Vec<_> = calls.filter(|(_, callee)| readers.contains(callee)).collect();
            let is_main = edit::same(function, self.main);
            if reads.is_empty() && calls.is_empty() && !is_main {
                continue;
            }
            let block = match space {
                "" => Block::Host,
                _ if self.pools.iter().any(|pool| pool.name == space) => Block::Pool(space),
                _ => Block::Device(space),
            };
            let mut values = Values::of(self.context, function, (block, size))?;
            for (read, place) in reads {
                let old = ir::result0(*read)?;
                let new = values.get(*read, (*place, self.table[*place].offset), old.r#type())?;
                edit::replace_uses(old, new);
                edit::erase(*read);
            }
            for (call, _) in calls {
                calls::pass_buffer(call, Group::Ins, values.block)?;
            }
            readers.insert(name.clone());
            if is_main {
                self.blocks.insert(space.to_owned(), values.block);
            }
        }
        Ok(())
    }

    /// Has the main function load the constants of devices before all else, which is done once.
    fn load_first(&self, loads: &[Load]) -> PassResult<'c> {
        for memory in memory::declared(self.module)? {
            let load = loads.iter().find(|load| load.space == memory.space);
            let Some((load, block)) = load.and_then(|load| Some((load, self.blocks.get(&load.source)?)))
            else {
                continue;
            };
            let start = self.starts.get(&load.source).copied().unwrap_or(0);
            load.write((self.module, self.main), (*block, start), &memory.target)?;
        }
        Ok(())
    }

    /// The reads of constants that are to be packed, by function, with places in the table.
    fn reads(&mut self) -> PassResult<'c, Reads<'c>> {
        let host = ir::attr_str(self.main, names::TARGET);
        let mut found = Reads::new();
        let reachable: BTreeSet<String> = self.reachable();
        for function in func::functions(self.module) {
            let name = func::symbol(function);
            if !reachable.contains(&name) {
                continue;
            }
            let target = ir::attr_str(function, names::TARGET);
            let is_host = target.is_none() || target == host;
            for op in edit::walk(function) {
                if ir::op_name(op) != "memref.get_global" {
                    continue;
                }
                let global = func::symbol_ref(op, "name").unwrap_or_default();
                let space = memref::space(ir::result0(op)?.r#type());
                if let (Some(space), Some(pool)) = (&space, board::of(op)) {
                    self.images.insert(space.clone(), pool);
                }
                // No code of the host has what is in the memory of a device.
                let least = if is_host && space.is_none() { self.min_bytes } else { 0 };
                let space = space.or_else(|| board::of(op)).unwrap_or_default();
                if let Some(place) = self.place(&global, &space, least)? {
                    found.entry(name.clone()).or_default().push((op, place));
                }
            }
        }
        Ok(found)
    }

    /// The functions that the main function calls, directly or not, and itself. What is outside of
    /// these has nobody who could give it constants.
    fn reachable(&self) -> BTreeSet<String> {
        let mut work = vec![func::symbol(self.main)];
        let mut seen = BTreeSet::new();
        while let Some(name) = work.pop() {
            if let Some(function) = self.graph.function(&name).filter(|_| !seen.contains(&name)) {
                work.extend(self.graph.calls(function).into_iter().map(|(_, callee)| callee));
                seen.insert(name);
            }
        }
        seen
    }

    /// The place of a global's data in the table; none if it stays a global.
    fn place(&mut self, name: &str, space: &str, least: u64) -> PassResult<'c, Option<usize>> {
        let Some(global) = self.globals.get(name).copied() else { return Ok(None) };
        let value = global.attribute("initial_value").ok();
        let (Some(value), true) = (value, global.has_attribute("constant")) else {
            return Ok(None);
        };
        if let Some(place) = self.places.get(name) {
            let size = self.size_of(*place)?;
            return Ok((size >= least).then_some(*place));
        }
        let bytes = elements::bytes(value).map_err(|error| PassError::at(&global, error))?;
        if (bytes.len() as u64) < least {
            return Ok(None);
        }
        let key = (space.to_owned(), hash_of_ends(&bytes), bytes.len());
        let word = words::of_global(global);
        for place in self.known.get(&key).into_iter().flatten() {
            if self.table[*place].word == word && *elements::bytes(self.table[*place].value)? == *bytes {
                self.places.insert(name.to_owned(), *place);
                return Ok(Some(*place));
            }
        }
        let place = self.table.len();
        let size = self.sizes.entry(space.to_owned()).or_default();
        self.table.push(Entry { space: space.to_owned(), offset: *size, value, word });
        let align = self.alignments.get(space).copied().unwrap_or(ALIGNMENT as u64);
        // A constant without bytes has a place of its own, too: its address is one of this memory.
        *size = (*size + bytes.len().max(1) as u64 + self.guard).next_multiple_of(align);
        self.known.entry(key).or_default().push(place);
        self.places.insert(name.to_owned(), place);
        Ok(Some(place))
    }

    fn size_of(&self, place: usize) -> PassResult<'c, u64> {
        Ok(elements::bytes(self.table[place].value)?.len() as u64)
    }

    fn erase_unused(&self) {
        let used: BTreeSet<_> = edit::walk(self.module)
            .into_iter()
            .filter(|op| ir::op_name(*op) == "memref.get_global")
            .filter_map(|op| func::symbol_ref(op, "name"))
            .collect();
        for (name, global) in &self.globals {
            let ours = self.places.contains_key(name) || self.filled.contains(name);
            if ours && !used.contains(name) {
                edit::erase(*global);
            }
        }
    }

    /// Writes the bytes to the module.
    fn write_block(&self, size: u64) -> PassResult<'c> {
        let mut block = AlignedBuffer::zeroed(size as usize).map_err(crate::Error::from)?;
        let (mut gaps, mut parts, mut runs) = (vec![], vec![], vec![]);
        let devices = memory::declared(self.module)?;
        for Entry { space, offset, value, word } in &self.table {
            let bytes = elements::bytes(*value)?;
            let offset = offset + self.starts.get(space).copied().unwrap_or(0);
            let end = offset + bytes.len() as u64;
            // A device's memory has an order of its own.
            let is_host = devices.iter().all(|memory| memory.space != *space);
            runs.push([offset, end, if is_host { *word } else { 0 }]);
            // A block that is copied to a device as a whole has no bytes in it that may not be
            // read.
            if space.is_empty() {
                gaps.push((end, end + self.guard));
            }
            parts.push((offset as usize, bytes));
        }
        let parts = parts.iter().map(|(offset, bytes)| (*offset, &**bytes)).collect();
        parallel::copy(block.as_mut_slice(), parts)
            .ok_or_else(|| crate::Error::internal("constants overlap in their block"))?;
        words::record(self.module, runs);
        if self.guard > 0 {
            guard::record(self.module, names::CONSTANT_GAPS, &gaps);
        }
        let ty = Type::parse(self.context, &format!("tensor<{size}xi8>"))
            .ok_or_else(|| PassError::new("the constants are too large"))?;
        let value = elements::resource(ty, "phl_constants", block, ALIGNMENT as usize)?;
        edit::set_attr(self.module, CONSTANTS, value);
        Ok(())
    }
}

/// The bytes that `pack-constants` collected; empty if there are none.
pub fn constants(module: Op<'_>) -> crate::Result<Bytes> {
    match module.attribute(CONSTANTS) {
        Ok(value) => elements::bytes(value).map(elements::Data::into_bytes),
        Err(_) => Ok(Bytes::new()),
    }
}

/// A hash of the first and the last bytes, which are enough to tell most constants apart.
fn hash_of_ends(bytes: &[u8]) -> u64 {
    const SOME: usize = 4096;
    let mut hasher = DefaultHasher::new();
    bytes[..bytes.len().min(SOME)].hash(&mut hasher);
    bytes[bytes.len().saturating_sub(SOME)..].hash(&mut hasher);
    hasher.finish()
}
