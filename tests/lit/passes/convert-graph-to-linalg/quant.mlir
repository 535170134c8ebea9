// RUN: phaseline-opt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

// Linear quantization.

// Rounds to even, adds the zero point, saturates; NaN gives the lowest integer.
// CHECK-LABEL: func.func @quantize_per_axis
func.func @quantize_per_axis(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xui8>) -> tensor<2x3xui8> {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 2.550000e+02 : f32
  // CHECK: linalg.generic {{.*}} ins(%arg0, %arg1, %arg2
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: i8, %{{.*}}: i8):
  // CHECK: %[[Q:.*]] = arith.divf %[[A]], %[[B]]
  // CHECK: %[[R:.*]] = math.roundeven %[[Q]]
  // CHECK: %[[ZERO:.*]] = arith.uitofp %[[C]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[R]], %[[ZERO]]
  // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[SUM]], %[[LOW]]
  // CHECK: %[[MAX:.*]] = arith.select %[[ABOVE]], %[[SUM]], %[[LOW]]
  // CHECK: arith.cmpf olt, %[[MAX]], %[[HIGH]]
  // CHECK: arith.fptosi {{.*}} : f32 to i32
  // CHECK: arith.trunci {{.*}} : i32 to i8
  %0 = graph.quantize_linear %x, %s, %z : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// A scale in blocks is read at the position divided by their size.
// CHECK-LABEL: func.func @dequantize_blocked
func.func @dequantize_blocked(%x: tensor<4x6xi8>, %s: tensor<4x2xf16>) -> tensor<4x6xf16> {
  // CHECK: %[[THREE:.*]] = arith.constant 3 : index
  // CHECK: linalg.generic
  // CHECK: %[[J:.*]] = linalg.index 1
  // CHECK: arith.divui %[[J]], %[[THREE]]
  // CHECK: arith.mulf {{.*}} : f32
  // CHECK: arith.truncf {{.*}} : f32 to f16
  %0 = graph.dequantize_linear %x, %s axis = 1 block_size = 3 : (tensor<4x6xi8>, tensor<4x2xf16>) -> tensor<4x6xf16>
  return %0 : tensor<4x6xf16>
}

// CHECK-LABEL: func.func @dynamic_quantize
func.func @dynamic_quantize(%x: tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) {
  // CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
  // CHECK: tensor.from_elements {{.*}} : tensor<f32>
  // CHECK: tensor.from_elements {{.*}} : tensor<i8>
  %0:3 = graph.dynamic_quantize_linear %x : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  return %0#0, %0#1, %0#2 : tensor<2x3xui8>, tensor<f32>, tensor<ui8>
}

// A known zero point of 0 costs nothing; sums are exact.
// CHECK-LABEL: func.func @matmul_integer
func.func @matmul_integer(%a: tensor<2x3x4xui8>, %b: tensor<4x5xi8>, %bz: tensor<5xi8>) -> tensor<2x3x5xi32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
  // CHECK: %[[A:.*]] = arith.extui {{.*}} : i8 to i32
  // CHECK-NEXT: %[[B:.*]] = arith.extsi {{.*}} : i8 to i32
  // CHECK-NEXT: %[[Z:.*]] = arith.extsi {{.*}} : i8 to i32
  // CHECK-NEXT: %[[C:.*]] = arith.subi %[[B]], %[[Z]]
  // CHECK-NEXT: arith.muli %[[A]], %[[C]]
  // CHECK-NEXT: arith.addi
  %az = graph.constant dense<0> : tensor<ui8>
  %0 = graph.matmul_integer %a, %b a_zero_point %az b_zero_point %bz : (tensor<2x3x4xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<5xi8>) -> tensor<2x3x5xi32>
  return %0 : tensor<2x3x5xi32>
}

// Padding holds the zero point of x.
// CHECK-LABEL: func.func @qlinear_conv
func.func @qlinear_conv(%x: tensor<1x4x5x5xui8>, %w: tensor<6x2x3x3xi8>, %s: tensor<f32>, %ws: tensor<6xf32>, %xz: tensor<ui8>, %wz: tensor<i8>, %yz: tensor<ui8>, %b: tensor<6xi32>) -> tensor<1x6x5x5xui8> {
  // CHECK: %[[XZ:.*]] = tensor.extract %{{.*}}[] : tensor<i8>
  // CHECK: tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 1, 1]
  // CHECK: tensor.yield %[[XZ]]
  // CHECK: tensor.expand_shape {{.*}} output_shape [1, 2, 2, 7, 7]
  // CHECK: linalg.generic {{.*}}"reduction", "reduction", "reduction", "parallel"]
  // CHECK: linalg.generic
  // CHECK: math.roundeven
  %0 = graph.qlinear_conv %x, %s, %xz, %w, %ws, %wz, %s, %yz, %b pads = [1, 1, 1, 1] group = 2 : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<6x2x3x3xi8>, tensor<6xf32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<6xi32>) -> tensor<1x6x5x5xui8>
  return %0 : tensor<1x6x5x5xui8>
}
