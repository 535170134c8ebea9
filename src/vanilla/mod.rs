//! What the passes of the target `vanilla` share: reading layers, packing weights, choosing tiles.

pub mod elementwise;
pub mod emit;
pub mod layer;
pub mod pack;
pub mod params;
pub mod pieces;
pub mod tile;

/// Output channels that weights are packed by; `VANILLA_LANES` in vanilla.h.
pub const LANES: i64 = 8;

/// The vendor's header.
pub const HEADER: &str = "vanilla.h";

/// Marks a `tir.call_extern` that stands for a whole layer, which may be larger than the device
/// takes at once.
pub const LAYER: &str = "vanilla.layer";

/// Attribute of a composite whose last operands are its packed weights and bias.
pub const PACKED: &str = "vanilla.packed";

/// The files of the target kind, by the names that its manifest uses.
pub const FILES: &[(&str, &str)] = &[
    ("target.toml", include_str!("../../pipelines/vanilla/target.toml")),
    ("pre-partition.pipeline", include_str!("../../pipelines/vanilla/pre-partition.pipeline")),
    ("post-partition.pipeline", include_str!("../../pipelines/vanilla/post-partition.pipeline")),
    ("tir-schedule.pipeline", include_str!("../../pipelines/vanilla/tir-schedule.pipeline")),
    ("tir-post.pipeline", include_str!("../../pipelines/vanilla/tir-post.pipeline")),
    ("codegen.pipeline", include_str!("../../pipelines/vanilla/codegen.pipeline")),
    (HEADER, include_str!("../../runtime-c/devices/vanilla/vanilla.h")),
    ("vanilla_kernels.h", include_str!("../../runtime-c/devices/vanilla/vanilla_kernels.h")),
    ("vanilla.c", include_str!("../../runtime-c/devices/vanilla/vanilla.c")),
];
