//! Moves the loop nests of a function into kernels.

use super::{Grid, fuse};
use crate::{
    Result,
    ir::{
        self, Blk, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        capture::{Copy, captured},
        edit, effects, func, memref, names,
        outline::{NewFunction, Outliner},
    },
    pass::{PassError, PassResult},
};
use melior::ir::{
    Attribute, ValueLike,
    attribute::{DenseI64ArrayAttribute, StringAttribute},
    operation::OperationLike,
};

/// Makes kernels of all loops in the functions of a target. `launch` is the function that runs one.
pub fn outline<'c>(module: Op<'c>, target: &str, launch: &str) -> PassResult<'c> {
    let outliner = Outliner::of(module);
    let mut outlined = Outlined { module, target, launch, outliner };
    for function in func::functions(module) {
        let ours = ir::attr_str(function, names::TARGET).as_deref() == Some(target);
        if !ours || function.has_attribute(names::LAUNCHED) {
            continue;
        }
        let Some(body) = edit::entry_block(function) else { continue };
        fuse::fuse(body)?;
        for nest in nests(body) {
            outlined.nest(function, &nest)?;
        }
        clean(body);
    }
    Ok(())
}

/// The work of a function: each loop nest, and each row of operations on single elements between two of
/// them, whose order matters.
fn nests<'c>(body: Blk<'c>) -> Vec<Vec<Op<'c>>> {
    fn end<'c>(row: &mut Vec<Op<'c>>, found: &mut Vec<Vec<Op<'c>>>) {
        let last = row.iter().rposition(|op| !stays(*op));
        row.truncate(last.map_or(0, |last| last + 1));
        found.extend((!row.is_empty()).then(|| std::mem::take(row)));
    }
    let mut found = vec![];
    let mut row: Vec<Op<'c>> = vec![];
    let all = ir::ops(body);
    let mut next = 0;
    while let Some(op) = all.get(next).copied() {
        next += 1;
        if op.region_count() > 0 && !ir::users_of(op).is_empty() {
            // Its results stay in the kernel, and values that it may read are read before it.
            let from = row.iter().rposition(|op| !stays(*op)).map_or(0, |last| last + 1);
            let mut nest = row.split_off(from);
            end(&mut row, &mut found);
            let last = last_of(&all, next - 1);
            nest.extend(all[next - 1..=last].iter().filter(|op| !is_of_function(**op)));
            found.push(nest);
            next = last + 1;
        } else if op.region_count() > 0 || is_call(op) {
            end(&mut row, &mut found);
            found.extend((!is_call(op)).then(|| vec![op]));
        } else if !is_of_function(op) {
            row.push(op);
        }
    }
    end(&mut row, &mut found);
    found
}

/// The place of the last of a block's operations that needs what loops and branches from `first` on give; `first` if a
/// call comes before.
fn last_of(all: &[Op<'_>], first: usize) -> usize {
    let mut last = first;
    let mut given: Vec<Op<'_>> = vec![];
    let mut next = first;
    while next <= last {
        let op = all[next];
        if next > first && is_call(op) {
            return first;
        }
        if op.region_count() > 0 || given.iter().any(|other| uses(op, *other)) {
            last = last.max(all.iter().rposition(|later| uses(*later, op)).unwrap_or(last));
            given.push(op);
        }
        next += 1;
    }
    last
}

/// True if an operation, or one in it, uses a result of another.
fn uses(op: Op<'_>, of: Op<'_>) -> bool {
    let is_of = |value: Val<'_>| edit::defining_op(value).is_some_and(|op| edit::same(op, of));
    let mut all = std::iter::once(op).chain(edit::walk(op));
    all.any(|inner| ir::operands(inner).into_iter().any(is_of))
}

/// True if an operation is no work and stays in the function. It calls, gives memory back or ends
/// the function, or its results are computed again where they are used.
pub(super) fn stays(op: Op<'_>) -> bool {
    let is_plain = op.region_count() == 0 && !ir::results(op).is_empty();
    is_plain || is_call(op) || effects::frees(op) || effects::hands_on(op)
}

/// True if an operation is in no kernel: it calls, makes buffers or constants, gives memory back or ends the function.
fn is_of_function(op: Op<'_>) -> bool {
    let makes = effects::is_own(op) || ir::op_name(op) == "arith.constant";
    makes || is_call(op) || effects::frees(op) || effects::hands_on(op)
}

/// Removes scalars that nothing uses any more.
fn clean(body: Blk<'_>) {
    for op in ir::ops(body).into_iter().rev() {
        let is_scalar = op.region_count() == 0 && !ir::results(op).is_empty();
        if is_scalar && effects::only_reads(op) && ir::users_of(op).is_empty() {
            edit::erase(op);
        }
    }
}

struct Outlined<'a, 'c> {
    module: Op<'c>,
    target: &'a str,
    launch: &'a str,
    outliner: Outliner,
}

/// Buffers and loads that a nest uses.
#[derive(Default)]
struct Uses<'c> {
    /// The buffers, each once.
    buffers: Vec<Val<'c>>,
    /// Loads from buffers before the nest.
    loads: Vec<Op<'c>>,
}

impl<'c> Outlined<'_, 'c> {
    /// Makes a kernel of operations, and launches it in their place.
    fn nest(&mut self, function: Op<'c>, ops: &[Op<'c>]) -> PassResult<'c> {
        let Some(op) = ops.last().copied() else { return Ok(()) };
        let inside = |op: &Op<'c>| std::iter::once(*op).chain(edit::walk(*op));
        let all: Vec<Op<'c>> = ops.iter().flat_map(inside).collect();
        let is_ours = |user: &Op<'c>| all.iter().any(|op| edit::same(*op, *user));
        let hands_on =
            |op: &&Op<'c>| op.region_count() > 0 && !ir::users_of(**op).iter().all(is_ours);
        if let Some(op) = ops.iter().find(hands_on) {
            return Err(PassError::at(
                op,
                format!(
                    "gives a value that is no buffer, which kernels of target '{}' cannot hand on; \
                     leave the operation to the host with a condition of the pattern",
                    self.target
                ),
            ));
        }
        let mut private = false;
        for op in ops {
            private |= hoist_buffers(*op)?;
        }
        let mut uses = Uses::default();
        for inner in ops {
            let is_inside = |value: &Val<'c>| {
                let definer = edit::defining_op(*value);
                definer.is_some_and(|definer| ops.iter().any(|op| edit::same(*op, definer)))
            };
            for value in captured(*inner).into_iter().filter(|value| !is_inside(value)) {
                self.visit(op, value, &mut uses)?;
            }
        }
        for load in &uses.loads {
            self.check_unchanged(*load, op)?;
        }
        // Of several operations, each needs what the one before made.
        let grid = Grid::of(op).filter(|_| !private && ops.len() == 1).unwrap_or_else(Grid::one);
        if grid.sizes().contains(&0) {
            edit::erase(op);
            return Ok(());
        }
        let kernel = self.kernel(function, ops, &uses.buffers, &grid)?;
        let written: Vec<_> = ops.iter().flat_map(|op| written(*op)).collect();
        let b = Builder::before(op)?;
        let mut call = CallExtern::new(self.launch);
        for buffer in &uses.buffers {
            let group = if written.contains(buffer) { Group::Outs } else { Group::Ins };
            call.push(b.context, group, *buffer);
        }
        let unit = Attribute::unit(b.context);
        for name in ["with_device", "returns_status", "accumulate"] {
            call.set(name, unit);
        }
        call.set(names::LAUNCH, StringAttribute::new(b.context, &kernel).into());
        let sizes = DenseI64ArrayAttribute::new(b.context, &grid.sizes());
        call.set(names::GRID, sizes.into());
        call.build(&b, &[])?;
        ops.iter().rev().filter(|op| ir::users_of(**op).is_empty()).for_each(|op| edit::erase(*op));
        Ok(())
    }

    /// Follows a value to the buffers that it is computed from.
    fn visit(&self, nest: Op<'c>, value: Val<'c>, uses: &mut Uses<'c>) -> PassResult<'c> {
        let definer = edit::defining_op(value);
        let is_buffer = ir::is_memref(value.r#type());
        if is_buffer && definer.is_none_or(effects::is_own) {
            if !uses.buffers.contains(&value) {
                uses.buffers.push(value);
            }
            return Ok(());
        }
        let Some(op) = definer.filter(|op| op.region_count() == 0 && !is_call(*op)) else {
            return Err(PassError::at(
                &nest,
                format!(
                    "uses a value of type {} that kernels of target '{}' cannot be given",
                    value.r#type(),
                    self.target
                ),
            ));
        };
        if ir::op_name(op) == "memref.load" {
            uses.loads.push(op);
        }
        ir::operands(op).into_iter().try_for_each(|operand| self.visit(nest, operand, uses))
    }

    /// Fails if the buffer of a load is written before the nest that is to read it.
    fn check_unchanged(&self, load: Op<'c>, nest: Op<'c>) -> PassResult<'c> {
        let source = ir::operands(load).first().map(|source| memref::base(*source));
        let mut next = load.next_in_block();
        while let Some(op) = next.filter(|op| !edit::same(*op, nest)) {
            let writes = CallExtern::of(op).map(|call| call.groups[Group::Outs as usize].clone());
            let mut writes = writes.into_iter().flatten();
            if writes.any(|out| Some(memref::base(out)) == source) {
                return Err(PassError::at(
                    &nest,
                    format!(
                        "needs a number that was overwritten since it was read, which kernels of \
                         target '{}' cannot be given; leave the operation to the host",
                        self.target
                    ),
                ));
            }
            next = op.next_in_block();
        }
        Ok(())
    }

    /// The kernel with the work of a nest, made if there is none.
    fn kernel(
        &mut self,
        function: Op<'c>,
        ops: &[Op<'c>],
        buffers: &[Val<'c>],
        grid: &Grid,
    ) -> Result<String> {
        let location = ops.last().map_or_else(|| function.location(), |op| op.location());
        let body = edit::entry_block(self.module)
            .ok_or_else(|| crate::Error::internal("a module without a body"))?;
        let at = Builder::at_end(ir::context_of(self.module), body, location);
        let made = NewFunction::private("kernel")
            .given(buffers)
            .with(names::LAUNCHED, Attribute::unit(at.context))
            .like(function, &[names::TARGET])
            .define(&at, |b, arguments| {
                let mut copy = Copy::to(b.block());
                for (of, is) in buffers.iter().zip(arguments) {
                    copy.replace(*of, *is);
                }
                match ops {
                    [nest] if grid != &Grid::one() => work_item(b, *nest, grid, &mut copy)?,
                    _ => ops.iter().try_for_each(|op| copy.op(*op).map(drop))?,
                }
                Ok::<_, crate::Error>(vec![])
            })?;
        let target = self.target.replace('-', "_");
        self.outliner.once(made, |number, _| format!("{target}_kernel{number}"))
    }
}

/// The inside of a parallel loop, for one index of the grid.
fn work_item<'c>(b: &Builder<'c>, nest: Op<'c>, grid: &Grid, copy: &mut Copy<'c>) -> Result<()> {
    let inside = edit::entry_block(nest)
        .ok_or_else(|| crate::Error::internal("a parallel loop without a body"))?;
    let indices = grid.indices(b)?;
    for (of, is) in edit::arguments(inside).into_iter().zip(indices) {
        copy.replace(of, is);
    }
    for op in ir::ops(inside).into_iter().filter(|op| ir::op_name(*op) != "scf.reduce") {
        copy.op(op)?;
    }
    Ok(())
}

fn is_call(op: Op<'_>) -> bool {
    ir::calls::callee(op).is_some()
}

/// Has the function own the buffers that a nest makes. True if there are any: then iterations share
/// them, and run one after the other.
fn hoist_buffers<'c>(nest: Op<'c>) -> PassResult<'c, bool> {
    let mut found = false;
    for op in edit::walk(nest) {
        if effects::frees(op) {
            edit::erase(op);
        } else if effects::allocates(op) {
            let ty = ir::result0(op)?.r#type();
            if ir::static_dims(ty).is_none() {
                return Err(PassError::at(
                    &op,
                    format!("makes a buffer of type {ty}, whose size is not known when compiling"),
                ));
            }
            if ir::op_name(op) == "memref.alloc" {
                edit::move_before(op, nest);
                found = true;
            }
        }
    }
    Ok(found)
}

/// The buffers that a nest writes.
fn written<'c>(nest: Op<'c>) -> Vec<Val<'c>> {
    let mut found = vec![];
    for op in edit::walk(nest).into_iter().chain([nest]) {
        found.extend(effects::writes(op).into_iter().map(memref::base));
    }
    found
}
