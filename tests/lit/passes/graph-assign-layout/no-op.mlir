// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" | FileCheck %s

// Filters of integers that are not constant, images of four spatial dimensions and other element types stay.
// CHECK-NOT: graph.transpose
// CHECK-NOT: graph.composite
func.func @variable(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x1x1xi8>) -> tensor<1x4x8x8xi32> {
  %0 = graph.conv_integer %x, %w : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>) -> tensor<1x4x8x8xi32>
  return %0 : tensor<1x4x8x8xi32>
}

func.func @four(%x: tensor<1x3x8x2x2x2xf32>) -> tensor<1x4x8x2x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x1x1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8x2x2x2xf32>, tensor<4x3x1x1x1x1xf32>) -> tensor<1x4x8x2x2x2xf32>
  return %0 : tensor<1x4x8x2x2x2xf32>
}

func.func @transposed(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x2x2xf32>) -> tensor<1x4x9x9xf32> {
  %0 = graph.conv_transpose %x, %w : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x9x9xf32>
  return %0 : tensor<1x4x9x9xf32>
}

func.func @half(%x: tensor<1x3x8x8xf16>) -> tensor<1x4x8x8xf16> {
  %w = graph.constant dense<0.5> : tensor<4x3x1x1xf16>
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf16>, tensor<4x3x1x1xf16>) -> tensor<1x4x8x8xf16>
  return %0 : tensor<1x4x8x8xf16>
}

func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32> {
  %0 = graph.global_average_pool %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
  return %0 : tensor<1x3x1x1xf32>
}

// A size that is not known is not multiplied with others.
func.func @unknown(%x: tensor<?x3x4x5xf32>) -> tensor<1x3x1x1xf32> {
  %0 = graph.reduce_prod %x axes = [0, 2, 3] : (tensor<?x3x4x5xf32>) -> tensor<1x3x1x1xf32>
  return %0 : tensor<1x3x1x1xf32>
}

func.func @large(%x: tensor<9223372036854775807x3x4x5xf32>) -> tensor<1x3x1x1xf32> {
  %0 = graph.reduce_prod %x axes = [0, 2, 3] : (tensor<9223372036854775807x3x4x5xf32>) -> tensor<1x3x1x1xf32>
  return %0 : tensor<1x3x1x1xf32>
}
