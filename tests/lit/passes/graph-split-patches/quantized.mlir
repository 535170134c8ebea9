// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{max-patches=2}))' | FileCheck %s

// Each layer of each patch has its own dequantized weights, for patterns. Dilated
// windows look two rows over the edge of the other patch.
// CHECK-LABEL: func.func @layers
// CHECK-NOT: tensor<1x8x32x16xi8>
// CHECK: %[[X0:.*]] = graph.slice %arg0, {{.*}} -> tensor<1x2x[[H0:[0-9]+]]x16xf32>
// CHECK: graph.quantize_linear %[[X0]]
// CHECK: %[[W0:.*]] = graph.dequantize_linear %[[W:.*]], %{{.*}} : (tensor<8x2x3x3xi8>
// CHECK: graph.conv %{{.*}}, %[[W0]] pads = [2, 2, 0, 2] dilations = [2, 2]
// CHECK: %[[P0:.*]] = graph.max_pool {{.*}} strides = [4, 4] pads = [0, 0, 0, 0]
// CHECK: %[[Q0:.*]] = graph.quantize_linear %[[P0]]
// CHECK: %[[W1:.*]] = graph.dequantize_linear %[[W]], %{{.*}} : (tensor<8x2x3x3xi8>
// CHECK: graph.conv %{{.*}}, %[[W1]] pads = [0, 2, 2, 2] dilations = [2, 2]
// CHECK: %[[P1:.*]] = graph.max_pool
// CHECK: %[[Q1:.*]] = graph.quantize_linear %[[P1]]
// CHECK: graph.concat %[[Q0]], %[[Q1]] axis = 2
func.func @layers(%x: tensor<1x2x32x16xf32>) -> tensor<1x8x8x4xi8> {
  %s = graph.constant dense<0.1> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %wz = graph.constant dense<0> : tensor<i8>
  %c = graph.constant dense<7> : tensor<8x2x3x3xi8>
  %w = graph.dequantize_linear %c, %s, %wz : (tensor<8x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<8x2x3x3xf32>
  %q = graph.quantize_linear %x, %s, %z : (tensor<1x2x32x16xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x32x16xi8>
  %d = graph.dequantize_linear %q, %s, %z : (tensor<1x2x32x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x32x16xf32>
  %0 = graph.conv %d, %w pads = [2, 2, 2, 2] dilations = [2, 2]
      : (tensor<1x2x32x16xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x32x16xf32>
  %q0 = graph.quantize_linear %0, %s, %z : (tensor<1x8x32x16xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x32x16xi8>
  %d0 = graph.dequantize_linear %q0, %s, %z : (tensor<1x8x32x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x32x16xf32>
  %1 = graph.max_pool %d0 kernel_shape = [4, 4] strides = [4, 4] : (tensor<1x8x32x16xf32>) -> tensor<1x8x8x4xf32>
  %q1 = graph.quantize_linear %1, %s, %z : (tensor<1x8x8x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x8x4xi8>
  return %q1 : tensor<1x8x8x4xi8>
}
