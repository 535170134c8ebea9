//! Use of memories by a model, for reports.

use super::Signature;
use serde::Serialize;

/// Use of one memory by a model: the arena, a pool of the board, or the memory of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryUse {
    /// Its name.
    pub name: String,
    /// Id of the target whose memory it is; none for the host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Bytes of the values, as they are planned.
    pub values_bytes: usize,
    /// Bytes that the values take at least, whatever the plan; 0 if that is not known.
    pub lower_bound: usize,
    /// The operation that runs when so many bytes are in use, as its place in the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub peak: String,
    /// Bytes of the constants. The host's block includes those that devices' memories are loaded
    /// from.
    pub constants_bytes: usize,
    /// Bytes that there are, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<usize>,
}

impl Signature {
    /// The memories of the model: the arena, or the pools of the board in its place, then those of devices.
    pub fn memories(&self) -> Vec<MemoryUse> {
        let arena = self.pools.is_empty().then(|| MemoryUse {
            name: "arena".to_owned(),
            values_bytes: self.arena_bytes,
            lower_bound: self.arena_lower_bound,
            peak: self.arena_peak.clone(),
            constants_bytes: self.constants_bytes,
            ..Default::default()
        });
        let pools = self.pools.iter().map(|pool| MemoryUse {
            name: pool.name.clone(),
            target: None,
            values_bytes: pool.values_bytes,
            lower_bound: pool.lower_bound,
            peak: pool.peak.clone(),
            constants_bytes: pool.constants_bytes,
            capacity: Some(pool.capacity),
        });
        let devices = self.devices.iter().filter_map(|device| {
            let memory = device.memory.as_ref()?;
            Some(MemoryUse {
                name: memory.space.clone(),
                target: Some(device.target.clone()),
                values_bytes: memory.values_bytes,
                lower_bound: memory.lower_bound,
                peak: memory.peak.clone(),
                constants_bytes: memory.constants_bytes,
                capacity: memory.capacity,
            })
        });
        arena.into_iter().chain(pools).chain(devices).collect()
    }
}
