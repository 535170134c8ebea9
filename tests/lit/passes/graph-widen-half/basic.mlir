// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-widen-half))' | FileCheck %s

// Constants are widened here, all else is cast once.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[X:.*]] = graph.cast %arg0 : tensor<1x2x4x4xf16> to tensor<1x2x4x4xf32>
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<3x2x1x1xf32>
// CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]] : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
// CHECK: %[[HALF:.*]] = graph.cast %[[Y]] : tensor<1x3x4x4xf32> to tensor<1x3x4x4xf16>
// CHECK: %[[POOL:.*]] = graph.max_pool %[[X]]
// CHECK-SAME: -> tensor<1x2x2x2xf32>
// CHECK: return %[[HALF]]
func.func @conv(%x: tensor<1x2x4x4xf16>) -> (tensor<1x3x4x4xf16>, tensor<1x2x2x2xf16>) {
  %w = graph.constant dense<0.5> : tensor<3x2x1x1xf16>
  %y = graph.conv %x, %w : (tensor<1x2x4x4xf16>, tensor<3x2x1x1xf16>) -> tensor<1x3x4x4xf16>
  %p = graph.max_pool %x kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x2x4x4xf16>) -> tensor<1x2x2x2xf16>
  return %y, %p : tensor<1x3x4x4xf16>, tensor<1x2x2x2xf16>
}

// Softmax is computed on f32 from one rounding to the next.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[X:.*]] = graph.cast %arg0 : tensor<2x3xf16> to tensor<2x3xf32>
// CHECK: %[[Y:.*]] = graph.softmax %[[X]] : tensor<2x3xf32>
// CHECK: graph.cast %[[Y]] : tensor<2x3xf32> to tensor<2x3xf16>
// CHECK: graph.log_softmax %[[X]] : tensor<2x3xf32>
func.func @softmax(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xf16>) {
  %y = graph.softmax %x : tensor<2x3xf16>
  %z = graph.log_softmax %x : tensor<2x3xf16>
  return %y, %z : tensor<2x3xf16>, tensor<2x3xf16>
}

// A cast of the network itself for a product is a constant, too.
// CHECK-LABEL: func.func @cast_weights
// CHECK-DAG: graph.constant dense<{{\[\[}}5.000000e-01, -2.000000e+00], [1.000000e+00, 1.750000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: %[[F8:.*]] = graph.constant dense<1.500000e+00> : tensor<2x2xf32>
// CHECK-NOT: graph.cast
// CHECK: graph.gemm {{.*}}, %[[F8]]
func.func @cast_weights(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %a = graph.constant dense<[[0.5, -2.0], [1.0, 1.75]]> : tensor<2x2xf16>
  %b = graph.constant dense<1.5> : tensor<2x2xf8E4M3FN>
  %wide = graph.cast %a : tensor<2x2xf16> to tensor<2x2xf32>
  %other = graph.cast %b : tensor<2x2xf8E4M3FN> to tensor<2x2xf32>
  %y = graph.matmul %x, %wide : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %z = graph.gemm %y, %other : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %z : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @product
// CHECK: graph.matmul
// CHECK-SAME: -> tensor<2x4xf32>
func.func @product(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
  %y = graph.matmul %a, %b : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}
