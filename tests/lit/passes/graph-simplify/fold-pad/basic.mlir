// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=fold-pad}))' | FileCheck %s

// CHECK-LABEL: func.func @all_dimensions
// CHECK-NOT: graph.pad
// CHECK: graph.conv %arg0, %arg1 pads = [2, 0, 4, 3]
func.func @all_dimensions(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x12x9xf32> {
  %pads = graph.constant dense<[0, 0, 1, 0, 0, 0, 3, 3]> : tensor<8xi64>
  %p = graph.pad %x, %pads : (tensor<1x3x8x8xf32>, tensor<8xi64>) -> tensor<1x3x12x11xf32>
  %y = graph.conv %p, %w pads = [1, 0, 1, 0]
      : (tensor<1x3x12x11xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x12x9xf32>
  return %y : tensor<1x4x12x9xf32>
}

// CHECK-LABEL: func.func @some_axes
// CHECK-NOT: graph.pad
// CHECK: graph.conv %arg0, %arg1 pads = [0, 1, 0, 2]
func.func @some_axes(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x9xf32> {
  %pads = graph.constant dense<[1, 2]> : tensor<2xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %axes = graph.constant dense<[-1]> : tensor<1xi64>
  %p = graph.pad %x, %pads value %zero axes %axes
      : (tensor<1x3x8x8xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<1x3x8x11xf32>
  %y = graph.conv %p, %w : (tensor<1x3x8x11xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x9xf32>
  return %y : tensor<1x4x6x9xf32>
}
