//! Names of the attributes with which passes, hooks and tools tell each other about IR, and of the
//! symbols that generated code has.

use super::Op;

/// Module: the model's name, which starts the name of every symbol.
pub const MODEL: &str = "phl.model";

/// Module: the target spec.
pub const TARGET_SPEC: &str = "phl.target_spec";

/// Module: dead buffers are filled, and reads are checked.
pub const POISONED: &str = "phl.poisoned";

/// Module: each match of a device is a region of its own, and is waited for, so that it has a time.
pub const APART: &str = "phl.apart";

/// Operation: a pattern of a target takes it as it is, while rules rewrite what no target takes.
pub const TAKEN: &str = "phl.taken";

/// Operation: its number among those that a form is tried for, or that of the operation whose form it is.
pub const FORM: &str = "phl.form";

/// Function, module or operation: id of the target that it belongs to, or `host`. On an operation
/// of a network, what the user demands.
pub const TARGET: &str = "phl.target";

/// Operation: the pattern of its target that the user demands.
pub const PATTERN: &str = "phl.pattern";

/// Module: operations whose regions the hooks of devices declined, with the reasons.
pub const DECLINED: &str = "phl.declined";

/// Module: for each function that was divided, the number of values that change their layout, where
/// a device takes tensors as given.
pub const LAYOUT_CHANGES: &str = "phl.layout_changes";

/// Operation: names of a pattern in a match, for hooks of protocol 2. -1 is the operation. Others
/// are its operands by number, or its results by -2 less their number.
pub const CAPTURES: &str = "phl.captures";

/// Composite: layouts of what its call is given and makes, for hooks of protocol 2, as JSON.
pub const LAYOUTS: &str = "phl.layouts";

/// Argument or result of the network: its name in the model.
pub const NAME: &str = "phl.name";

/// Argument or result of the network: the element type that it had, as numpy spells it.
pub const DTYPE: &str = "phl.dtype";

/// Argument: its role in the function, such as `input`, `output`, `constants` or `arena`.
pub const IO: &str = "phl.io";

/// Value of [`IO`]: a number, which functions of generated C are given by other functions of their target.
pub const NUMBER: &str = "number";

/// Value of [`IO`]: working memory of a device, of which [`MEMORY`] says which one.
pub const DEVICE_ARENA: &str = "device-arena";

/// Value of [`IO`]: the constants in the memory of a device.
pub const DEVICE_CONSTANTS: &str = "device-constants";

/// Call with a device: id of the target whose device it is.
pub const DEVICE: &str = "phl.device";

/// Module: ids of the targets whose devices a run is given, in order.
pub const DEVICES: &str = "phl.devices";

/// Value of [`IO`]: working memory in a pool of the board, of which [`MEMORY`] says which one.
pub const POOL_ARENA: &str = "pool-arena";

/// Value of [`IO`]: the constants in a pool of the board.
pub const POOL_CONSTANTS: &str = "pool-constants";

/// Module: the pools of the board, the fastest first ([`super::board`]).
pub const BOARD: &str = "phl.board";

/// Operation: the pool of the board that the buffer it makes, its scratch memory or the constant it
/// reads is in.
pub const POOL: &str = "phl.pool";

/// Argument: bytes that an arena in a pool or a device's memory has at least, whatever the plan.
pub const LOWER_BOUND: &str = "phl.lower_bound";

/// Argument: the location of the operation that runs when so many bytes of such an arena are in
/// use.
pub const PEAK: &str = "phl.peak";

/// Operation: the buffer that it makes is an input or output of the network ([`super::board::Port`]).
pub const PORT: &str = "phl.port";

/// Argument: offset of an input or output in the pool that [`MEMORY`] names, or of the constants of
/// a device's memory among all.
pub const OFFSET: &str = "phl.offset";

/// Module: the symbols of dimensions that are known at run time, as texts `NAME=RANGE`.
pub const SYMBOLS: &str = "phl.symbols";
/// Argument: the names of its dimensions that are known at run time, with empty texts for the others.
pub const SIZES: &str = "phl.sizes";
/// Argument: its elements, which are sizes: numbers, and names of symbols.
pub const ELEMENTS: &str = "phl.elements";
/// Module: parts of the ranges of sizes that get code of their own, as texts `NAME=RANGE`.
pub const VARIANTS: &str = "phl.variants";
/// Module: the number of such parts, placed where they save the most work.
pub const BUCKETS: &str = "phl.buckets";
/// Module: the part of the work that may be for padding, in percent, which decides on the number of such parts.
pub const WASTE: &str = "phl.waste";
/// Module: symbols and the sizes of inputs and outputs, as JSON.
pub const BOUNDS: &str = "phl.bounds";

/// Module: the inputs of the model that are constants, as JSON.
pub const FIXED_INPUTS: &str = "phl.fixed_inputs";

/// Module: the picture of the plan of memory, as SVG.
pub const PLAN_PICTURE: &str = "phl.plan_picture";

/// Module: memories of devices that values of the network are in ([`super::memory`]).
pub const MEMORIES: &str = "phl.memories";

/// Argument: the memory of a device, or pool of the board, that it is in; the host's if it has none.
pub const MEMORY: &str = "phl.memory";

/// Argument or result of the network: id of the target in whose device's memory programs have it.
pub const BOUND: &str = "phl.bound";

/// Result of the network: name of the input whose buffer it shares, which has its new value after a
/// run.
pub const STATE: &str = "phl.state";

/// Call with `accumulate`: the indices of its `outs` whose old contents matter; all, if it is not
/// there.
pub const OVER: &str = "phl.over";

/// Call: the memory of a device that its scratch memory is in.
pub const SCRATCH_MEMORY: &str = "phl.scratch_memory";

/// Call: the indices of the `ins` in the host's memory although the target has one of its own.
pub const HOST_INS: &str = "phl.host_ins";

/// Module: ids of the targets whose devices are activated around an inference.
pub const CONTEXTS: &str = "phl.contexts";

/// Function of a device: the C function that is called before it, which returns a status.
pub const ACTIVATE: &str = "phl.activate";

/// Function of a device: the C function that is called after it, also when it fails.
pub const DEACTIVATE: &str = "phl.deactivate";

/// Call or function: it is given the session that the device was opened with, not the device.
pub const SESSION: &str = "phl.session";

/// Call: the artifact that it has the device execute.
pub const BLOB: &str = "phl.blob";

/// Module of a target: its functions that are blobs, dictionaries with `function`, `inputs` and
/// `outputs`.
pub const BLOBS: &str = "phl.blobs";

/// Call: the id of the target whose function it is, where that is not the target of the code.
pub const INLINE: &str = "phl.inline";

/// Call of another target's function: the headers of that target, of which one has the body.
pub const INLINE_HEADERS: &str = "phl.inline_headers";

/// Call of another target's function: the indices of its arguments that are buffers of unsigned
/// integers.
pub const UNSIGNED: &str = "phl.unsigned";

/// Module of a host: by target, the C of the functions around bodies of headers.
pub const C_INLINE: &str = "phl.c_inline";

/// Module: the schedules of its targets, which phase tir-schedule applies.
pub const SCHEDULES: &str = "phl.schedules";

/// Argument of a schedule's sequence: the option of its target that is its value.
pub const OPTION: &str = "phl.option";

/// Module: the bytes of all constants.
pub const CONSTANTS: &str = "phl.constants";

/// Operation: its number among those that use buffers, while passes reuse memory.
pub const ACCESS: &str = "phl.access";

/// Operation: numbers of the writes that its reads of buffers may see, while passes reuse memory.
pub const SEES: &str = "phl.sees";

/// Function: size of its arena.
pub const ARENA_BYTES: &str = "phl.arena_bytes";

/// Function: bytes that its arena has at least, whatever the plan.
pub const ARENA_LOWER_BOUND: &str = "phl.arena_lower_bound";

/// Function: the location of the operation that runs when so many bytes of its arena are in use.
pub const ARENA_PEAK: &str = "phl.arena_peak";

/// Function: buffers that it is given may share bytes, also with its arena, if their live ranges
/// are disjoint.
pub const SHARES_BYTES: &str = "phl.shares_bytes";

/// Module: bytes that nothing may touch after each buffer; for checks.
pub const GUARD: &str = "phl.guard";

/// Module: begin and end of each gap of the arena, one after the other.
pub const ARENA_GAPS: &str = "phl.arena_gaps";

/// Module: begin and end of each part of the constants that is made of words of more than one byte, and the
/// bytes of a word.
pub const CONSTANT_WORDS: &str = "phl.constant_words";

/// Module: begin and end of each gap between the constants, one after the other.
pub const CONSTANT_GAPS: &str = "phl.constant_gaps";

/// Module: gaps between the values in memories of devices, dictionaries with `space` and `gaps`.
pub const DEVICE_GAPS: &str = "phl.device_gaps";

/// Module: the index of the choice among the tiles that fit, for `tile-calls`, in place of the
/// cheapest.
pub const TILE_CHOICE: &str = "phl.tile_choice";

/// Call: the tiling of its work.
pub const TILE: &str = "phl.tile";

/// Call: it loads a tile with other elements, and is given these by name besides: numbers, and
/// indices of the arrays among `ins`.
pub const LOAD: &str = "phl.load";

/// Call: it stores a tile, and is given these by name besides: numbers, and indices of the arrays
/// among `ins`.
pub const STORE: &str = "phl.store";

/// Function: the memories on the chip that it has buffers in, by name and size.
pub const POOLS: &str = "tir.pools";

/// Function: the transfers of tiles, one entry for each pool.
pub const DMA: &str = "phl.dma";

/// Function: it is a kernel, whose last arguments are the tasks to do.
pub const KERNEL: &str = "phl.kernel";

/// Function: a kernel that is written in vectors, in which LLVM need look for none.
pub const VECTORIZED: &str = "phl.vectorized";

/// Function: a kernel that uses AMX's registers, for which a process needs the system's leave.
pub const AMX: &str = "phl.amx";

/// Function: a kernel that its device runs, once for each index of a grid. It is launched by a
/// call, and never called.
pub const LAUNCHED: &str = "phl.launched";

/// Call: it launches the kernel of this name with its buffers.
pub const LAUNCH: &str = "phl.launch";

/// Call that launches a kernel: sizes of the grid, three of them, the fastest index first.
pub const GRID: &str = "phl.grid";

/// Function: it only handles its device: [`TRANSFER_COPY`] and the like.
pub const TRANSFER: &str = "phl.transfer";

/// [`TRANSFER`]: copies between the host's memory and the device's.
pub const TRANSFER_COPY: &str = "copy";

/// [`TRANSFER`]: waits for all that was started.
pub const TRANSFER_WAIT: &str = "wait";

/// [`TRANSFER`]: chooses the queue that work is started on.
pub const TRANSFER_SELECT: &str = "select";

/// [`TRANSFER`]: takes a ticket, or waits for one.
pub const TRANSFER_TICKET: &str = "ticket";

/// Call that starts work on a device with several queues: the number of its queue.
pub const QUEUE: &str = "phl.queue";

/// Function: the queue of its device in which it runs, where patterns in it have one.
pub const PINNED: &str = "phl.pinned";

/// Function: its work goes on after it returns, beside other work of its device.
pub const OVERLAPS: &str = "phl.overlaps";

/// Function: the tasks of a kernel that are worth handing to a thread, at least.
pub const GRAIN: &str = "phl.grain";

/// Function: multiplications and additions of all its tasks.
pub const FLOPS: &str = "phl.flops";

/// Module: the steps of the main function as JSON, which a run tells an observer of.
pub const OPERATIONS: &str = "phl.operations";

/// Function: decisions about results that stay in its pools, as JSON (`tile::stay`).
pub const STAYS: &str = "phl.stays";

/// Function: it is a piece of the main function, or of another one, such as the body of a loop.
pub const PIECE: &str = "phl.piece";

/// Module: the signature as JSON, from phase codegen on.
pub const SIGNATURE: &str = "phl.signature";

/// Function or module: files for the package, an array of dictionaries with `name`, `kind` and
/// `data`.
pub const ARTIFACTS: &str = "phl.artifacts";

/// Module of a target whose code is in its artifacts: names of the functions there.
pub const GENERATED: &str = "phl.generated";

/// Function: it is as its target wants it; later hooks pass over it.
pub const FINISHED: &str = "phl.finished";

/// Symbol of the function that marks the place of one that a hook replaces.
pub const HOOK: &str = "phl.hook";

/// Module of host code: name of the CPU.
pub const CPU: &str = "phl.cpu";

/// Module of host code: features of the CPU.
pub const FEATURES: &str = "phl.features";

/// Module of host code: effort of LLVM's optimisation, unless it is the greatest.
pub const OPT_LEVEL: &str = "phl.opt_level";

/// Module that is printed as C: the C type of the target's device, where that is not void.
pub const C_DEVICE: &str = "phl.c_device";

/// Module that is printed as C: headers that it includes besides those that calls name.
pub const C_HEADERS: &str = "phl.c_headers";

/// Module that is printed as C: the C of single operations, as `math.exp f32 my_exp($0)`.
pub const C_EMIT: &str = "phl.c_emit";

/// Module for the LLVM dialect: the C of single operations, as functions that it calls.
pub const C_OPERATIONS: &str = "phl.c_operations";

/// Module in the LLVM dialect: the C of calls whose arguments only a C compiler knows.
pub const C_GLUE: &str = "phl.c_glue";

/// Module in the LLVM dialect: C with the kernels of its functions, and the calls that launch them.
pub const C_KERNELS: &str = "phl.c_kernels";

/// The name of the model that `module` is, or is a part of.
pub fn model_name(module: Op<'_>) -> String {
    super::attr_str(module, MODEL).unwrap_or_else(|| "model".to_owned())
}

/// The name of symbol `name` in the object code of `model`.
pub fn symbol_name(model: &str, name: &str) -> String {
    format!("{model}_{name}")
}

/// The function that loads the constants of a device's memory.
pub fn load_symbol(model: &str, space: &str) -> String {
    symbol_name(model, &format!("{space}_load"))
}

/// The function that ends what a device has started when a run fails.
pub fn settle_symbol(model: &str, space: &str) -> String {
    symbol_name(model, &format!("{space}_settle"))
}

/// The 64-bit FNV-1a hash, which is the same on every machine.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// The names in the constants of this file, but that of a symbol, and those that the dialect
    /// knows.
    #[test]
    fn the_dialect_knows_the_same_names() {
        let known = include_str!("../../dialects/phl/Attributes.def").lines();
        let known = known.filter_map(|line| line.strip_prefix("PHL_ATTRIBUTE(")?.split_once(','));
        let known: BTreeSet<_> = known.map(|(name, _)| format!("phl.{name}")).collect();
        let here = include_str!("names.rs").split("= \"phl.").skip(1);
        let here = here.filter_map(|rest| rest.split_once('"'));
        let here: BTreeSet<_> = here.map(|(name, _)| format!("phl.{name}")).collect();
        let symbols = BTreeSet::from([super::HOOK.to_owned()]);
        assert!(known.len() > 20);
        assert_eq!(here.difference(&symbols).cloned().collect::<BTreeSet<_>>(), known);
    }
}
