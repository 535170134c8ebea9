// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-quantized-to-integer))" | FileCheck %s

// Scales that are not known, and weights that are no constant, leave a layer as it is.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.dequantize_linear
// CHECK: graph.dequantize_linear
// CHECK: graph.matmul %
// CHECK-NOT: graph.matmul_integer
func.func @unknown(%a: tensor<3x2xi8>, %b: tensor<2x4xi8>, %s: tensor<f32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %t = graph.constant dense<0.5> : tensor<f32>
  %w = graph.constant dense<1> : tensor<2x4xi8>
  %0 = graph.dequantize_linear %a, %s : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %1 = graph.dequantize_linear %w, %t : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
  %2 = graph.matmul %0, %1 : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %3 = graph.dequantize_linear %a, %t : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %4 = graph.dequantize_linear %b, %t : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
  %5 = graph.matmul %3, %4 : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %2, %5 : tensor<3x4xf32>, tensor<3x4xf32>
}

// More elements than can be counted.
// CHECK-LABEL: func.func @uncounted
// CHECK-NOT: graph.matmul_integer
// CHECK: graph.matmul
func.func @uncounted(%a: tensor<3x9223372036854775807xi8>, %s: tensor<f32>) -> tensor<3x4xf32> {
  %w = graph.constant dense<1> : tensor<9223372036854775807x4xi8>
  %0 = graph.dequantize_linear %a, %s : (tensor<3x9223372036854775807xi8>, tensor<f32>) -> tensor<3x9223372036854775807xf32>
  %1 = graph.dequantize_linear %w, %s : (tensor<9223372036854775807x4xi8>, tensor<f32>) -> tensor<9223372036854775807x4xf32>
  %2 = graph.matmul %0, %1 : (tensor<3x9223372036854775807xf32>, tensor<9223372036854775807x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
