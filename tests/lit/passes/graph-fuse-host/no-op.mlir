// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host))" | FileCheck %s

// CHECK-NOT: graph.composite
func.func @elementwise(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.relu %x : tensor<4x8xf32>
  %1 = graph.add %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

func.func @integers(%x: tensor<4x8xi32>, %w: tensor<8x8xi32>) -> tensor<4x8xi32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xi32>, tensor<8x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
