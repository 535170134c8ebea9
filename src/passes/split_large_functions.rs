//! `split-large-functions`: a main function with many loops becomes a row of calls.
//!
//! The time that LLVM and C compilers take for a function grows faster than its length, so that a
//! network of thousands of loops in one function takes minutes. The pass cuts the main function
//! into pieces of about one weight. All buffers are arguments and views of them by now, so that a
//! piece needs nothing but some of the arguments. Views and constants are made again in each piece
//! that uses them. Where some other value is used further down, no cut is made.

use crate::{
    ir::{
        self, outline::NewFunction, effects, Blk, Builder, Op, OpSpec, Val,
        call_extern::{CallExtern, Group},
        edit,
        func::{self, Attributes, Signature},
        memref,
        names::{self, IO, NAME, PIECE},
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
};
use melior::{
    Context,
    ir::{
        Attribute, ValueLike,
        operation::OperationLike,
    },
};
use std::collections::{BTreeSet, HashMap, HashSet};

crate::pass_options! {
    /// Options of `split-large-functions`.
    pub struct Options {
        max_weight: i64 = "384", "Approximate number of operations in a piece; functions of at most twice as many stay whole";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "split-large-functions",
    summary: "Cut a long main function on planned buffers into pieces that it calls",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["func", "tir"],
    run,
};

/// True for an operation that only names a buffer, or is a constant, provided that its operands are
/// the same.
pub(super) fn is_free(op: Op<'_>) -> bool {
    memref::is_alias(op) || effects::is_constant(op) || ir::op_name(op) == "arith.constant"
}

/// Weight of an operation besides those inside of it: a loop nest is much more than a line.
const NEST: i64 = 8;

fn run<'c>(module: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Some(main) = func::main(module) else { return Ok(()) };
    let Some(block) = edit::entry_block(main) else { return Ok(()) };
    let plan = Plan::of(block);
    let whole: i64 = plan.fixed.iter().map(|op| weight(*op)).sum();
    if whole <= options.max_weight.saturating_mul(2) {
        return Ok(());
    }
    let pieces = plan.pieces(options.max_weight.max(1));
    if pieces.len() < 2 {
        return Ok(());
    }
    let context = ir::context_of(module);
    let mut taken: BTreeSet<String> =
        func::functions(module).into_iter().map(func::symbol).collect();
    let splitter = Splitter {
        context,
        main,
        signature: Signature::of(main)?,
        arguments: edit::arguments(block).iter().enumerate().map(|(i, v)| (ir::id(*v), i)).collect(),
        free: plan.free.iter().flat_map(|op| ir::results(*op)).map(ir::id).collect(),
    };
    for (index, ops) in pieces.into_iter().enumerate() {
        let stem = format!("{}_piece{index}", func::symbol(main));
        let name = func::free_symbol(stem, &taken);
        taken.insert(name.clone());
        splitter.outline(&name, &ops)?;
    }
    for op in plan.free.into_iter().rev() {
        if ir::users_of(op).is_empty() {
            edit::erase(op);
        }
    }
    Ok(())
}

/// The operations inside of `op` and itself, with something for each nest.
pub(super) fn weight(op: Op<'_>) -> i64 {
    let inner = edit::walk(op).len() as i64;
    match ir::op_name(op) {
        _ if inner > 0 => NEST + inner,
        "memref.copy" => NEST,
        _ => 1,
    }
}

/// Operations of the main function.
struct Plan<'c> {
    /// Views and constants that can be made anywhere.
    free: Vec<Op<'c>>,
    /// All others but the last, which ends the function.
    fixed: Vec<Op<'c>>,
    /// For each of the others, the position of the last one that uses its results.
    last_use: Vec<usize>,
}

impl<'c> Plan<'c> {
    fn of(block: Blk<'c>) -> Self {
        let mut plan = Self { free: vec![], fixed: vec![], last_use: vec![] };
        let mut anywhere: HashSet<ir::Id> = edit::arguments(block).into_iter().map(ir::id).collect();
        let mut definers: HashMap<ir::Id, usize> = HashMap::new();
        let mut ops = ir::ops(block);
        ops.pop();
        for op in ops {
            let free = is_free(op)
                && ir::operands(op).iter().all(|operand| anywhere.contains(&ir::id(*operand)));
            if free {
                anywhere.extend(ir::results(op).into_iter().map(ir::id));
                plan.free.push(op);
                continue;
            }
            let position = plan.fixed.len();
            for user in edit::walk(op).into_iter().chain([op]) {
                for operand in user.operands() {
                    if let Some(definer) = definers.get(&ir::id(operand)) {
                        plan.last_use[*definer] = position;
                    }
                }
            }
            definers.extend(ir::results(op).into_iter().map(|result| (ir::id(result), position)));
            plan.fixed.push(op);
            plan.last_use.push(position);
        }
        plan
    }

    /// Runs of operations of about one weight, between which no value is handed on.
    fn pieces(&self, max_weight: i64) -> Vec<Vec<Op<'c>>> {
        let mut pieces = vec![];
        let (mut piece, mut sum, mut open) = (vec![], 0, 0);
        for (position, op) in self.fixed.iter().enumerate() {
            let next = weight(*op);
            if sum > 0 && sum + next > max_weight && open < position {
                pieces.push(std::mem::take(&mut piece));
                sum = 0;
            }
            sum += next;
            open = open.max(self.last_use[position]);
            piece.push(*op);
        }
        pieces.push(piece);
        pieces
    }
}

struct Splitter<'c> {
    context: &'c Context,
    main: Op<'c>,
    signature: Signature<'c>,
    /// The positions of the main function's arguments.
    arguments: HashMap<ir::Id, usize>,
    /// The results of operations that can be made anywhere.
    free: HashSet<ir::Id>,
}

impl<'c> Splitter<'c> {
    /// Moves operations of the main function into a function of that name, and calls it there.
    fn outline(&self, name: &str, ops: &[Op<'c>]) -> PassResult<'c> {
        let Some(first) = ops.first() else { return Ok(()) };
        let call_at = Builder::before(*first)?;
        let call = call_at.create("func.return", OpSpec::default())?;
        let mut arguments = vec![];
        // Generated C defines functions in this order.
        let at = Builder::before(self.main)?;
        let function = NewFunction::private(name)
            .located(call_at.location)
            .with(PIECE, Attribute::unit(self.context))
            .like(self.main, &[names::TARGET, names::POOLS])
            .define(&at, |b, _| {
                let block = b.block();
                let mut piece =
                    Piece { splitter: self, block, values: HashMap::new(), arguments: vec![] };
                for op in ops {
                    for user in edit::walk(*op).into_iter().chain([*op]) {
                        for (index, operand) in ir::operands(user).into_iter().enumerate() {
                            if let Some(inside) = piece.value(operand)? {
                                edit::set_operand(user, index, inside)?;
                            }
                        }
                    }
                    edit::move_to_end(*op, block);
                }
                arguments = piece.arguments;
                Ok::<_, PassError<'c>>(vec![])
            })?;
        self.describe(function, &arguments);
        self.call(&Builder::before(call)?, name, &arguments)?;
        edit::erase(call);
        Ok(())
    }

    /// Copies the attributes of the main function's arguments to those of a piece.
    fn describe(&self, function: Op<'c>, arguments: &[usize]) {
        let kept = |attributes: &Attributes<'c>| -> Attributes<'c> {
            attributes.iter().filter(|(name, _)| name == IO || name == NAME).cloned().collect()
        };
        let all = &self.signature.arguments;
        let arguments: Vec<_> =
            arguments.iter().map(|index| (all[*index].0, kept(&all[*index].1))).collect();
        let mut roles = arguments.iter().flat_map(|(_, list)| list);
        let is_arena = |(name, role): &(String, Attribute<'c>)| {
            name == IO && edit::string(*role).as_deref() == Some("arena")
        };
        if roles.any(is_arena)
            && let Ok(bytes) = self.main.attribute(names::ARENA_BYTES)
        {
            edit::set_attr(function, names::ARENA_BYTES, bytes);
        }
        Signature { arguments, results: vec![] }.set(self.context, function);
    }

    fn call(&self, at: &Builder<'c>, name: &str, arguments: &[usize]) -> PassResult<'c> {
        let mut call = CallExtern::new(name);
        for index in arguments {
            let Some(value) = func::argument(self.main, *index) else { continue };
            let (ty, attributes) = &self.signature.arguments[*index];
            let role = attributes.iter().find(|(name, _)| name == IO);
            let role = role.and_then(|(_, role)| edit::string(*role)).unwrap_or_default();
            let group = match &*role {
                _ if !ir::is_memref(*ty) => Group::Scalars,
                "input" | "constants" | names::POOL_CONSTANTS => Group::Ins,
                _ => Group::Outs,
            };
            call.push(self.context, group, value);
        }
        // Elements of the arena and the outputs that a piece does not write stay as they are.
        call.set("accumulate", Attribute::unit(self.context));
        call.build(at, &[])?;
        Ok(())
    }
}

/// A function that is being made.
struct Piece<'s, 'c> {
    splitter: &'s Splitter<'c>,
    block: Blk<'c>,
    /// The piece's substitutes for values of the main function.
    values: HashMap<ir::Id, Val<'c>>,
    /// Indices of the main function's arguments that the piece has.
    arguments: Vec<usize>,
}

impl<'c> Piece<'_, 'c> {
    /// The piece's substitute for a value of the main function; `None` for a value that the piece
    /// itself computes.
    fn value(&mut self, value: Val<'c>) -> crate::Result<Option<Val<'c>>> {
        if let Some(known) = self.values.get(&ir::id(value)) {
            return Ok(Some(*known));
        }
        let inside = if let Some(index) = self.splitter.arguments.get(&ir::id(value)) {
            self.arguments.push(*index);
            edit::add_argument(self.block, value.r#type(), self.splitter.main.location())
        } else if let Some(op) = self.free(value) {
            self.copy(op)?
        } else {
            return Ok(None);
        };
        self.values.insert(ir::id(value), inside);
        Ok(Some(inside))
    }

    /// The view or constant that a value is, if that can be made anywhere.
    fn free(&self, value: Val<'c>) -> Option<Op<'c>> {
        edit::defining_op(value).filter(|_| self.splitter.free.contains(&ir::id(value)))
    }

    /// Makes a view or a constant here, with the source of the view.
    fn copy(&mut self, op: Op<'c>) -> crate::Result<Val<'c>> {
        let operands: Vec<_> = ir::operands(op)
            .into_iter()
            .map(|operand| self.value(operand))
            .collect::<crate::Result<_>>()?;
        let copy = edit::clone_to_end(op, self.block);
        for (index, operand) in operands.into_iter().enumerate() {
            if let Some(operand) = operand {
                edit::set_operand(copy, index, operand)?;
            }
        }
        ir::result0(copy)
    }
}
