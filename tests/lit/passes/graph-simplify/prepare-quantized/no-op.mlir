// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=prepare-quantized}))' | FileCheck %s

// Scales of channels do not fit other places of the elements.
// CHECK-LABEL: func.func @per_channel
// CHECK: %[[D:.*]] = graph.dequantize_linear %arg0
// CHECK: graph.transpose %[[D]]
func.func @per_channel(%x: tensor<2x3xi8>, %s: tensor<3xf32>) -> tensor<3x2xf32> {
  %d = graph.dequantize_linear %x, %s : (tensor<2x3xi8>, tensor<3xf32>) -> tensor<2x3xf32>
  %t = graph.transpose %d perm = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %t : tensor<3x2xf32>
}

// Another scale makes other numbers.
// CHECK-LABEL: func.func @rescale
// CHECK: %[[D:.*]] = graph.dequantize_linear %arg0
// CHECK: graph.quantize_linear %[[D]]
func.func @rescale(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %q = graph.quantize_linear %d, %t, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// Somebody reads the reshaped numbers before they are quantized.
// CHECK-LABEL: func.func @read_between
// CHECK: %[[F:.*]] = graph.flatten %arg0
// CHECK: graph.quantize_linear %[[F]]
func.func @read_between(%x: tensor<2x2x2xf32>, %z: tensor<i8>) -> (tensor<2x4xf32>, tensor<2x4xi8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %f = graph.flatten %x : (tensor<2x2x2xf32>) -> tensor<2x4xf32>
  %q = graph.quantize_linear %f, %s, %z : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %f, %q : tensor<2x4xf32>, tensor<2x4xi8>
}
