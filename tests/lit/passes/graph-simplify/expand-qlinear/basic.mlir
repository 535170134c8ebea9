// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=expand-qlinear-conv,expand-qlinear-matmul,expand-conv-integer,expand-matmul-integer}))' | FileCheck %s

// The scales of a bias are those of the sums. A zero point for all filters becomes as many as there are scales.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[SB:.*]] = graph.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-DAG: %[[SW:.*]] = graph.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK-DAG: %[[ZW:.*]] = graph.constant dense<0> : tensor<2xi8>
// CHECK-DAG: %[[B:.*]] = graph.dequantize_linear %{{.*}}, %[[SB]] axis = 0 : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-DAG: %[[X:.*]] = graph.dequantize_linear %arg0
// CHECK-DAG: %[[W:.*]] = graph.dequantize_linear %{{.*}}, %[[SW]], %[[ZW]] axis = 0
// CHECK: %[[V:.*]] = graph.conv %[[X]], %[[W]], %[[B]] strides = [1, 1] pads = [1, 1, 1, 1] dilations = [1, 1]
// CHECK: graph.quantize_linear %[[V]], %{{.*}} -> tensor<1x2x4x4xi8>
func.func @conv(%x: tensor<1x1x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %xs = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<1> : tensor<2x1x3x3xi8>
  %ws = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %wz = graph.constant dense<0> : tensor<i8>
  %b = graph.constant dense<[7, 8]> : tensor<2xi32>
  %y = graph.qlinear_conv %x, %xs, %z, %w, %ws, %wz, %xs, %z, %b strides = [1, 1] pads = [1, 1, 1, 1] dilations = [1, 1]
      : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>, tensor<2x1x3x3xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2xi32>) -> tensor<1x2x4x4xi8>
  return %y : tensor<1x2x4x4xi8>
}

// CHECK-LABEL: func.func @matmul
// CHECK: %[[A:.*]] = graph.dequantize_linear %arg0
// CHECK: %[[B:.*]] = graph.dequantize_linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>)
// CHECK: %[[V:.*]] = graph.matmul %[[A]], %[[B]]
// CHECK: graph.quantize_linear %[[V]]
func.func @matmul(%a: tensor<4x3xi8>) -> tensor<4x2xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %b = graph.constant dense<1> : tensor<3x2xi8>
  %bs = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %bz = graph.constant dense<0> : tensor<2xi8>
  %y = graph.qlinear_matmul %a, %s, %z, %b, %bs, %bz, %s, %z
      : (tensor<4x3xi8>, tensor<f32>, tensor<i8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}

// All of the scale is that of the weights.
// CHECK-LABEL: func.func @conv_sums
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[X:.*]] = graph.dequantize_linear %arg0, %[[ONE]], %{{.*}}
// CHECK: %[[S:.*]] = graph.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK: %[[W:.*]] = graph.dequantize_linear %{{.*}}, %[[S]] axis = 0
// CHECK: %[[B:.*]] = graph.dequantize_linear %{{.*}} axis = 0 : (tensor<2xi32>
// CHECK: graph.conv %[[X]], %[[W]], %[[B]]
// CHECK-NOT: graph.cast
func.func @conv_sums(%x: tensor<1x1x4x4xi8>) -> tensor<1x2x2x2xf32> {
  %z = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<1> : tensor<2x1x3x3xi8>
  %b = graph.constant dense<[[[[7]], [[8]]]]> : tensor<1x2x1x1xi32>
  %s = graph.constant dense<[[[0.25]], [[0.5]]]> : tensor<2x1x1xf32>
  %i = graph.conv_integer %x, %w x_zero_point %z strides = [1, 1] pads = [0, 0, 0, 0] dilations = [1, 1]
      : (tensor<1x1x4x4xi8>, tensor<2x1x3x3xi8>, tensor<i8>) -> tensor<1x2x2x2xi32>
  %j = graph.add %i, %b : (tensor<1x2x2x2xi32>, tensor<1x2x1x1xi32>) -> tensor<1x2x2x2xi32>
  %f = graph.cast %j : tensor<1x2x2x2xi32> to tensor<1x2x2x2xf32>
  %y = graph.mul %f, %s : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @matmul_sums
// CHECK: graph.gemm
// CHECK-NOT: graph.dequantize_linear
func.func @matmul_sums(%a: tensor<4x3xi8>) -> tensor<4x2xf32> {
  %w = graph.constant dense<1> : tensor<3x2xi8>
  %b = graph.constant dense<[7, 8]> : tensor<2xi32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %i = graph.matmul_integer %a, %w : (tensor<4x3xi8>, tensor<3x2xi8>) -> tensor<4x2xi32>
  %j = graph.add %b, %i : (tensor<2xi32>, tensor<4x2xi32>) -> tensor<4x2xi32>
  %y = graph.dequantize_linear %j, %s : (tensor<4x2xi32>, tensor<f32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Scales of rows stay so.
// CHECK-LABEL: func.func @rows
// CHECK: %[[A:.*]] = graph.dequantize_linear %{{.*}} axis = 0 : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>)
// CHECK: graph.matmul %[[A]], %{{.*}}
// CHECK: graph.quantize_linear
func.func @rows(%a: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %s = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zs = graph.constant dense<0> : tensor<2xi8>
  %o = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %b = graph.constant dense<1> : tensor<3x2xi8>
  %y = graph.qlinear_matmul %a, %s, %zs, %b, %o, %z, %o, %z
      : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %y : tensor<2x2xi8>
}
