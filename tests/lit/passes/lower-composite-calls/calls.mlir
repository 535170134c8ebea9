// RUN: phaseline-opt %s --lower-composite-calls | FileCheck %s

// A composite whose config describes a call becomes that call; operands that it does not pass go.
// CHECK-LABEL: func.func @call
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x8xf32>
// CHECK-DAG: %[[W:.*]] = graph.constant dense<2.0
// CHECK-DAG: %[[C:.*]] = graph.constant dense<[3, 4]> : tensor<2xi32>
// CHECK: %[[Y:.*]] = tensor.empty() : tensor<1x4x4x8xf32>
// CHECK: tir.call_extern @npu_scale ins(%[[W]], %[[X]], %[[C]] : {{.*}}) outs(%[[Y]] :
// CHECK-SAME: args [#tir.arg<ins 1>, #tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<ins 2>, 7 : i32, #tir.arg<scratch 0>]
// CHECK-SAME: returns_status
// CHECK-SAME: scratch_bytes = 64
// CHECK-SAME: with_device
// CHECK-NOT: graph.composite
func.func @call(%x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = graph.constant dense<2.0> : tensor<1x1x1x8xf32>
  %y = graph.composite "npu.scale" target("npu") config {
      callee = "npu_scale", args = [#tir.arg<ins 1>, #tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<ins 2>, 7 : i32, #tir.arg<scratch 0>],
      ins = array<i64: 1, 0, -1>, outs = array<i64: 0>, consts = [dense<[3, 4]> : tensor<2xi32>],
      scratch_bytes = 64 : i64, with_device, returns_status} (%a = %x, %b = %w)
      : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32> {
    %0 = graph.mul %a, %b : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
    graph.yield %0 : tensor<1x4x4x8xf32>
  }
  return %y : tensor<1x4x4x8xf32>
}

// Other composites stay.
// CHECK-LABEL: func.func @other
// CHECK: graph.composite "npu.relu"
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.composite "npu.relu" target("npu") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.relu %a : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
