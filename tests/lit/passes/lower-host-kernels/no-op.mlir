// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels)" | FileCheck %s

// Products that broadcast every other dimension of the batch, and of vectors, are left to their decomposition.
// CHECK-LABEL: func.func @partial_broadcast
// CHECK: graph.composite "llvm.matmul"
func.func @partial_broadcast(%a: tensor<2x3x6x4x8xf32>, %b: tensor<2x1x6x8x5xf32>) -> tensor<2x3x6x4x5xf32> {
  %0 = graph.matmul %a, %b : (tensor<2x3x6x4x8xf32>, tensor<2x1x6x8x5xf32>) -> tensor<2x3x6x4x5xf32>
  return %0 : tensor<2x3x6x4x5xf32>
}

// CHECK-LABEL: func.func @vectors
// CHECK: graph.composite "llvm.matmul"
func.func @vectors(%a: tensor<8xf32>, %b: tensor<8x5xf32>) -> tensor<5xf32> {
  %0 = graph.matmul %a, %b : (tensor<8xf32>, tensor<8x5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-NOT: tir.call_extern
