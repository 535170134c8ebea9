// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-pack-weights,vanilla-lower))' | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK-NOT: graph.composite
// CHECK: %[[Y:.*]] = tensor.empty() : tensor<1x2x2x2xf32>
// CHECK: tir.call_extern @vanilla_conv2d ins(%arg0, %{{.*}} : tensor<1x1x4x4xf32>, tensor<1x1x72xf32>) outs(%[[Y]] : tensor<1x2x2x2xf32>)
// CHECK-SAME: #tir.struct<"vanilla_conv2d_params", {activation = #tir.name<"VANILLA_RELU6">,
// CHECK-SAME: in_c = 1 : i32, in_h = 4 : i32, in_w = 4 : i32, kernel_h = 3 : i32, kernel_w = 3 : i32,
// CHECK-SAME: out_c = 2 : i32, out_h = 2 : i32, out_w = 2 : i32, pad_left = 1 : i32, pad_top = 0 : i32, stride_h = 1 : i32, stride_w = 2 : i32}>
// CHECK-SAME: #tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, 0 : i32, #tir.arg<outs 0, offset>]
// CHECK-SAME: {header = "vanilla.h", returns_status, vanilla.layer, with_device}
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x3x3xf32>
  %y = graph.composite "vanilla.conv2d" target("vanilla") (%a = %x, %c = %w)
      : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32> {
    %0 = graph.conv %a, %c strides = [1, 2] pads = [0, 1, 0, 1]
        : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32>
    %low = graph.constant dense<0.0> : tensor<f32>
    %high = graph.constant dense<6.0> : tensor<f32>
    %1 = graph.clip %0 min %low max %high : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x2x2xf32>
    graph.yield %1 : tensor<1x2x2x2xf32>
  }
  return %y : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @dense
// CHECK: tir.call_extern @vanilla_dense ins(%arg0, %{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<2x4x8xf32>, tensor<9xf32>)
// CHECK-SAME: #tir.struct<"vanilla_dense_params", {has_bias = 1 : i32, in = 4 : i32, out = 9 : i32, rows = 3 : i32}>
func.func @dense(%x: tensor<3x4xf32>) -> tensor<3x9xf32> {
  %w = graph.constant dense<1.0> : tensor<9x4xf32>
  %b = graph.constant dense<1.0> : tensor<9xf32>
  %y = graph.composite "vanilla.dense" target("vanilla") (%a = %x, %c = %w, %d = %b)
      : (tensor<3x4xf32>, tensor<9x4xf32>, tensor<9xf32>) -> tensor<3x9xf32> {
    %0 = graph.gemm %a, %c, %d trans_b = true : (tensor<3x4xf32>, tensor<9x4xf32>, tensor<9xf32>) -> tensor<3x9xf32>
    graph.yield %0 : tensor<3x9xf32>
  }
  return %y : tensor<3x9xf32>
}

// CHECK-LABEL: func.func @sum
// CHECK: tir.call_extern @vanilla_add ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK-SAME: args [6 : i32, #tir.name<"VANILLA_NONE">, #tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, #tir.arg<outs 0, offset>]
func.func @sum(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.composite "vanilla.add" target("vanilla") (%a = %x, %b = %z)
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = graph.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    graph.yield %0 : tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @activation
// CHECK: tir.call_extern @vanilla_activate ins(%arg0 : tensor<2x3xf32>)
// CHECK-SAME: args [6 : i32, #tir.name<"VANILLA_RELU">, #tir.arg<ins 0, offset>, #tir.arg<outs 0, offset>]
func.func @activation(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.composite "vanilla.relu" target("vanilla") (%a = %x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = graph.relu %a : tensor<2x3xf32>
    graph.yield %0 : tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}
