// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-tile{rows=2}))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-tile{in-channels=1}))' | FileCheck %s --check-prefix=CHUNKS
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-tile))' | FileCheck %s --check-prefix=WHOLE

// Three pieces of rows: the first touches the upper border, two in a loop touch none, the last
// touches the lower one. Weights are loaded before all of them.

// CHECK-LABEL: func.func @conv
// CHECK: bufferization.alloc_tensor() copy(%arg1) {memory_space = #tir.space<"scratchpad">} : tensor<1x3x72xf32>
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 3, 3, 8] [1, 1, 1, 1]
// CHECK: tir.call_extern @vanilla_conv2d
// CHECK-SAME: in_h = 3 : i32
// CHECK-SAME: out_h = 2 : i32
// CHECK-SAME: pad_top = 1 : i32
// CHECK: tensor.insert_slice {{.*}}[0, 0, 0, 0] [1, 8, 2, 8]
// CHECK: %[[END:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %{{.*}} : index
// CHECK: tensor.extract_slice %arg0[0, 0, %[[FIRST]], 0] [1, 3, 4, 8]
// CHECK: tir.call_extern @vanilla_conv2d
// CHECK-SAME: in_h = 4 : i32
// CHECK-SAME: pad_top = 0 : i32
// CHECK: scf.yield
// CHECK: tensor.extract_slice %arg0[0, 0, 5, 0] [1, 3, 3, 8]
// CHECK: tensor.insert_slice {{.*}}[0, 0, 6, 0] [1, 8, 2, 8]

// The bias is added in the first chunk of input channels, the activation applied in the last.

// CHUNKS-LABEL: func.func @conv
// CHUNKS: tir.call_extern
// CHUNKS-NOT: activation
// CHUNKS-SAME: has_bias = 1 : i32, in_c = 1 : i32
// CHUNKS: tir.call_extern
// CHUNKS-SAME: accumulate = 1 : i32
// CHUNKS-NOT: has_bias
// CHUNKS: tir.call_extern
// CHUNKS-SAME: accumulate = 1 : i32, activation = #tir.name<"VANILLA_RELU">

// WHOLE-LABEL: func.func @conv
// WHOLE-NOT: scf.for
// WHOLE-COUNT-1: tir.call_extern
// WHOLE: bufferization.materialize_in_destination
// WHOLE-NOT: vanilla.layer
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<1x3x72xf32>, %b: tensor<8xf32>) -> tensor<1x8x8x8xf32> {
  %init = tensor.empty() : tensor<1x8x8x8xf32>
  %y = tir.call_extern @vanilla_conv2d ins(%x, %w, %b : tensor<1x3x8x8xf32>, tensor<1x3x72xf32>, tensor<8xf32>)
      outs(%init : tensor<1x8x8x8xf32>)
      args [#tir.struct<"vanilla_conv2d_params", {in_c = 3 : i32, in_h = 8 : i32, in_w = 8 : i32,
              out_c = 8 : i32, out_h = 8 : i32, out_w = 8 : i32, kernel_h = 3 : i32, kernel_w = 3 : i32,
              stride_h = 1 : i32, stride_w = 1 : i32, dilation_h = 1 : i32, dilation_w = 1 : i32,
              pad_top = 1 : i32, pad_left = 1 : i32, has_bias = 1 : i32,
              activation = #tir.name<"VANILLA_RELU">}>,
            #tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, #tir.arg<ins 2, offset>, #tir.arg<outs 0, offset>]
      {header = "vanilla.h", returns_status, with_device, vanilla.layer} -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}
