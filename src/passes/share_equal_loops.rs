//! `share-equal-loops`: equal loop nests of a long main function become calls of one function.
//!
//! A network that repeats the same work on buffers of the same type, such as thousands of
//! activations, has the same code for each. LLVM and C compilers take time for all of it. A nest
//! does not depend on the places of its buffers, so that one function does for all.

use super::split_large_functions::{weight};
use crate::{
    ir::{
        self, outline::NewFunction, linalg, Blk, Builder, Op, Val,
        call_extern::{CallExtern, Group, segments},
        edit,
        func::{self, Signature},
        memref,
        names::{self, IO, PIECE},
        print,
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
};
use indexmap::IndexMap;
use melior::{
    Context,
    ir::{
        Attribute, ValueLike,
        attribute::StringAttribute,
        operation::OperationLike,
    },
};
use std::collections::{BTreeSet, HashMap, HashSet};

crate::pass_options! {
    /// Options of `share-equal-loops`.
    pub struct Options {
        max_weight: i64 = "384", "Weight as in split-large-functions; main functions short enough to stay whole there are unchanged";
        min_body: i64 = "24", "Least number of operations in a shared nest";
        min_equal: i64 = "3", "Least number of equal nests that become calls";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "share-equal-loops",
    summary: "Outline equal loop nests of a long main function into one shared function",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["func", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Some(main) = func::main(module) else { return Ok(()) };
    let ops = edit::entry_block(main).map(ir::ops).unwrap_or_default();
    let whole: i64 = ops.iter().map(|op| weight(*op)).sum();
    if whole <= options.max_weight.saturating_mul(2) {
        return Ok(());
    }
    let context = ir::context_of(module);
    let mut groups: IndexMap<String, Vec<Nest<'c>>> = IndexMap::new();
    for op in ops {
        if weight(op) >= options.min_body
            && let Some(nest) = Nest::of(op)
        {
            let function = nest.function(context, main)?;
            let text = print::print_alone(function)?;
            edit::erase(function);
            groups.entry(text).or_default().push(nest);
        }
    }
    let mut taken: BTreeSet<String> =
        func::functions(module).into_iter().map(func::symbol).collect();
    let least = usize::try_from(options.min_equal).unwrap_or(0).max(1);
    for (index, nests) in groups.into_values().filter(|nests| nests.len() >= least).enumerate() {
        let name = func::free_symbol(format!("{}_loops{index}", func::symbol(main)), &taken);
        let function = nests[0].function(context, main)?;
        edit::set_attr(function, "sym_name", StringAttribute::new(context, &name).into());
        taken.insert(name.clone());
        for nest in nests {
            nest.become_call(&name)?;
        }
    }
    Ok(())
}

/// A loop nest that may become a function.
struct Nest<'c> {
    op: Op<'c>,
    /// The buffers that it has, each once, with true for one that it writes.
    buffers: Vec<(Val<'c>, bool)>,
    /// Constants that are used inside.
    constants: Vec<Op<'c>>,
}

impl<'c> Nest<'c> {
    /// None for anything but a structured operation on whole buffers that do not overlap.
    fn of(op: Op<'c>) -> Option<Self> {
        if !linalg::is_structured(op) || op.result_count() != 0 {
            return None;
        }
        let mut nest = Self { op, buffers: vec![], constants: vec![] };
        let segments = segments(op)?;
        let inputs = *segments.first()?;
        for (index, operand) in ir::operands(op).into_iter().enumerate() {
            if !ir::is_memref(operand.r#type()) {
                nest.constant(operand)?;
                continue;
            }
            if func::memref_like(operand.r#type()) != operand.r#type() {
                return None;
            }
            match nest.buffers.iter_mut().find(|(buffer, _)| *buffer == operand) {
                Some((_, written)) => *written |= index >= inputs,
                None => nest.buffers.push((operand, index >= inputs)),
            }
        }
        let inner = edit::walk(op);
        let own: HashSet<ir::Id> =
            inner.iter().flat_map(|op| ir::results(*op)).map(ir::id).collect();
        for operand in inner.iter().flat_map(|op| ir::operands(*op)) {
            if edit::defining_op(operand).is_some() && !own.contains(&ir::id(operand)) {
                nest.constant(operand)?;
            }
        }
        let places: HashSet<_> = nest.buffers.iter().map(|(buffer, _)| place(*buffer)).collect();
        (places.len() == nest.buffers.len()).then_some(nest)
    }

    fn constant(&mut self, value: Val<'c>) -> Option<()> {
        let owner = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
        if !self.constants.iter().any(|known| edit::same(*known, owner)) {
            self.constants.push(owner);
        }
        Some(())
    }

    /// A function with the work of the nest, in front of the main function.
    fn function(&self, context: &'c Context, main: Op<'c>) -> PassResult<'c, Op<'c>> {
        let mut signature = Signature { arguments: vec![], results: vec![] };
        let at = Builder::before(main)?;
        for (buffer, written) in &self.buffers {
            let role = if *written { "output" } else { "input" };
            let role = vec![(IO.to_owned(), at.str_attr(role))];
            signature.arguments.push((buffer.r#type(), role));
        }
        let function = NewFunction::private("loops")
            .located(self.op.location())
            .arguments(self.buffers.iter().map(|(buffer, _)| buffer.r#type()))
            .with(PIECE, Attribute::unit(context))
            .like(main, &[names::TARGET, names::POOLS])
            .define(&at, |b, arguments| {
                let mut inside: HashMap<ir::Id, Val<'c>> = HashMap::new();
                let buffers = self.buffers.iter().map(|(buffer, _)| ir::id(buffer));
                inside.extend(buffers.zip(arguments.iter().copied()));
                for constant in &self.constants {
                    let copy = edit::clone_to_end(*constant, b.block());
                    inside.insert(ir::id(ir::result0(*constant)?), ir::result0(copy)?);
                }
                self.copy(b.block(), &inside).map(|()| vec![])
            })?;
        signature.set(context, function);
        Ok(function)
    }

    fn copy(&self, block: Blk<'c>, inside: &HashMap<ir::Id, Val<'c>>) -> PassResult<'c> {
        let copy = edit::clone_to_end(self.op, block);
        for op in edit::walk(copy).into_iter().chain([copy]) {
            for (index, operand) in ir::operands(op).into_iter().enumerate() {
                if let Some(inner) = inside.get(&ir::id(operand)) {
                    edit::set_operand(op, index, *inner)?;
                }
            }
        }
        Ok(())
    }

    fn become_call(self, name: &str) -> PassResult<'c> {
        let at = Builder::before(self.op)?;
        let mut call = CallExtern::new(name);
        for (buffer, written) in self.buffers {
            let group = if written { Group::Outs } else { Group::Ins };
            call.push(at.context, group, buffer);
        }
        // Written buffers may be read before.
        call.set("accumulate", Attribute::unit(at.context));
        call.build(&at, &[])?;
        edit::erase(self.op);
        Ok(())
    }
}

/// Memory of a buffer: two with one place may overlap, while those of different places do not as
/// long as both are in use.
fn place(buffer: Val<'_>) -> (Option<ir::Id>, String) {
    let base = memref::base(buffer);
    match edit::defining_op(base) {
        Some(view) if ir::op_name(view) == "memref.view" => {
            let operands = ir::operands(view);
            let offset = edit::defining_op(operands[1]).and_then(|op| op.attribute("value").ok());
            (Some(ir::id(operands[0])), offset.map_or_else(String::new, |offset| offset.to_string()))
        }
        Some(global) if ir::op_name(global) == "memref.get_global" => {
            (None, func::symbol_ref(global, "name").unwrap_or_default())
        }
        _ => (Some(ir::id(base)), String::new()),
    }
}
