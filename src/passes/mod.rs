//! The table of passes: one file and one line each.

use crate::{
    Result, Session, ffi,
    pass::Pass,
    targets::{self, EmbedderKinds},
};
use phaseline_toolkit::{Dialect, Toolkit, upstream as mlir};
use std::sync::OnceLock;

/// Declares the modules and collects their `PASS` constants.
macro_rules! passes {
    ($($module:ident)*) => {
        $(pub(crate) mod $module;)*
        /// Every pass of this crate that is written in Rust.
        pub static PASSES: &[crate::pass::Pass] = &[$($module::PASS,)*];
    };
}

passes! {
    annotate_llvm_arguments
    annotate_llvm_loops
    apply_hook
    apply_schedules
    assign_memory_spaces
    assign_pools
    assign_sessions
    block_sums
    cascade_calls
    check_reads
    collapse_loops
    convert_extrema_to_llvm
    convert_functions_to_dps
    convert_graph_to_linalg
    convert_llvm_booleans
    convert_strided_copies
    convert_tir_to_llvm
    draw_plan
    encode_command_stream
    erase_memory_spaces
    expand_half_conversions
    expand_math_approximations
    flatten_empty_arguments
    forward_stores
    graph_assign_layout
    graph_bound_sizes
    graph_fuse_host
    graph_outline_loops
    graph_partition
    graph_quantized_to_integer
    graph_simplify
    graph_split_patches
    graph_tabulate
    graph_unsigned_to_signed
    graph_widen_half
    keep_results
    lower_composite_calls
    lower_host_kernels
    lower_queues
    make_entry_point
    materialize_transposes
    order_operations
    outline_c_calls
    outline_c_kernels
    outline_c_operations
    outline_host_loops
    outline_kernels
    overwrite_inputs
    pack_constants
    pad_constants
    pass_pool_offsets
    plan_memory
    poison_dead_buffers
    promote_accumulators
    record_reads
    reuse_elementwise_inputs
    separate_destinations
    separate_readers
    set_c_target
    set_llvm_target
    share_equal_loops
    share_kernel_tasks
    shrink_buffers
    sink_reductions
    skip_padding
    split_by_target
    split_large_functions
    tile_calls
    tir_double_buffer
    tir_insert_dma
    tir_lower_dma
    tir_overlap_stores
    trace_operations
    verify_c
    verify_plan
}

pub(crate) mod aliases;
mod upstream;

pub use pack_constants::constants;

/// Phaseline's dialects and passes, with all of upstream's, as `phaseline-opt` has them. A program grows by some 86 MB, stripped.
// Inlined, so that a program that does not call this does not link them.
#[inline]
pub fn toolkit_with_upstream() -> Toolkit {
    toolkit().clone().all_upstream()
}

/// The parts of upstream that compiles use, and with which pipelines of users and manifests may be written.
fn parts() -> [mlir::Upstream; 18] {
    [
        mlir::affine(),
        mlir::arith(),
        mlir::bufferization(),
        mlir::cf(),
        mlir::complex(),
        mlir::func(),
        mlir::gpu(),
        mlir::index(),
        mlir::linalg(),
        mlir::llvm(),
        mlir::math(),
        mlir::memref(),
        mlir::scf(),
        mlir::tensor(),
        mlir::transform(),
        mlir::transforms(),
        mlir::ub(),
        mlir::vector(),
    ]
}

/// Phaseline's dialects and passes, with the parts of upstream that compiles use.
pub fn toolkit() -> &'static Toolkit {
    static TOOLKIT: OnceLock<Toolkit> = OnceLock::new();
    TOOLKIT.get_or_init(|| {
        // SAFETY: the handles are MLIR's own for these dialects. The inference of both dialects with operations
        // fails on what it cannot read.
        let dialects = unsafe {
            [
                Dialect::from_raw(ffi::mlirGetDialectHandle__graph__()).infers_with_care(),
                Dialect::from_raw(ffi::mlirGetDialectHandle__phl__()),
                Dialect::from_raw(ffi::mlirGetDialectHandle__tir__()).infers_with_care(),
            ]
        };
        // SAFETY: fills MLIR's registry, once.
        unsafe { ffi::phlRegisterNativePasses() };
        targets::check_in_pipelines();
        let toolkit = Toolkit::new("Phaseline's pass driver (mlir-opt with its dialects)");
        let toolkit = toolkit.upstream(parts()).left_out(upstream::LEFT_OUT);
        let toolkit = dialects.into_iter().fold(toolkit, Toolkit::dialect).trust_operations();
        for pass in PASSES.iter().chain(aliases::ALIASES) {
            // The table's names are distinct, as a test checks: only a pass of the program, which it added before
            // ours, can have one of them. That one stays.
            let _ = toolkit.clone().pass(pass);
        }
        toolkit
    })
}

/// Registers a pass of an embedder in MLIR's registry, for the whole process, after all others.
/// Registering a name again is an error, unless it is the same pass.
pub fn register(pass: &'static Pass) -> Result<()> {
    toolkit().clone().pass(pass)?;
    Ok(())
}

impl Session {
    /// Creates a context with Phaseline's dialects and those of upstream that compiles use, and makes their passes known.
    pub fn new() -> Self {
        Self::of(toolkit(), EmbedderKinds::default())
    }

    /// As [`Session::new`], with all of upstream's dialects and passes. A program grows by some 86 MB, stripped.
    // Inlined, so that a program that does not call this does not link them.
    #[inline]
    pub fn with_upstream() -> Self {
        Self::of(&toolkit_with_upstream(), EmbedderKinds::default())
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}
