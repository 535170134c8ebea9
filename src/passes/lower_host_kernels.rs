//! `lower-host-kernels`: composites of the host become calls of kernels.
//!
//! For each composite that has a kernel (`src/host/kernel`) the pass adds the kernel as a private
//! function on buffers, once for all composites that need the same code. It packs constant weights,
//! and puts a `tir.call_extern` of the kernel in place of the composite. A composite without a
//! kernel stays; lowering replaces it by its decomposition.

use crate::{
    Result,
    host::{
        halves,
        joints::{Joints, Place},
        kernel::{
            Buffer, Element, Extensions, Isa, Scheduled, Tiles,
            recognize::{
                Kernel, NHWC, Recognized,
                attention::{Attended, attention},
                recognize_part,
            },
        },
        memory::Memory,
        packed::Packer,
    },
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit, func, graph,
        names::{self, KERNEL},
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "lower-host-kernels",
    summary: "Turn composites of the host into calls of generated vector kernels",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &[
        "arith",
        "bufferization",
        "func",
        "graph",
        "llvm",
        "memref",
        "scf",
        "tensor",
        "tir",
        "vector",
    ],
    run,
};

crate::pass_options! {
    /// Options of `lower-host-kernels`.
    pub struct Options {
        vector_bits: i64 = "0", "Width of the vector registers: 512, 256 or 128; \
            0 for that of the module's CPU";
        byte_products: bool = "false", "With vector-bits: the CPU multiplies bytes and adds up the \
            products (VNNI)";
        byte_matrices: bool = "false", "With vector-bits=512 and byte-products: the CPU multiplies \
            matrices of bytes (AMX)";
        half_products: bool = "false", "With vector-bits=512: the CPU multiplies pairs of bf16 (AVX512-BF16), or \
            matrices of them with byte-matrices (AMX-BF16)";
        byte_tables: bool = "false", "With vector-bits=512: the CPU looks bytes up in vectors of bytes (AVX512-VBMI)";
        plain_integers: bool = "false", "Vectors of 128 bits without instructions that multiply \
            integers and add up the products";
        winograd: i64 = "0", "Results along each axis of the tiles of convolutions by Winograd's algorithm; \
            1 for none, 0 for what is fastest";
        target: String = "", "Only functions of this target; all if empty";
    }
}

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let isa = match options.vector_bits {
        _ if options.plain_integers => Isa::PLAIN,
        0 => Isa::of_module(module),
        bits => {
            let Options { byte_products, byte_matrices, half_products, byte_tables, .. } = options;
            let has = Extensions { byte_products, byte_matrices, half_products, byte_tables };
            Isa::of_vector_bits(bits, has).map_err(PassError::new)?
        }
    };
    if !(0..=6).contains(&options.winograd) {
        let given = options.winograd;
        return Err(PassError::new(format!("winograd must be 0 to 6, but is {given}")));
    }
    let given = (options.winograd != 0).then_some(options.winograd);
    let tiles = Tiles::of(given, constant_bytes(module));
    let (symbols, packer) = (HashMap::new(), Packer::new(isa));
    let memory = Memory::of(module);
    let mut kernels = Kernels { module, isa, tiles, memory, symbols, packer };
    let is_ours = |function: &Op<'c>| {
        options.target.is_empty()
            || ir::attr_str(*function, names::TARGET).is_none_or(|id| id == options.target)
    };
    for function in func::functions(module).into_iter().filter(is_ours) {
        let ops = || edit::entry_block(function).map(ir::ops).unwrap_or_default();
        halves::keep(&ops(), is_candidate, (isa, tiles))?;
        kernels.lower_all(function, &ops())?;
    }
    Ok(())
}

/// Bytes of the constants of a module.
fn constant_bytes(module: Op<'_>) -> i64 {
    let constants = edit::walk(module).into_iter().filter(|op| graph::Constant::is(*op));
    constants.filter_map(|op| Buffer::of(ir::result0(op).ok()?)).map(|buffer| buffer.bytes()).sum()
}

fn is_candidate(op: Op<'_>) -> bool {
    ir::op_name(op) == graph::Composite::NAME
        && ir::attr_str(op, "name")
            .is_some_and(|name| name.starts_with(NHWC) || name.starts_with("llvm."))
}

struct Kernels<'c> {
    module: Op<'c>,
    isa: Isa,
    tiles: Tiles,
    memory: Memory,
    /// Symbols by the keys of kernels: all that their code depends on.
    symbols: HashMap<String, String>,
    packer: Packer,
}

impl<'c> Kernels<'c> {
    /// Lowers the composites among the operations of a function.
    fn lower_all(&mut self, function: Op<'c>, ops: &[Op<'c>]) -> Result<(), PassError<'c>> {
        let mut joints = Joints::of(ops, is_candidate);
        let mut computed = vec![];
        for op in ops {
            let at = |error| PassError::at(op, error);
            if !computed.is_empty() {
                Builder::before(*op).and_then(|b| joints.insert(&b, &computed)).map_err(at)?;
            }
            computed = joints.operands(*op);
            if joints.finish(*op).map_err(at)? {
                continue;
            }
            if is_candidate(*op) {
                self.lower_one(function, *op, &mut joints).map_err(at)?;
            }
        }
        joints.erase();
        Ok(())
    }

    fn lower_one(&mut self, function: Op<'c>, op: Op<'c>, joints: &mut Joints<'c>) -> Result<()> {
        if let Some(found) = attention(op) {
            return self.lower_attention(function, op, &found);
        }
        let place = joints.place(op);
        match recognize_part(op, place.as_ref().map(|place| &place.part)) {
            Some(found) => {
                let place = place.filter(|_| found.placed);
                self.lower(function, op, found, (joints, place))
            }
            None => Ok(()),
        }
    }

    fn lower(
        &mut self,
        function: Op<'c>,
        op: Op<'c>,
        mut found: Recognized<'c>,
        (joints, place): (&mut Joints<'c>, Option<Place>),
    ) -> Result<()> {
        let b = Builder::before(op)?;
        let result = ir::result0(op)?;
        if let Kernel::Contraction(spec) = &mut found.kernel {
            let integers = found.weights.as_ref().and_then(|weights| weights.integers.as_ref());
            spec.amx = integers.and_then(|integers| spec.amx(self.isa, integers));
        }
        let starts = self.packer.starts(&b, op, &mut found)?;
        let tiles = self.tiles.in_memory(self.memory.room(op));
        let narrow = halves::narrow(op, &mut found, (self.isa, tiles))?;
        halves::store(op, &mut found, self.isa)?;
        let x = narrow.map_or_else(|| op.operand(found.x), Ok).map_err(ir::unexpected)?;
        let is_widened = self.widen(op, &mut found, tiles)?;
        let mut ins = vec![if is_widened { widened(&b, x)? } else { x }];
        let kernel = Scheduled::of(&found, self.isa, tiles);
        self.tiles.room -= kernel.growth();
        ins.extend(self.weights(&b, op, &found, &kernel)?);
        ins.extend(starts);
        for operand in &found.operands {
            ins.push(op.operand(*operand).map_err(ir::unexpected)?);
        }
        let mut outs = vec![];
        if let Some(place) = &place {
            outs.push(joints.whole(&b, place)?);
        }
        let own = (!place.as_ref().is_some_and(|place| place.part.alone)).then_some(outs.len());
        if own.is_some() {
            outs.push(b.empty(result.r#type())?);
        }
        if let Some(memory) = kernel.memory() {
            self.memory.take(op, memory.bytes());
            outs.push(b.empty(b.tensor(&memory.shape, memory.element.r#type(&b)))?);
        }
        let all = ins.iter().chain(&outs);
        let buffers: Vec<Buffer> = all.filter_map(|value| Buffer::of(*value)).collect();
        let symbol = self.symbol(function, op, &found, &kernel, &buffers)?;
        let mut call = kernel_call(&b, (&symbol, kernel.tasks()), &ins, &outs)?;
        if place.is_some() {
            call.set("accumulate", Attribute::unit(b.context));
        }
        let types: Vec<Type<'c>> = outs.iter().map(|out| out.r#type()).collect();
        let call = call.build(&b, &types)?;
        let results = ir::results(call);
        if let Some(place) = &place {
            joints.written(place, results[0])?;
        }
        if let Some(own) = own {
            edit::replace_uses(result, results[own]);
        }
        erase_with_constants(op);
        Ok(())
    }

    /// Has a kernel read 16-bit integers where that is faster and there is headroom; true if it
    /// does.
    fn widen(&mut self, op: Op<'c>, found: &mut Recognized<'c>, tiles: Tiles) -> Result<bool> {
        let x = op.operand(found.x).map_err(ir::unexpected)?;
        let may_widen =
            matches!(&found.kernel, Kernel::Contraction(spec) if spec.is_widened(self.isa));
        // Tiles have bytes transformed, and elements of the copy are twice as long.
        let is_widened = may_widen
            && !matches!(Scheduled::of(found, self.isa, tiles), Scheduled::Winograd(_))
            && Buffer::of(x).is_some_and(|image| self.memory.copy(op, found.x, 2 * image.bytes()));
        if let Kernel::Contraction(spec) = &mut found.kernel
            && is_widened
        {
            spec.types.image = Element::I16;
        }
        Ok(is_widened)
    }

    /// The weights of a kernel, packed, and their scales where it has them.
    fn weights(
        &mut self,
        b: &Builder<'c>,
        op: Op<'c>,
        found: &Recognized<'c>,
        kernel: &Scheduled<'_>,
    ) -> Result<Vec<Val<'c>>> {
        let Some(weights) = &found.weights else { return Ok(vec![]) };
        let mut values = vec![self.packer.weights(b, op, kernel, weights)?];
        let factors = weights.scales.as_ref().zip(weights.source);
        if let (Some((scales, source)), Scheduled::Contraction(_, blocking)) = (factors, kernel) {
            values.push(self.packer.constant(b, source.pack_scales(scales, &blocking.channels))?);
        }
        Ok(values)
    }

    /// Attention has two results, the second of which is the memory that tasks work in.
    fn lower_attention(
        &mut self,
        function: Op<'c>,
        op: Op<'c>,
        found: &Attended<'c>,
    ) -> Result<()> {
        let b = Builder::before(op)?;
        let (spec, isa) = (&found.spec, self.isa);
        let blocking = spec.blocking(isa);
        let ins = found.operands().into_iter().map(|operand| op.operand(operand).map_err(ir::unexpected));
        let ins = ins.collect::<Result<Vec<_>>>()?;
        let memory = spec.memory(&blocking);
        let results =
            [ir::result0(op)?.r#type(), b.tensor(&memory.shape, memory.element.r#type(&b))];
        let all = ins.iter().copied().chain([ir::result0(op)?]);
        let buffers: Vec<Buffer> = all.filter_map(Buffer::of).chain([memory]).collect();
        let programs = found.programs();
        let key = format!("{isa:?}{buffers:?}{spec:?}{blocking:?}{}", programs.key());
        let emit = |at, name: &str| spec.emit(at, isa, (name, &buffers), &blocking, &programs);
        let facts = Facts { flops: spec.flops(), grain: 1, amx: false };
        let symbol = self.emitted((function, op), "attention", (key, facts), emit)?;
        let outs = results.iter().map(|ty| b.empty(*ty)).collect::<Result<Vec<_>>>()?;
        let call =
            kernel_call(&b, (&symbol, blocking.tasks()), &ins, &outs)?.build(&b, &results)?;
        edit::replace_uses(ir::result0(op)?, ir::result0(call)?);
        erase_with_constants(op);
        Ok(())
    }

    /// The symbol of the kernel, which is emitted if it does not exist.
    fn symbol(
        &mut self,
        function: Op<'c>,
        op: Op<'c>,
        found: &Recognized<'c>,
        kernel: &Scheduled<'_>,
        buffers: &[Buffer],
    ) -> Result<String> {
        let key = format!("{:?}{buffers:?}{}{}", self.isa, kernel.key(), found.program.key());
        let isa = self.isa;
        let (flops, grain) = (kernel.flops(), kernel.grain(isa, buffers));
        let facts = Facts { flops, grain, amx: kernel.uses_amx() };
        let kind = if let Scheduled::Winograd(_) = kernel { "winograd" } else { found.kind };
        self.emitted((function, op), kind, (key, facts), |at, name| {
            kernel.emit(at, isa, (name, buffers), &found.program)
        })
    }

    /// The symbol of the kernel with this key, which is emitted if it does not exist.
    fn emitted(
        &mut self,
        (function, op): (Op<'c>, Op<'c>),
        kind: &str,
        (key, facts): (String, Facts),
        emit: impl FnOnce(Builder<'c>, &str) -> Result<()>,
    ) -> Result<String> {
        let target = ir::attr_str(function, names::TARGET).unwrap_or_default();
        let key = key + &target;
        if let Some(symbol) = self.symbols.get(&key) {
            return Ok(symbol.clone());
        }
        let name = format!("k_{kind}_{:016x}", names::fnv1a(key.as_bytes()));
        let body = edit::entry_block(self.module)
            .ok_or_else(|| crate::Error::internal("a module without a body"))?;
        let at = Builder::at_end(ir::context_of(op), body, op.location());
        emit(at, &name)?;
        if let Some(emitted) = ir::ops(body).last() {
            // LLVM finds more in loops over tiles of AMX than in those over vectors.
            let kind = if facts.amx { names::AMX } else { names::VECTORIZED };
            for mark in [KERNEL, kind] {
                edit::set_attr(*emitted, mark, Attribute::unit(at.context));
            }
            edit::set_attr(*emitted, names::FLOPS, at.i64_attr(facts.flops));
            if facts.grain > 1 {
                edit::set_attr(*emitted, names::GRAIN, at.i64_attr(facts.grain));
            }
            if !target.is_empty() {
                edit::set_attr(*emitted, names::TARGET, at.str_attr(&target));
            }
        }
        self.symbols.insert(key, name.clone());
        Ok(name)
    }
}

/// Integers of 8 bits as such of 16.
fn widened<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    Ok(graph::Cast::build(b, x, b.int(16), graph::CastAttrs::default())?.y())
}

/// Facts about a kernel for later passes.
struct Facts {
    flops: i64,
    /// Tasks that are worth handing to a thread.
    grain: i64,
    amx: bool,
}

/// A call of a kernel for all its tasks.
fn kernel_call<'c>(
    b: &Builder<'c>,
    (symbol, tasks): (&str, i64),
    ins: &[Val<'c>],
    outs: &[Val<'c>],
) -> Result<CallExtern<'c>> {
    let mut call = CallExtern::new(symbol);
    for (group, values) in [(Group::Ins, ins), (Group::Outs, outs)] {
        values.iter().for_each(|value| call.push(b.context, group, *value));
    }
    call.push(b.context, Group::Scalars, b.index(0)?);
    call.push(b.context, Group::Scalars, b.index(tasks)?);
    Ok(call)
}

/// Erases a composite, and the constants that nothing else uses.
fn erase_with_constants(op: Op<'_>) {
    let definers =
        |op| ir::operands(op).into_iter().filter_map(edit::defining_op).collect::<Vec<_>>();
    let mut operands = definers(op);
    edit::erase(op);
    // Weights that were read as integers leave their dequantization, and that its parameters.
    for dequantized in operands.clone() {
        if graph::DequantizeLinear::is(dequantized) {
            operands.extend(definers(dequantized));
        }
    }
    let mut seen: Vec<Op<'_>> = vec![];
    for definer in operands {
        if seen.iter().any(|other| edit::same(*other, definer)) {
            continue;
        }
        seen.push(definer);
        if (graph::Constant::is(definer) || graph::DequantizeLinear::is(definer))
            && ir::users_of(definer).is_empty()
        {
            edit::erase(definer);
        }
    }
}
