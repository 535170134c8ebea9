//! The table of passes: one file and one line each.

/// Declares the modules and collects their `PASS` constants.
macro_rules! passes {
    ($($module:ident)*) => {
        $(pub mod $module;)*
        /// Every pass of this crate that is written in Rust.
        pub static PASSES: &[crate::pass::Pass] = &[$($module::PASS,)*];
    };
}

passes! {
    annotate_llvm_arguments
    apply_hook
    convert_functions_to_dps
    convert_graph_to_linalg
    convert_strided_copies
    convert_tir_to_emitc
    convert_tir_to_llvm
    encode_command_stream
    graph_assign_layout
    graph_fold_batch_norm
    graph_fold_pad
    graph_fuse_host
    graph_partition
    graph_prepare_quantized
    lower_composite_calls
    lower_host_kernels
    make_entry_point
    pack_constants
    pad_constants
    plan_memory
    reuse_elementwise_inputs
    separate_destinations
    set_llvm_target
    share_kernel_tasks
    split_by_target
    tile_calls
    tir_double_buffer
    tir_insert_dma
    tir_lower_dma
}
