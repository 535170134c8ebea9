// RUN: phaseline-opt %s --outline-c-kernels=headers=gpu.h | FileCheck %s

// Without a launch there is nothing to print.
// CHECK-NOT: phl.c_kernels
// CHECK: tir.call_extern @gpu_copy
module attributes {phl.model = "net", phl.target = "gpu"} {
  func.func @net_gpu_0(%x: memref<4xf32>, %y: memref<4xf32>) {
    tir.call_extern @gpu_copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    return
  }
}
