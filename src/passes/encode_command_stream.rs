//! `encode-command-stream`: the calls of a function become one submission of a command stream.
//!
//! ```text
//! %a = tir.call_extern @npu_conv(...); %b = tir.call_extern @npu_add(...)
//!   -->  %b = tir.call_extern @npu_submit(device, stream, bytes, weights, scratch, n, ...)
//! ```
//! This is how a target goes from the graph to its runtime without loops or C in between. Each
//! callee has an opcode; constants are packed into one blob of weights, and what lives between
//! commands is placed in one block of scratch memory. The C function is
//!
//! ```c
//! int submit(device *, const void *stream, int64_t bytes, const void *weights, void *scratch,
//!            int inputs, int outputs, ...);   // then the addresses of inputs and outputs
//! ```
//! and the bytes are those of [`crate::codegen::stream`].

use crate::{
    artifact::{ArtifactKind, files},
    codegen::stream::{Argument, Space, Stream},
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, arg_attr, arg_of, is_null},
        edit, elements, func, graph, size, tir,
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
    plan::{self, Buffer},
    tensor::{AlignedBuffer, BUFFER_ALIGN},
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};
use std::collections::HashMap;

crate::pass_options! {
    /// Options of `encode-command-stream`.
    pub struct Options {
        submit: String = "", "C function that submits a stream";
        opcodes: String = "", "Callees and their numbers: `npu_conv=1 npu_add=2`";
        alignment: i64 = "16", "Alignment of weights and scratch buffers in bytes, a power of two";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "encode-command-stream",
    summary: "Turn the calls of a function into one submission of a command stream",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith", "tensor", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let opcodes = opcodes(&options)?;
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let ops = ir::ops(block);
    let is_call = |op: &Op<'c>| ir::op_name(*op) == tir::CallExtern::NAME;
    let calls: Vec<Op<'c>> = ops.iter().copied().filter(is_call).collect();
    let Some(terminator) = ops.last().copied().filter(|_| !calls.is_empty()) else { return Ok(()) };
    for op in &ops {
        let known = [
            tir::CallExtern::NAME,
            graph::Constant::NAME,
            "arith.constant",
            "tensor.empty",
            "func.return",
        ];
        if !known.contains(&ir::op_name(*op)) {
            return Err(PassError::at(op, "has no place in a command stream; only calls have"));
        }
    }
    let mut encoder = Encoder {
        places: HashMap::new(),
        weights: vec![],
        alignment: options.alignment.max(1) as u64,
        needs_device: false,
    };
    let inputs = edit::arguments(block);
    for (index, input) in inputs.iter().enumerate() {
        encoder.place(*input, Space::Input(index as u16), 0);
    }
    let outputs = ir::operands(terminator);
    for (index, output) in outputs.iter().enumerate() {
        let computed = edit::defining_op(*output).is_some_and(|op| is_call(&op));
        if !computed || !encoder.place(*output, Space::Output(index as u16), 0) {
            return Err(PassError::at(&terminator, "returns what no command computes, or twice"));
        }
    }
    let scratch = encoder.plan(&calls)?;
    let mut stream = Stream::default();
    for call in &calls {
        encoder.command(*call, &opcodes, &mut stream)?;
    }
    submit(&options.submit, terminator, &inputs, &outputs, &encoder, stream.finish(), scratch)?;
    for call in calls.iter().rev() {
        edit::erase(*call);
    }
    Ok(())
}

/// The numbers of the callees.
fn opcodes<'c>(options: &Options) -> Result<HashMap<String, u16>, PassError<'c>> {
    let mut table = HashMap::new();
    for entry in options.opcodes.split_whitespace() {
        let number =
            entry.split_once('=').and_then(|(name, text)| Some((name, text.parse().ok()?)));
        let (name, number) = number.ok_or_else(|| {
            PassError::new(format!("opcodes: '{entry}' is not NAME=NUMBER, as in npu_conv=1"))
        })?;
        table.insert(name.to_owned(), number);
    }
    if options.submit.is_empty() || table.is_empty() {
        return Err(PassError::new("needs the options submit and opcodes"));
    }
    Ok(table)
}

struct Encoder {
    /// Space and offset of each value.
    places: HashMap<ir::Id, (Space, u64)>,
    weights: Vec<u8>,
    alignment: u64,
    needs_device: bool,
}

fn bytes_of<'c>(call: Op<'c>, ty: Type<'c>) -> Result<u64, PassError<'c>> {
    let bytes = size::bytes(ty);
    bytes.ok_or_else(|| PassError::at(&call, format!("has an operand of type {ty} without a size")))
}

impl Encoder {
    /// False if the value has a place already.
    fn place(&mut self, value: Val<'_>, space: Space, offset: u64) -> bool {
        self.places.insert(ir::id(value), (space, offset)).is_none()
    }

    /// Places values that live between commands, and the commands' working memory; returns the
    /// bytes of both.
    fn plan<'c>(&mut self, calls: &[Op<'c>]) -> Result<u64, PassError<'c>> {
        let mut buffers = vec![];
        let mut owners = vec![];
        let at = |op: Op<'c>| calls.iter().position(|call| edit::same(*call, op));
        for (start, call) in calls.iter().enumerate() {
            for result in ir::results(*call) {
                if self.places.contains_key(&ir::id(result)) {
                    continue;
                }
                let end = ir::users(result).into_iter().filter_map(at).max().unwrap_or(start);
                let size = bytes_of(*call, result.r#type())?;
                buffers.push(Buffer::once(size, self.alignment, (start, end)));
                owners.push(ir::id(result));
            }
            if let Some(bytes) = ir::attr_i64(*call, "scratch_bytes") {
                let size = bytes.max(0) as u64;
                buffers.push(Buffer::once(size, self.alignment, (start, start)));
                owners.push(ir::id(*call));
            }
        }
        let plan = plan::plan(&buffers).map_err(|error| PassError::new(error.to_string()))?;
        for (owner, offset) in owners.into_iter().zip(&plan.offsets) {
            self.places.insert(owner, (Space::Scratch, *offset));
        }
        Ok(plan.peak)
    }

    fn command<'c>(
        &mut self,
        op: Op<'c>,
        opcodes: &HashMap<String, u16>,
        stream: &mut Stream,
    ) -> Result<(), PassError<'c>> {
        let call = CallExtern::of(op).ok_or_else(|| PassError::at(&op, "is malformed"))?;
        let opcode = opcodes.get(&call.callee).ok_or_else(|| {
            PassError::at(&op, format!("calls {}, which has no opcode", call.callee))
        })?;
        self.needs_device |= op.has_attribute("with_device");
        let results = ir::results(op);
        let mut arguments = vec![];
        for argument in &call.args {
            arguments.push(match arg_of(*argument) {
                Some((Group::Ins, index, _)) => self.buffer(op, call.groups[1][index])?,
                Some((Group::Outs, index, _)) => self.buffer(op, results[index])?,
                Some((Group::Scratch, ..)) => {
                    let size = ir::attr_i64(op, "scratch_bytes").unwrap_or_default();
                    match self.places.get(&ir::id(op)) {
                        Some((space, offset)) => Argument::Buffer(*space, *offset, size as u32),
                        None => Argument::Null,
                    }
                }
                Some((Group::Scalars, ..)) => {
                    return Err(PassError::at(&op, "passes a number that is not constant"));
                }
                None => literal(op, *argument)?,
            });
        }
        stream.push(*opcode, &arguments);
        Ok(())
    }

    fn buffer<'c>(&mut self, op: Op<'c>, value: Val<'c>) -> Result<Argument, PassError<'c>> {
        let size = bytes_of(op, value.r#type())?;
        if !self.places.contains_key(&ir::id(value)) {
            let constant = edit::defining_op(value).and_then(|op| op.attribute("value").ok());
            let constant =
                constant.ok_or_else(|| PassError::at(&op, "has an operand that has no place"))?;
            let bytes = elements::bytes(constant)?;
            let offset = (self.weights.len() as u64).next_multiple_of(self.alignment);
            self.weights.resize(offset as usize, 0);
            self.weights.extend_from_slice(&bytes);
            self.place(value, Space::Weights, offset);
        }
        let (space, offset) = self.places[&ir::id(value)];
        let size =
            u32::try_from(size).map_err(|_| PassError::at(&op, "has a buffer over 4 GiB"))?;
        Ok(Argument::Buffer(space, offset, size))
    }
}

fn literal<'c>(op: Op<'c>, argument: Attribute<'c>) -> Result<Argument, PassError<'c>> {
    if let Some(value) = ir::attribute::int(argument) {
        return Ok(Argument::Int(value));
    }
    if let Some(value) = ir::attribute::float(argument) {
        return Ok(Argument::Float(value));
    }
    if is_null(argument) {
        return Ok(Argument::Null);
    }
    Err(PassError::at(&op, format!("passes {argument}, which has no form in a command stream")))
}

/// Calls the function that takes the stream, and lets the function return its results.
fn submit<'c>(
    callee: &str,
    terminator: Op<'c>,
    inputs: &[Val<'c>],
    outputs: &[Val<'c>],
    encoder: &Encoder,
    stream: Vec<u8>,
    scratch: u64,
) -> Result<(), PassError<'c>> {
    let b = Builder::before(terminator)?;
    let mut call = CallExtern::new(callee);
    let length = stream.len();
    let null = b.parse_attr("#tir.name<\"NULL\">")?;
    let stream = blob(&b, "stream", &stream)?;
    keep(terminator, "cmd", ArtifactKind::CommandStream, stream)?;
    call.push(b.context, Group::Ins, stream);
    call.args.push(b.i64_attr(length as i64));
    match encoder.weights.is_empty() {
        true => call.args.push(null),
        false => {
            let weights = blob(&b, "weights", &encoder.weights)?;
            keep(terminator, "img", ArtifactKind::MemoryImage, weights)?;
            call.push(b.context, Group::Ins, weights);
        }
    }
    call.args.push(if scratch == 0 { null } else { arg_attr(b.context, Group::Scratch, 0) });
    call.args.push(b.parse_attr(&format!("{} : i32", inputs.len()))?);
    call.args.push(b.parse_attr(&format!("{} : i32", outputs.len()))?);
    for input in inputs {
        call.push(b.context, Group::Ins, *input);
    }
    let types: Vec<_> = outputs.iter().map(|output| output.r#type()).collect();
    for ty in &types {
        call.push(b.context, Group::Outs, b.empty(*ty)?);
    }
    if scratch > 0 {
        call.set("scratch_bytes", b.i64_attr(scratch as i64));
    }
    call.set("returns_status", Attribute::unit(b.context));
    if encoder.needs_device {
        call.set("with_device", Attribute::unit(b.context));
    }
    let made = call.build(&b, &types)?;
    for (index, result) in ir::results(made).into_iter().enumerate() {
        edit::set_operand(terminator, index, result)?;
    }
    Ok(())
}

/// Lets the package have a file with the content of a blob, named after the function.
fn keep<'c>(
    terminator: Op<'c>,
    extension: &str,
    kind: ArtifactKind,
    blob: Val<'c>,
) -> crate::Result<()> {
    let function = terminator.parent_operation();
    let data = edit::defining_op(blob).and_then(|op| op.attribute("value").ok());
    let (Some(function), Some(data)) = (function, data) else { return Ok(()) };
    let name = format!("{}.{extension}", func::symbol(function));
    files::attach(function, &name, kind, data)
}

fn blob<'c>(b: &Builder<'c>, name: &str, bytes: &[u8]) -> crate::Result<Val<'c>> {
    let ty = b.tensor(&[bytes.len() as i64], b.int(8));
    let name = elements::name_in(b, name);
    let value = elements::resource(ty, &name, AlignedBuffer::copy_of(bytes)?, BUFFER_ALIGN)?;
    b.op1_with("arith.constant", &[], ty, vec![("value", value)])
}
