//! `tile-calls`: cuts calls into pieces whose tiles fit a device's own memory.
//!
//! ```text
//! %y = tir.call_extern @npu_dense ins(%x, %w) outs(%init) args [...] {phl.tile = {...}}
//!   -->  loops around: tiles of %x and %w in the pool, @npu_dense on tiles, its result put into %y
//! ```
//! The part of each tensor that a tile has, and its arguments, are in the plan that the call
//! carries (`crate::tile::plan`), made from a pattern's `[pattern.tile]`. The function declares the
//! transfers to its pools, for `tir-insert-dma` and `tir-lower-dma`.

use crate::{
    ir::{
        self, Builder, Op,
        call_extern::{CallExtern, Group},
        edit, guard,
        names::{self, DMA},
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
    tile::{
        attribute,
        choose::{Choice, Chooser},
        emit::Emitter,
        plan::Plan,
        pool::Pool,
    },
};
use melior::ir::{ValueLike, attribute::ArrayAttribute};

crate::pass_options! {
    /// Options of `tile-calls`.
    pub struct Options {
        sizes: String = "", "Tile sizes in positions, as rows=2:columns=8, which override those of the plans; sizes of other loops are chosen";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-calls",
    summary: "Cut calls into pieces whose tiles fit a device's own memory",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith", "bufferization", "scf", "tensor", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let given = given_sizes(&options.sizes).map_err(PassError::new)?;
    let mut pools: Vec<Pool> = vec![];
    for op in edit::walk(function) {
        let Some(call) = CallExtern::of(op) else { continue };
        let plan = attribute::plan_of(op).map_err(|error| PassError::at(&op, error))?;
        let Some(plan) = plan else { continue };
        tile(op, &call, &plan, &given)?;
        for mut pool in plan.pools {
            pool.taken = 0;
            if pools.iter().all(|known| known.name != pool.name) {
                pools.push(pool);
            }
        }
    }
    if pools.is_empty() { Ok(()) } else { declare(function, &pools) }
}

/// Declares on the function the pools of its tiles, and the transfers to them.
fn declare<'c>(function: Op<'c>, pools: &[Pool]) -> Result<(), PassError<'c>> {
    let b = Builder::before(function)?;
    let mut declared = vec![];
    let mut ways = vec![];
    for pool in pools {
        let Pool { name, bytes, base, alignment, .. } = pool;
        let bytes = bytes.saturating_add(*base);
        declared.push(b.parse_attr(&format!("#tir.pool<{name:?}, {bytes}, {alignment}>"))?);
        ways.push(attribute::to_attribute(&b, pool)?);
    }
    edit::set_attr(function, names::POOLS, ArrayAttribute::new(b.context, &declared).into());
    edit::set_attr(function, DMA, ArrayAttribute::new(b.context, &ways).into());
    Ok(())
}

/// Reads `rows=2:columns=8`.
fn given_sizes(text: &str) -> Result<Vec<(String, i64)>, String> {
    let size = |part: &str| {
        let (name, size) = part.split_once('=')?;
        let size: i64 = size.trim().parse().ok()?;
        (size > 0).then(|| (name.trim().to_owned(), size))
    };
    let parts = text.split(':').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            size(part).ok_or_else(|| {
                format!("tile-calls: '{part}' in sizes is not of the form NAME=POSITIONS")
            })
        })
        .collect()
}

fn tile<'c>(
    op: Op<'c>,
    call: &CallExtern<'c>,
    plan: &Plan,
    given: &[(String, i64)],
) -> Result<(), PassError<'c>> {
    check(op, call, plan)?;
    let reads = call.groups[Group::Ins as usize].len();
    let choice = choose(op, plan, reads, given)?;
    let b = Builder::before(op)?;
    // An uninitialised result may have become that of several calls; each needs its own.
    let mut outputs = vec![];
    for output in &call.groups[Group::Outs as usize] {
        let is_empty =
            edit::defining_op(*output).is_some_and(|op| ir::op_name(op) == "tensor.empty");
        outputs.push(if is_empty { b.empty(output.r#type())? } else { *output });
    }
    let at = |error| PassError::at(&op, error);
    let emitter = Emitter::new(b, call, plan, &choice).map_err(at)?;
    let results = emitter.emit(outputs).map_err(|error| PassError::at(&op, error))?;
    for (old, new) in ir::results(op).into_iter().zip(results) {
        edit::replace_uses(old, new);
    }
    edit::erase(op);
    Ok(())
}

/// Checks that the tensors of the plan are those of the call.
fn check<'c>(op: Op<'c>, call: &CallExtern<'c>, plan: &Plan) -> Result<(), PassError<'c>> {
    let [_, ins, outs] = &call.groups;
    let mut values = ins.iter().chain(outs);
    let is = |dims: &[i64], tensor: &crate::tile::plan::Tensor| {
        let sizes = tensor.dims.iter().map(|dim| dim.size);
        sizes.eq(dims.iter().copied())
    };
    let count = ins.len() + outs.len();
    let mut tensors = plan.tensors.iter();
    let same = tensors.all(|t| values.next().is_some_and(|v| is(&ir::dims(v.r#type()), t)));
    if plan.tensors.len() == count && same {
        return Ok(());
    }
    let fault = "has a phl.tile whose tensors are not those of the call: shapes and order are those \
                 of ins, then outs";
    Err(PassError::at(&op, fault))
}

fn choose<'c>(
    op: Op<'c>,
    plan: &Plan,
    reads: usize,
    given: &[(String, i64)],
) -> Result<Choice, PassError<'c>> {
    let size = |name: &str| given.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
    let mut sizes = vec![];
    for l in &plan.loops {
        let size = size(&l.name).unwrap_or(0);
        if size % l.multiple != 0 {
            let message = format!("is cut in multiples of {} along '{}'", l.multiple, l.name);
            return Err(PassError::at(&op, format!("{message}, not {size}")));
        }
        sizes.push(size);
    }
    let chooser = Chooser::new(plan, reads, &sizes).map_err(|error| PassError::at(&op, error))?;
    let choice = match guard::around(op, names::TILE_CHOICE) {
        Some(number) if given.is_empty() => chooser.any(number as u64),
        _ if given.is_empty() => chooser.decided(),
        _ => chooser.choose(),
    };
    choice.ok_or_else(|| match &plan.tiles {
        Some(tiles) if given.is_empty() => {
            let fault = "has a phl.tile with tiles that do not fit, or against what it requires";
            PassError::at(&op, format!("{fault}: {}", tiles.text(&plan.loop_names())))
        }
        _ => PassError::at(&op, format!("has no tile that {}", chooser.refusal())),
    })
}
