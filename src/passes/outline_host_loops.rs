//! `outline-host-loops`: loops over buffers become functions that a pool of threads shares.
//!
//! A `linalg.generic` of a host's function moves into a private function of its buffers, as kernels
//! are (`lower-host-kernels`). Equal loops are compiled once, and LLVM sees small functions. Where
//! there is enough to do, one of the parallel loops is cut into tasks, and the function is a
//! kernel, whose tasks `share-kernel-tasks` hands to threads. Each element is computed as before,
//! so that results do not depend on the cut.

use crate::{
    Result,
    host::{
        kernel::{Emitter, Isa},
        loops::{Cut, Nest},
        repeat::Repeat,
        transpose::Transpose,
    },
    ir::{
        self, outline::{NewFunction, Outliner}, Blk, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        capture::{Copy, captured},
        edit, func,
        names::{self, KERNEL},
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    Attribute, ValueLike,
    attribute::ArrayAttribute,
    operation::OperationLike,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "outline-host-loops",
    summary: "Move loops over buffers into functions, which are kernels where there is much to do",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["affine", "arith", "func", "linalg", "llvm", "memref", "scf", "tir", "vector"],
    run,
};

crate::pass_options! {
    /// Options of `outline-host-loops`.
    pub struct Options {
        target: String = "", "Only functions of this target; all if empty";
        min_work: i64 = "512", "Least work of an outlined loop, in elementary operations";
    }
}

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let is_ours = |function: &Op<'c>| {
        let target = ir::attr_str(*function, names::TARGET);
        !function.has_attribute(KERNEL)
            && (options.target.is_empty() || target.is_none_or(|id| id == options.target))
    };
    let isa = Isa::of_module(module);
    let mut outlined = Outlined { module, isa, outliner: Outliner::of(module) };
    for function in func::functions(module).into_iter().filter(is_ours) {
        for op in edit::entry_block(function).map(ir::ops).unwrap_or_default() {
            if let Some(nest) = Nest::of(op)
                && nest.work() >= options.min_work
            {
                let nest = Work::Nest(nest);
                outlined.outline(function, &nest).map_err(|error| PassError::at(&op, error))?;
            } else if let Some(repeat) = Repeat::of(op)
                && repeat.work() >= options.min_work
            {
                let repeat = Work::Repeat(repeat);
                outlined.outline(function, &repeat).map_err(|error| PassError::at(&op, error))?;
            }
        }
    }
    Ok(())
}

/// Loops that move into a function.
enum Work<'c> {
    Nest(Nest<'c>),
    Repeat(Repeat<'c>),
}

impl<'c> Work<'c> {
    fn op(&self) -> Op<'c> {
        match self {
            Work::Nest(nest) => nest.op,
            Work::Repeat(repeat) => repeat.op,
        }
    }

    fn writes(&self) -> Vec<Val<'c>> {
        match self {
            Work::Nest(nest) => nest.writes(),
            Work::Repeat(repeat) => repeat.writes(),
        }
    }

    fn overwrites(&self, value: Val<'c>) -> bool {
        matches!(self, Work::Nest(nest) if nest.overwrites(value))
    }

    fn code(&self, isa: Isa) -> Code {
        match self {
            Work::Nest(nest) => match Transpose::of(nest, isa) {
                Some(transpose) => Code::Transpose(transpose),
                None => Code::Loops(nest.cut()),
            },
            Work::Repeat(repeat) => Code::Repeat(repeat.cut()),
        }
    }
}

/// Body of a function.
enum Code {
    /// The loops as they are, perhaps cut into tasks.
    Loops(Option<Cut>),
    /// A loop with independent iterations, perhaps in tasks of so many.
    Repeat(Option<Cut>),
    Transpose(Transpose),
}

impl Code {
    fn tasks(&self) -> Option<i64> {
        match self {
            Code::Loops(cut) | Code::Repeat(cut) => cut.as_ref().map(Cut::tasks),
            Code::Transpose(transpose) => Some(transpose.tasks()).filter(|tasks| *tasks > 1),
        }
    }
}

struct Outlined<'c> {
    module: Op<'c>,
    isa: Isa,
    outliner: Outliner,
}

impl<'c> Outlined<'c> {
    fn outline(&mut self, function: Op<'c>, work: &Work<'c>) -> Result<()> {
        let op = work.op();
        let Some(buffers) = buffers(op) else { return Ok(()) };
        let (symbol, tasks) = self.function(function, work, &buffers)?;
        let b = Builder::before(op)?;
        let written = work.writes();
        let mut call = CallExtern::new(&symbol);
        let mut keeps = false;
        for base in &buffers {
            let through = written.iter().filter(|value| ir::memref::base(**value) == *base);
            let views: Vec<_> = through.copied().collect();
            let group = if views.is_empty() { Group::Ins } else { Group::Outs };
            // A buffer that is not overwritten as a whole keeps elements, or is read.
            let whole = views == [*base] && work.overwrites(*base);
            keeps |= !views.is_empty() && !whole;
            call.push(b.context, group, *base);
        }
        if let Some(tasks) = tasks {
            call.push(b.context, Group::Scalars, b.index(0)?);
            call.push(b.context, Group::Scalars, b.index(tasks)?);
        }
        if keeps {
            call.set("accumulate", Attribute::unit(b.context));
        }
        call.build(&b, &[])?;
        edit::erase(op);
        Ok(())
    }

    /// The function that runs the loops on these buffers, and its number of tasks if it is a
    /// kernel.
    fn function(
        &mut self,
        of: Op<'c>,
        work: &Work<'c>,
        buffers: &[Val<'c>],
    ) -> Result<(String, Option<i64>)> {
        let code = work.code(self.isa);
        let tasks = code.tasks();
        let body = edit::entry_block(self.module)
            .ok_or_else(|| crate::Error::internal("a module without a body"))?;
        let at = Builder::at_end(ir::context_of(self.module), body, work.op().location());
        let (name, value) = match tasks {
            Some(_) => (KERNEL, Attribute::unit(at.context)),
            // Else LLVM would put the loops back where they come from.
            None => {
                let noinline = [at.str_attr("noinline")];
                ("passthrough", ArrayAttribute::new(at.context, &noinline).into())
            }
        };
        let made = NewFunction::private("outlined")
            .given(buffers)
            .arguments(tasks.iter().flat_map(|_| [at.index_type(); 2]))
            .with(name, value)
            .like(of, &[names::TARGET])
            .define(&at, |b, _| self.fill(b.block(), &code, work, buffers).map(|()| vec![]))?;
        let model = names::model_name(self.module);
        // Kernels are symbols of the object, and a program may have several models.
        let name = |_, text: &str| {
            names::symbol_name(&model, &format!("loops_{:016x}", names::fnv1a(text.as_bytes())))
        };
        Ok((self.outliner.once(made, name)?, tasks))
    }

    /// The body of a function whose arguments are the buffers, and the range of tasks of a kernel.
    fn fill(
        &self,
        block: Blk<'c>,
        code: &Code,
        work: &Work<'c>,
        buffers: &[Val<'c>],
    ) -> Result<()> {
        let arguments = edit::arguments(block);
        let (memrefs, bounds) = arguments.split_at(buffers.len());
        let range = match bounds {
            [lo, hi] => Some((*lo, *hi)),
            _ => None,
        };
        match (code, memrefs) {
            (Code::Transpose(transpose), [from, to]) => {
                let context = ir::context_of(self.module);
                let builder = Builder::at_end(context, block, work.op().location());
                transpose.emit(&Emitter { builder, isa: self.isa }, (*from, *to), range)
            }
            (Code::Transpose(_), _) => {
                Err(crate::Error::internal("a transposition of other than two buffers"))
            }
            (Code::Loops(cut) | Code::Repeat(cut), _) => {
                let mut copy = Copy::to(block);
                for (of, is) in buffers.iter().zip(memrefs) {
                    copy.replace(*of, *is);
                }
                let inside = copy.op(work.op())?;
                let Some((cut, range)) = cut.as_ref().zip(range) else { return Ok(()) };
                let b = Builder::before(inside)?;
                match work {
                    Work::Nest(nest) => cut.apply(&b, nest, inside, range),
                    Work::Repeat(_) => cut.limit(&b, inside, range),
                }
            }
        }
    }
}

/// The buffers that an operation works on, through views that can be made anywhere, each once.
/// `None` if it uses something else that cannot be an argument or be made again.
fn buffers<'c>(op: Op<'c>) -> Option<Vec<Val<'c>>> {
    let mut buffers: Vec<Val<'c>> = vec![];
    for operand in captured(op).into_iter().filter(|operand| !is_constant(*operand)) {
        let base = ir::memref::base(operand);
        let plain = ir::memref::strides(base.r#type())?;
        let dims = ir::static_dims(base.r#type())?;
        if plain != (ir::memref::row_major(&dims), 0) || !views_are_free(operand) {
            return None;
        }
        if !buffers.contains(&base) {
            buffers.push(base);
        }
    }
    Some(buffers)
}

fn is_constant(value: Val<'_>) -> bool {
    edit::defining_op(value).is_some_and(|op| ir::op_name(op) == "arith.constant")
}

/// True if the views between a value and its base depend only on constants.
fn views_are_free(value: Val<'_>) -> bool {
    let mut value = value;
    let base = ir::memref::base(value);
    while value != base {
        let Some(view) = edit::defining_op(value) else { return false };
        let operands = ir::operands(view);
        let Some((source, rest)) = operands.split_first() else { return false };
        if !rest.iter().all(|operand| is_constant(*operand)) {
            return false;
        }
        value = *source;
    }
    true
}
