// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" | FileCheck %s

// CHECK-LABEL: func.func @line
// CHECK: graph.transpose %arg0 perm = [0, 2, 1]
// CHECK: graph.composite "nhwc.conv"
// CHECK-SAME: -> tensor<1x8x4xf32>
// CHECK: graph.relu %{{.*}} : tensor<1x8x4xf32>
func.func @line(%x: tensor<1x3x8xf32>) -> tensor<1x4x8xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8xf32>, tensor<4x3x1xf32>) -> tensor<1x4x8xf32>
  %1 = graph.relu %0 : tensor<1x4x8xf32>
  return %1 : tensor<1x4x8xf32>
}

// CHECK-LABEL: func.func @volume
// CHECK: graph.transpose %arg0 perm = [0, 2, 3, 4, 1]
// CHECK: graph.composite "nhwc.conv"
// CHECK: graph.composite "nhwc.max_pool"
// CHECK-SAME: -> tensor<1x2x2x2x4xf32>
func.func @volume(%x: tensor<1x3x4x4x4xf32>) -> tensor<1x4x2x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x4x4x4xf32>, tensor<4x3x1x1x1xf32>) -> tensor<1x4x4x4x4xf32>
  %1 = graph.max_pool %0 kernel_shape = [2, 2, 2] strides = [2, 2, 2]
      : (tensor<1x4x4x4x4xf32>) -> tensor<1x4x2x2x2xf32>
  return %1 : tensor<1x4x2x2x2xf32>
}

// Tokens that become an image, and tokens again, take no more than reshapes.
// CHECK-LABEL: func.func @tokens
// CHECK-NOT: graph.transpose
// CHECK: graph.reshape %arg0, {{.*}} -> tensor<1x4x5x3xf32>
// CHECK: graph.composite "nhwc.conv"
// CHECK: graph.reshape %{{.*}} : (tensor<1x4x5x8xf32>, tensor<3xi64>) -> tensor<1x20x8xf32>
// CHECK: return
func.func @tokens(%x: tensor<1x20x3xf32>) -> tensor<1x20x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x3x1x1xf32>
  %image = graph.constant dense<[1, 3, 4, 5]> : tensor<4xi64>
  %flat = graph.constant dense<[1, 8, 20]> : tensor<3xi64>
  %0 = graph.transpose %x perm = [0, 2, 1] : (tensor<1x20x3xf32>) -> tensor<1x3x20xf32>
  %1 = graph.reshape %0, %image : (tensor<1x3x20xf32>, tensor<4xi64>) -> tensor<1x3x4x5xf32>
  %2 = graph.conv %1, %w : (tensor<1x3x4x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x5xf32>
  %3 = graph.reshape %2, %flat : (tensor<1x8x4x5xf32>, tensor<3xi64>) -> tensor<1x8x20xf32>
  %4 = graph.transpose %3 perm = [0, 2, 1] : (tensor<1x8x20xf32>) -> tensor<1x20x8xf32>
  return %4 : tensor<1x20x8xf32>
}

// A reshape that mixes channels and places reads NCHW.
// CHECK-LABEL: func.func @mixed
// CHECK: graph.composite "nhwc.conv"
// CHECK: graph.transpose %{{.*}} perm = [0, 3, 1, 2]
// CHECK: graph.reshape %{{.*}} -> tensor<1x4x40xf32>
func.func @mixed(%x: tensor<1x3x4x5xf32>) -> tensor<1x40x4xf32> {
  %w = graph.constant dense<0.5> : tensor<8x3x1x1xf32>
  %flat = graph.constant dense<[1, 4, 40]> : tensor<3xi64>
  %0 = graph.conv %x, %w : (tensor<1x3x4x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x5xf32>
  %1 = graph.reshape %0, %flat : (tensor<1x8x4x5xf32>, tensor<3xi64>) -> tensor<1x4x40xf32>
  %2 = graph.transpose %1 perm = [0, 2, 1] : (tensor<1x4x40xf32>) -> tensor<1x40x4xf32>
  return %2 : tensor<1x40x4xf32>
}

// Windows with many columns over the edge read an image with its padding.
// CHECK-LABEL: func.func @edges
// CHECK: %[[PADDED:.*]] = graph.pad
// CHECK-SAME: -> tensor<1x71x3xf32>
// CHECK: graph.composite "nhwc.conv" target("llvm") ({{.*}} = %[[PADDED]],
// CHECK: graph.conv {{.*}} pads = [0, 0]
func.func @edges(%x: tensor<1x3x40xf32>) -> tensor<1x4x40xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x32xf32>
  %0 = graph.conv %x, %w pads = [16, 15] : (tensor<1x3x40xf32>, tensor<4x3x32xf32>) -> tensor<1x4x40xf32>
  return %0 : tensor<1x4x40xf32>
}

// A long column is read like a long row.
// CHECK-LABEL: func.func @column_edges
// CHECK: %[[PADDED:.*]] = graph.pad
// CHECK-SAME: -> tensor<1x71x1x3xf32>
// CHECK: graph.composite "nhwc.conv" target("llvm") ({{.*}} = %[[PADDED]],
// CHECK: graph.conv {{.*}} pads = [0, 0, 0, 0]
func.func @column_edges(%x: tensor<1x3x40x1xf32>, %w: tensor<4x3x32x1xf32>) -> tensor<1x4x40x1xf32> {
  %0 = graph.conv %x, %w pads = [16, 0, 15, 0] : (tensor<1x3x40x1xf32>, tensor<4x3x32x1xf32>) -> tensor<1x4x40x1xf32>
  return %0 : tensor<1x4x40x1xf32>
}

// The four phases of a transposed convolution are channels of one, and then neighbours.
// CHECK-LABEL: func.func @phases
// CHECK: graph.composite "nhwc.conv"
// CHECK-SAME: -> tensor<1x8x8x16xf32>
// CHECK: graph.reshape
// CHECK-SAME: -> tensor<1x8x8x1x2x2x4xf32>
// CHECK: graph.transpose %{{.*}} perm = [0, 1, 4, 2, 5, 3, 6]
// CHECK: graph.reshape
// CHECK-SAME: -> tensor<1x16x16x4xf32>
// CHECK-NOT: graph.slice
func.func @phases(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<3x4x2x2xf32>
  %0 = graph.conv_transpose %x, %w strides = [2, 2]
      : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
  return %0 : tensor<1x4x16x16xf32>
}

// So are those of one of bytes, whose sums are integers; what follows element by element comes
// before the phases are put side by side.
// CHECK-LABEL: func.func @quantized_phases
// CHECK: graph.composite "nhwc.conv_integer"
// CHECK-SAME: tensor<16x3x1x1xi8>
// CHECK-SAME: -> tensor<1x8x8x16xi32>
// CHECK: graph.dequantize_linear
// CHECK: graph.relu
// CHECK: graph.quantize_linear
// CHECK-SAME: -> tensor<1x8x8x16xui8>
// CHECK: graph.transpose %{{.*}} perm = [0, 1, 4, 2, 5, 3, 6]
// CHECK-NOT: graph.conv_transpose
func.func @quantized_phases(%x: tensor<1x3x8x8xui8>) -> tensor<1x4x16x16xui8> {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<3> : tensor<ui8>
  %w = graph.constant dense<7> : tensor<3x4x2x2xi8>
  %scales = graph.constant dense<[0.5, 0.25, 0.125, 1.0]> : tensor<4xf32>
  %0 = graph.dequantize_linear %x, %scale, %zero : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x8x8xf32>
  %1 = graph.dequantize_linear %w, %scales axis = 1 : (tensor<3x4x2x2xi8>, tensor<4xf32>) -> tensor<3x4x2x2xf32>
  %2 = graph.conv_transpose %0, %1 strides = [2, 2]
      : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
  %3 = graph.relu %2 : tensor<1x4x16x16xf32>
  %4 = graph.quantize_linear %3, %scale, %zero : (tensor<1x4x16x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x16x16xui8>
  return %4 : tensor<1x4x16x16xui8>
}
