// An einsum that a device takes as it is does not become a matrix product.

// RUN: phaseline-opt %s --pass-pipeline='builtin.module(graph-partition{targets={opencl, llvm}})' | FileCheck %s

// CHECK-LABEL: func.func private @opencl_0
// CHECK: graph.composite "opencl.einsum"
// CHECK-NEXT: graph.einsum
// CHECK-NOT: phl.taken
func.func @einsum(%a: tensor<16x32xf32>, %b: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b : (tensor<16x32xf32>, tensor<32x24xf32>) -> tensor<16x24xf32>
  return %0 : tensor<16x24xf32>
}
