//! `trace-operations`: a run of the model tells an observer of each finished step.
//!
//! For each step of the main function on planned buffers (a kernel, a call, loops, a copy) the
//! attribute `phl.operations` of the module gets a row: node, target, types, work. Behind each a
//! call of `MODEL_trace(row)` is put, and one of `MODEL_trace(-1)` before the first, so that the
//! time between two calls is what a step took. Neighbours that come from one node and have no
//! kernel are one step.

use crate::{
    artifact::{Means, Operation},
    host::loops::Nest,
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit,
        func::{self, symbol},
        names::{self, KERNEL, model_name, symbol_name},
        print, size, tir,
        view::OpView,
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    ValueLike,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use std::collections::HashMap;

crate::pass_options! {
    /// Options of `trace-operations`.
    pub struct Options {
        calls: bool = "true", "Insert calls of the observer after the steps, in addition to the list";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "trace-operations",
    summary: "List the steps of the main function, and call an observer after each",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Some(main) = func::main(module) else { return Ok(()) };
    let functions = func::functions(module);
    let functions = functions.into_iter().map(|function| (symbol(function), function)).collect();
    let host = ir::attr_str(main, names::TARGET).unwrap_or_else(|| "host".to_owned());
    let apart = module.has_attribute(names::APART);
    let steps = Steps { functions, host, apart }.of(main);
    if options.calls
        && let Some((first, ..)) = steps.first()
    {
        let observer = symbol_name(&model_name(module), "trace");
        call(&observer, &Builder::before(*first)?, -1)?;
        for (row, (_, last, _)) in (0..).zip(&steps) {
            let next = last.next_in_block();
            let next = next.ok_or_else(|| PassError::at(last, "ends the function"))?;
            call(&observer, &Builder::before(next)?, row)?;
        }
    }
    let rows: Vec<Operation> = steps.into_iter().map(|(.., row)| row).collect();
    let text = serde_json::to_string(&rows)
        .map_err(|error| PassError::at(&main, format!("its steps have no JSON form: {error}")))?;
    let text = StringAttribute::new(ir::context_of(module), &text);
    edit::set_attr(module, names::OPERATIONS, text.into());
    Ok(())
}

/// Calls the observer with a row.
fn call<'c>(observer: &str, at: &Builder<'c>, row: i64) -> PassResult<'c> {
    let mut call = CallExtern::new(observer);
    let ty = IntegerType::new(at.context, 32).into();
    call.args.push(IntegerAttribute::new(ty, row).into());
    call.build(at, &[])?;
    Ok(())
}

struct Steps<'c> {
    functions: HashMap<String, Op<'c>>,
    /// Id of the target of the main function.
    host: String,
    /// True if the wait behind a call of a device is part of its step.
    apart: bool,
}

/// The first and the last operation of a step.
type Step<'c> = (Op<'c>, Op<'c>, Operation);

impl<'c> Steps<'c> {
    fn of(&self, main: Op<'c>) -> Vec<Step<'c>> {
        let mut ops = edit::entry_block(main).map(ir::ops).unwrap_or_default();
        // The terminator of the function.
        ops.pop();
        let mut steps: Vec<Step<'c>> = vec![];
        for op in ops {
            if super::split_large_functions::is_free(op) || self.is_order(op) {
                continue;
            }
            let row = self.row(op);
            match steps.last_mut() {
                Some((_, last, before)) if joins(before, &row) => {
                    *last = op;
                    join(before, row);
                }
                Some((_, last, before)) if self.apart && is_waited_for(before, &row) => *last = op,
                _ => steps.push((op, op, row)),
            }
        }
        steps
    }

    /// True for an operation that only orders the work of a queue.
    fn is_order(&self, op: Op<'c>) -> bool {
        let callee = CallExtern::of(op).and_then(|call| self.functions.get(&call.callee).copied());
        let role = callee.and_then(|callee| ir::attr_str(callee, names::TRANSFER));
        role.as_deref() == Some(names::TRANSFER_SELECT)
            || tir::Submit::of(op).is_some()
            || tir::Wait::of(op).is_some_and(|wait| wait.queue().is_some())
    }

    /// The row of an operation that waits for a ticket.
    fn wait(&self, op: Op<'c>, wait: &tir::Wait<'c>) -> Operation {
        let callee = self.functions.get(wait.callee()).copied();
        let target = callee.and_then(|callee| ir::attr_str(callee, names::TARGET));
        let taken = ir::users(wait.tickets()).into_iter().filter_map(tir::Submit::of);
        let taken = taken.filter(|submit| submit.slot() == wait.slot());
        let queue = taken.map(|submit| submit.queue()).next();
        Operation {
            node: node(op),
            target: target.unwrap_or_default(),
            means: Means::Wait,
            code: wait.callee().to_owned(),
            inputs: types(&wait.keeps()),
            outputs: vec![],
            tasks: 1,
            operations: 0,
            bytes: 0,
            queue: queue.and_then(|queue| u64::try_from(queue).ok()),
        }
    }

    fn row(&self, op: Op<'c>) -> Operation {
        if let Some(wait) = tir::Wait::of(op) {
            return self.wait(op, &wait);
        }
        let call = CallExtern::of(op);
        let callee = call.as_ref().and_then(|call| self.functions.get(&call.callee)).copied();
        let (inputs, outputs) = match &call {
            Some(call) => {
                let group = |group: Group| call.groups[group as usize].clone();
                (group(Group::Ins), group(Group::Outs))
            }
            None => buffers(op),
        };
        let bytes = inputs.iter().chain(&outputs).filter_map(|v| size::bytes(v.r#type())).sum();
        let means = match (&call, callee) {
            (Some(_), Some(callee)) if callee.has_attribute(KERNEL) => Means::Kernel,
            (Some(_), Some(callee)) => match ir::attr_str(callee, names::TRANSFER).as_deref() {
                Some("wait") => Means::Wait,
                Some(_) => Means::Transfer,
                None => Means::Call,
            },
            (Some(_), None) => Means::Call,
            _ if ir::op_name(op) == "memref.copy" => Means::Copy,
            _ => Means::Loop,
        };
        let code = match (&call, means) {
            (Some(call), Means::Kernel) => kind(&call.callee),
            (Some(call), _) => call.callee.clone(),
            (None, _) => ir::op_name(op).to_owned(),
        };
        let target = ir::attr_str(op, names::DEVICE)
            .or_else(|| ir::attr_str(op, names::INLINE))
            .or_else(|| ir::attr_str(callee?, names::TARGET))
            .unwrap_or_else(|| self.host.clone());
        let tasks = call.as_ref().filter(|_| means == Means::Kernel).and_then(tasks).unwrap_or(1);
        let flops = callee.and_then(|callee| ir::attr_i64(callee, names::FLOPS));
        let flops = flops.or_else(|| Nest::of(op).map(|nest| nest.operations())).unwrap_or(0);
        Operation {
            node: node(op),
            target,
            means,
            code,
            inputs: types(&inputs),
            outputs: types(&outputs),
            tasks,
            operations: u64::try_from(flops).unwrap_or(0),
            bytes,
            queue: ir::queue::queue_of(op).map(|queue| queue as u64),
        }
    }
}

/// True if a step is the wait for the one before.
fn is_waited_for(before: &Operation, row: &Operation) -> bool {
    (before.means, row.means) == (Means::Call, Means::Wait) && before.target == row.target
}

/// True if two neighbours are one step.
fn joins(before: &Operation, row: &Operation) -> bool {
    let plain = |row: &Operation| matches!(row.means, Means::Loop | Means::Copy);
    plain(before) && plain(row) && before.node == row.node
}

fn join(before: &mut Operation, row: Operation) {
    if !before.code.split(", ").any(|code| code == row.code) {
        before.code = format!("{}, {}", before.code, row.code);
    }
    before.means = if row.means == Means::Copy { before.means } else { row.means };
    // Buffers that an earlier part wrote do not come from outside.
    let new = row.inputs.into_iter().filter(|ty| !before.outputs.contains(ty));
    before.inputs.extend(new.collect::<Vec<_>>());
    before.outputs = row.outputs;
    before.operations += row.operations;
    before.bytes += row.bytes;
}

/// The buffers that an operation without a call reads, and those that it writes.
fn buffers<'c>(op: Op<'c>) -> (Vec<Val<'c>>, Vec<Val<'c>>) {
    let outside = |value: &Val<'c>| ir::is_memref(value.r#type());
    let all: Vec<_> = ir::operands(op).into_iter().filter(outside).collect();
    let first = match op.attribute("operandSegmentSizes").ok().and_then(ir::i64s) {
        Some(sizes) => sizes.first().map_or(0, |ins| *ins as usize),
        None => all.len().saturating_sub(1),
    };
    let first = first.min(all.len());
    (all[..first].to_vec(), all[first..].to_vec())
}

/// `conv` of `k_conv_0123456789abcdef`.
fn kind(callee: &str) -> String {
    let inner = callee.strip_prefix("k_").and_then(|rest| rest.rsplit_once('_'));
    inner.map_or(callee, |(kind, _)| kind).to_owned()
}

/// The tasks of a kernel: the last of its numbers.
fn tasks(call: &CallExtern<'_>) -> Option<u64> {
    let last = call.groups[Group::Scalars as usize].last()?;
    let constant = edit::defining_op(*last)?;
    u64::try_from(ir::attr_i64(constant, "value")?).ok()
}

/// The types of buffers, without their memory.
fn types(buffers: &[Val<'_>]) -> Vec<String> {
    let text = |value: &Val<'_>| {
        let ty = value.r#type();
        let dims: Vec<_> = ir::dims(ty).iter().map(|dim| format!("{dim}x")).collect();
        format!("{}{}", dims.concat(), ir::element_type(ty))
    };
    buffers.iter().map(text).collect()
}

/// The name of the node, or else the place in the file.
fn node(op: Op<'_>) -> String {
    let text = op.location().to_string();
    match text.split('"').nth(1) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => print::place(op.location()),
    }
}
