// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls))' | FileCheck %s

// Calls without a plan stay as they are.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: phl.dma
// CHECK: %[[Y:.*]] = tir.call_extern @npu_relu ins(%arg0 : tensor<8xf32>) outs(%arg1 : tensor<8xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @plain(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = tir.call_extern @npu_relu ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8xf32>
  return %y : tensor<8xf32>
}
