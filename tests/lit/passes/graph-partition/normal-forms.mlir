// Rules bring what no device takes into forms that devices know; what one takes stays as it is.

// RUN: phaseline-opt %s --pass-pipeline='builtin.module(graph-partition{targets={openblas, llvm}})' -split-input-file | FileCheck %s

// A device of matrix products takes an einsum.
// CHECK-LABEL: func.func @einsum
// CHECK-NOT: graph.einsum
// CHECK: graph.composite "openblas.matmul"
// CHECK-NEXT: graph.matmul
// CHECK-NOT: phl.taken
func.func @einsum(%a: tensor<16x32xf32>, %b: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b : (tensor<16x32xf32>, tensor<32x24xf32>) -> tensor<16x24xf32>
  return %0 : tensor<16x24xf32>
}

// -----

// Operations for which the user demands a place stay.
// CHECK-LABEL: func.func @demanded
// CHECK: graph.einsum
func.func @demanded(%a: tensor<16x32xf32>, %b: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b {phl.target = "llvm"} : (tensor<16x32xf32>, tensor<32x24xf32>) -> tensor<16x24xf32>
  return %0 : tensor<16x24xf32>
}
