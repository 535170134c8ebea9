// RUN: not phaseline-opt %s --lower-composite-calls 2>&1 | FileCheck %s

// CHECK: has a config that describes no call
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.composite "npu.relu" target("npu") config {callee = "npu_relu", ins = array<i64: 3>}
      (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.relu %a : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
