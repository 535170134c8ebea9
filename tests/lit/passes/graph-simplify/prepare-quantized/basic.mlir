// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=prepare-quantized}))' | FileCheck %s

// Every layer gets the dequantization of its own input.
// CHECK-LABEL: func.func @shared_input
// CHECK: %[[C:.*]] = graph.dequantize_linear %arg0
// CHECK-NEXT: %[[A:.*]] = graph.dequantize_linear %arg0
// CHECK-NEXT: graph.relu %[[A]]
// CHECK-NEXT: %[[B:.*]] = graph.dequantize_linear %arg0
// CHECK-NEXT: graph.mul %[[B]], %[[C]]
func.func @shared_input(%x: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %d = graph.dequantize_linear %x, %s : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %a = graph.relu %d : tensor<4xf32>
  %b = graph.mul %d, %d : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A reshape leaves the layer before it, and the one behind it. The pair between them goes.
// CHECK-LABEL: func.func @reshape_between
// CHECK: %[[P:.*]] = graph.max_pool
// CHECK: %[[Q:.*]] = graph.quantize_linear %[[P]], %{{.*}} -> tensor<1x2x2x2xi8>
// CHECK-NEXT: %[[F:.*]] = graph.flatten %[[Q]] : (tensor<1x2x2x2xi8>) -> tensor<1x8xi8>
// CHECK-NEXT: %[[U:.*]] = graph.unsqueeze %[[F]]{{.*}} -> tensor<1x1x8xi8>
// CHECK-NEXT: %[[D:.*]] = graph.dequantize_linear %[[U]], %{{.*}} -> tensor<1x1x8xf32>
// CHECK-NEXT: graph.relu %[[D]]
func.func @reshape_between(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x8xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %p = graph.max_pool %x kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %f = graph.flatten %p : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  %q = graph.quantize_linear %f, %s, %z : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
  %d = graph.dequantize_linear %q, %s, %z : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
  %u = graph.unsqueeze %d axes = [1] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
  %v = graph.quantize_linear %u, %s, %z : (tensor<1x1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x8xi8>
  %w = graph.dequantize_linear %v, %s, %z : (tensor<1x1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x8xf32>
  %y = graph.relu %w : tensor<1x1x8xf32>
  return %y : tensor<1x1x8xf32>
}

// Bytes that a network widens itself, with a scale for each column, for each row, and for all.
// CHECK-LABEL: func.func @widened
// CHECK-NOT: graph.mul
// CHECK: graph.dequantize_linear %{{.*}} : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK: graph.dequantize_linear %{{.*}} axis = 0 : (tensor<3x2xi8>, tensor<3xf32>) -> tensor<3x2xf32>
// CHECK: graph.dequantize_linear %{{.*}} axis = 0 : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
// CHECK: graph.mul
func.func @widened(%x: tensor<3x2xi8>)
    -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = graph.constant dense<[[1, 2], [3, 4], [5, -6]]> : tensor<3x2xi8>
  %c = graph.cast %w : tensor<3x2xi8> to tensor<3x2xf32>
  %columns = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %rows = graph.constant dense<[[0.5], [0.25], [2.0]]> : tensor<3x1xf32>
  %all = graph.constant dense<0.5> : tensor<1x1xf32>
  %0 = graph.mul %c, %columns : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %1 = graph.mul %rows, %c : (tensor<3x1xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = graph.mul %c, %all : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %d = graph.cast %x : tensor<3x2xi8> to tensor<3x2xf32>
  %3 = graph.mul %d, %columns : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
