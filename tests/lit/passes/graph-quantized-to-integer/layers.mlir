// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-quantized-to-integer))" --split-input-file | FileCheck %s

// Both scales and that of the result are one factor for each channel. The bias has the scale of
// the sums, and the quantization cuts off what relu would.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x5x5xui8>)
// CHECK-DAG: %[[W:.*]] = graph.constant dense<1> : tensor<4x2x3x3xi8>
// CHECK-DAG: %[[ZX:.*]] = graph.constant dense<7> : tensor<ui8>
// CHECK-DAG: %[[ZY:.*]] = graph.constant dense<0> : tensor<ui8>
// CHECK: %[[S:.*]] = graph.conv_integer %[[X]], %[[W]] x_zero_point %[[ZX]] {{.*}} pads = [1, 1, 1, 1]
// CHECK: %[[B:.*]] = graph.constant dense<{{.*}}> : tensor<4x1x1xi32>
// CHECK: %[[T:.*]] = graph.add %[[S]], %[[B]]
// CHECK: %[[F:.*]] = graph.constant dense<[5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[R:.*]] = graph.dequantize_linear %[[T]], %[[F]]
// CHECK: %[[Y:.*]] = graph.quantize_linear %[[R]], %[[ONE]], %[[ZY]]
// CHECK: return %[[Y]]
func.func @conv(%x: tensor<1x2x5x5xui8>) -> tensor<1x4x5x5xui8> {
  %sx = graph.constant dense<0.5> : tensor<f32>
  %zx = graph.constant dense<7> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<4x2x3x3xi8>
  %sw = graph.constant dense<[0.25, 0.5, 0.75, 1.0]> : tensor<4xf32>
  %sb = graph.constant dense<[0.125, 0.25, 0.375, 0.5]> : tensor<4xf32>
  %b = graph.constant dense<[100, -200, 300, -400]> : tensor<4xi32>
  %sy = graph.constant dense<0.25> : tensor<f32>
  %zy = graph.constant dense<0> : tensor<ui8>
  %0 = graph.dequantize_linear %x, %sx, %zx : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x5x5xf32>
  %1 = graph.dequantize_linear %w, %sw axis = 0 : (tensor<4x2x3x3xi8>, tensor<4xf32>) -> tensor<4x2x3x3xf32>
  %2 = graph.dequantize_linear %b, %sb axis = 0 : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.conv %0, %1, %2 pads = [1, 1, 1, 1] : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  %4 = graph.relu %3 : tensor<1x4x5x5xf32>
  %5 = graph.quantize_linear %4, %sy, %zy : (tensor<1x4x5x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x5x5xui8>
  return %5 : tensor<1x4x5x5xui8>
}

// -----

// A bias of another scale is added to real numbers. The matrix is turned over, with a sign.
// CHECK-LABEL: func.func @gemm
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}-127, -125], [-126, -124]]> : tensor<2x2xi8>
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<-118> : tensor<i8>
// CHECK: %[[S:.*]] = graph.matmul_integer %{{.*}}, %[[W]] a_zero_point %{{.*}} b_zero_point %[[Z]]
// CHECK: %[[B:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: %[[R:.*]] = graph.dequantize_linear %[[S]]
// CHECK: graph.add %[[R]], %[[B]]
func.func @gemm(%x: tensor<3x2xi8>, %c: tensor<2xf32>) -> tensor<3x2xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %zx = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %zw = graph.constant dense<10> : tensor<ui8>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.dequantize_linear %x, %s, %zx : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %1 = graph.dequantize_linear %w, %s, %zw : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %2 = graph.gemm %0, %1, %b trans_b = true : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @qlinear
// CHECK: %[[S:.*]] = graph.conv_integer
// CHECK: graph.dequantize_linear %[[S]]
// CHECK: graph.quantize_linear
// CHECK-NOT: graph.qlinear_conv
func.func @qlinear(%x: tensor<1x2x5x5xi8>) -> tensor<1x4x3x3xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<1> : tensor<4x2x3x3xi8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z : (tensor<1x2x5x5xi8>, tensor<f32>, tensor<i8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x4x3x3xi8>
  return %0 : tensor<1x4x3x3xi8>
}

// -----

// A pool of dequantized numbers that are quantized as they were takes the integers.
// CHECK-LABEL: func.func @pool
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x4xui8>)
// CHECK: %[[Y:.*]] = graph.max_pool %[[X]] {{.*}}-> tensor<1x2x2x2xui8>
// CHECK: return %[[Y]]
func.func @pool(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = graph.max_pool %0 kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
  return %2 : tensor<1x2x2x2xui8>
}
