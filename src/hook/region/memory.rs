//! The device's own memories, and how much of them is left.

use crate::{
    Result,
    ir::{self, edit, memref, size, tir},
    pools::left,
    targets::hooks::Request,
};
use melior::ir::ValueLike;
use serde_json::{Value, json};

/// The memories on the chip (`[[pool]]`). What is in them is there for the time of a call: before they are planned all is
/// left, afterwards what no function has a buffer in.
pub fn own_pools(request: &Request<'_, '_>) -> Result<Vec<Value>> {
    let ops = edit::walk(request.subject);
    let end = |scope: &str| {
        let buffers = ops.iter().filter(|op| ir::op_name(**op) == tir::Buffer::NAME);
        let ends = buffers.filter_map(|op| {
            let ty = ir::result0(*op).ok()?.r#type();
            let offset = ir::attr_i64(*op, "offset")?;
            let bytes = i64::try_from(size::bytes(ty)?).ok()?;
            (memref::space(ty).as_deref() == Some(scope)).then_some(offset + bytes)
        });
        ends.max().unwrap_or(0)
    };
    let pools = request.target.pools()?.into_iter().map(|pool| {
        let left = pool.bytes.map(|bytes| (bytes - end(&pool.scope)).max(0));
        json!({
            "name": pool.name,
            "bytes": pool.bytes,
            "left": left,
            "alignment": pool.alignment,
            "scope": pool.scope,
        })
    });
    Ok(pools.collect())
}

/// The memory that calls take values in (`[memory]`), if the device has one.
pub fn device_memory(request: &Request<'_, '_>) -> Result<Option<Value>> {
    let target = request.target;
    let Some(memory) = &target.kind.memory else { return Ok(None) };
    let bytes = target.memory_bytes()?;
    let taken = left::taken_of_device(request.module, request.subject, &target.id)?;
    let left = bytes.map(|bytes| (bytes as u64).saturating_sub(taken));
    Ok(Some(json!({
        "name": memory.name,
        "bytes": bytes,
        "left": left,
        "alignment": memory.alignment,
    })))
}
