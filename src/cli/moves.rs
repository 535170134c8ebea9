//! Bytes that tiles move between the host's memory and the pools of devices, as transfers in IR say it.

use super::memory::aligned;
use crate::{
    Result,
    ir::{self, Op, Val, edit, memref, size, tir, view::OpView},
    tile::halves::index_constant,
};
use melior::ir::{Module, ValueLike, block::BlockLike, operation::OperationLike};
use serde::Serialize;
use std::collections::HashSet;

/// The bytes that tiles of a function move in one run of it, to or from a pool.
#[derive(Debug, Default, Serialize)]
pub struct Moves {
    /// The function.
    pub region: String,
    /// The pool.
    pub pool: String,
    /// Bytes that are loaded into it.
    pub loaded: u64,
    /// Bytes of the buffers that they are of, each once.
    pub read: u64,
    /// Bytes that are stored from it.
    pub stored: u64,
    /// Bytes of the buffers that they are of, each once.
    pub written: u64,
    /// Bytes that are left in a pool, as `keep` converts them.
    pub kept: u64,
    #[serde(skip)]
    seen: HashSet<(ir::Id, bool)>,
}

/// The moves of all functions, before their buffers have places. How often a loop of unknown length runs is not known:
/// it counts once.
pub fn moves(module: &Module<'_>) -> Result<Vec<Moves>> {
    let mut all: Vec<Moves> = vec![];
    for function in ir::ops_of(ir::root(module)) {
        let region = ir::attr_str(function, "sym_name").unwrap_or_default();
        for op in edit::walk(function) {
            let Some(start) = tir::DmaStart::of(op) else { continue };
            let (source, target) = (start.source(), start.target());
            let of = |value: Val<'_>| memref::space(value.r#type());
            let (from, to) = (of(source), of(target));
            let Some(pool) = from.clone().or_else(|| to.clone()) else { continue };
            let place = match all.iter().position(|one| one.region == region && one.pool == pool) {
                Some(place) => place,
                None => {
                    all.push(Moves { region: region.clone(), pool, ..Moves::default() });
                    all.len() - 1
                }
            };
            let Some(moves) = all.get_mut(place) else { continue };
            let host = if from.is_none() { source } else { target };
            let bytes = size::bytes(host.r#type()).unwrap_or(0).saturating_mul(rounds(op));
            let buffer = memref::base(host);
            let is_new = moves.seen.insert((ir::id(buffer), from.is_none()));
            let whole = size::bytes(buffer.r#type()).filter(|_| is_new).unwrap_or(0);
            match (from, to) {
                (None, _) => {
                    moves.loaded += bytes;
                    moves.read += whole;
                }
                (_, None) => {
                    moves.stored += bytes;
                    moves.written += whole;
                }
                _ => moves.kept += bytes,
            }
        }
    }
    Ok(all)
}

/// Runs of an operation, by the loops around it.
fn rounds(op: Op<'_>) -> u64 {
    let mut rounds: u64 = 1;
    let mut block = op.block();
    while let Some(around) = block.and_then(|block| block.parent_operation()) {
        if ir::op_name(around) == "scf.for" {
            let operands = ir::operands(around);
            let bound = |place: usize| operands.get(place).and_then(|value| index_constant(*value));
            if let (Some(first), Some(end), Some(step @ 1..)) = (bound(0), bound(1), bound(2)) {
                let count = (end - first + step - 1) / step;
                rounds = rounds.saturating_mul(u64::try_from(count).unwrap_or(0));
            }
        }
        block = around.block();
    }
    rounds
}

/// A row for each function and pool.
pub fn table(all: &[Moves]) -> String {
    let head = ["tiles of", "loaded", "of", "stored", "of", "kept"];
    let mut rows = vec![head.map(str::to_owned)];
    let number = |bytes: u64| if bytes > 0 { bytes.to_string() } else { "-".to_owned() };
    for Moves { region, pool, loaded, read, stored, written, kept, .. } in all {
        let [loaded, read, stored, written, kept] =
            [*loaded, *read, *stored, *written, *kept].map(number);
        rows.push([format!("{region} in {pool}"), loaded, read, stored, written, kept]);
    }
    aligned(&rows)
}
