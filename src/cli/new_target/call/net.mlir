// Division: @NAME@: 2 of 3 operations in 1 regions
// A FileCheck test of the target: lit finds phaseline-opt and FileCheck on PATH.
// RUN: phaseline-opt %s --graph-partition="targets={@NAME@, llvm} target-path=%S" | FileCheck %s

// CHECK: func.func private @{{.*}} attributes {phl.target = "@NAME@"}
// CHECK: graph.composite "@NAME@.conv2d"
// CHECK-SAME: callee = "@C@_conv2d"
// CHECK: func.func @main
// CHECK: graph.sigmoid
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]], [[-1.0]]], [[[0.5]], [[2.0]]], [[[0.0]], [[1.0]]], [[[-3.0]], [[0.25]]]]> : tensor<4x2x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.relu %0 : tensor<1x4x4x4xf32>
  %2 = graph.sigmoid %1 : tensor<1x4x4x4xf32>
  return %2 : tensor<1x4x4x4xf32>
}
