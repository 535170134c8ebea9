// Division: @NAME@: 4 of 4 operations in 1 regions
// A FileCheck test of the target: lit finds phaseline-opt and FileCheck on PATH.
// RUN: phaseline-opt %s --graph-partition="targets={@NAME@, llvm} target-path=%S" | FileCheck %s

// CHECK: func.func private @{{.*}} attributes {phl.target = "@NAME@"}
// CHECK: graph.composite "@NAME@.dense"
// CHECK-SAME: callee = "@C@_dense"
// CHECK: graph.softmax
// CHECK: func.func @main
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %w = graph.constant dense<[[1.0, -1.0, 0.5, 2.0], [0.0, 1.0, -3.0, 0.25]]> : tensor<2x4xf32>
  %b = graph.constant dense<[0.5, -0.5, 1.0, 0.0]> : tensor<4xf32>
  %0 = graph.matmul %x, %w : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %1 = graph.add %0, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %2 = graph.relu %1 : tensor<3x4xf32>
  %3 = graph.softmax %2 : tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}
