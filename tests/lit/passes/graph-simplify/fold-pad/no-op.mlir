// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=fold-pad}))' | FileCheck %s

// Padding that is not zero.
// CHECK-LABEL: func.func @other_value
// CHECK: graph.pad
func.func @other_value(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %pads = graph.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %one = graph.constant dense<1.0> : tensor<f32>
  %p = graph.pad %x, %pads value %one : (tensor<1x3x8x8xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %y = graph.conv %p, %w : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// Padding that something else reads too.
// CHECK-LABEL: func.func @two_users
// CHECK: graph.pad
func.func @two_users(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>)
    -> (tensor<1x4x8x8xf32>, tensor<1x3x10x10xf32>) {
  %pads = graph.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %p = graph.pad %x, %pads : (tensor<1x3x8x8xf32>, tensor<8xi64>) -> tensor<1x3x10x10xf32>
  %y = graph.conv %p, %w : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %y, %p : tensor<1x4x8x8xf32>, tensor<1x3x10x10xf32>
}

// Channels that are added.
// CHECK-LABEL: func.func @channels
// CHECK: graph.pad
func.func @channels(%x: tensor<1x2x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %pads = graph.constant dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %p = graph.pad %x, %pads : (tensor<1x2x8x8xf32>, tensor<8xi64>) -> tensor<1x3x8x8xf32>
  %y = graph.conv %p, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %y : tensor<1x4x6x6xf32>
}
