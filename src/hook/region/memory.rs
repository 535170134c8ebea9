//! The device's own memories, and how much of them is left.

use crate::{
    Result,
    pools::left,
    targets::{TargetInstance, hooks::Request},
};
use serde_json::{Value, json};

/// The memories on the chip (`[[pool]]`). What is in them is there for the time of a call.
pub fn own_pools(target: &TargetInstance) -> Result<Vec<Value>> {
    let pools = target.pools()?.into_iter().map(|pool| {
        json!({
            "name": pool.name,
            "bytes": pool.bytes,
            "left": pool.bytes,
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
