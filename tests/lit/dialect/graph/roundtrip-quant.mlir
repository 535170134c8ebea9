// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Quantized ops.

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<2x3xf32>, %q: tensor<2x3xui8>, %s: tensor<f32>, %z: tensor<ui8>, %s1: tensor<3xf32>, %z1: tensor<3xui8>, %sb: tensor<2x2xf32>) {
  // CHECK: graph.quantize_linear %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
  %0 = graph.quantize_linear %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
  // CHECK: graph.quantize_linear %{{.*}}, %{{.*}} to = i8 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi8>
  %1 = graph.quantize_linear %x, %s to = i8 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi8>
  // CHECK: graph.quantize_linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  %2 = graph.quantize_linear %x, %s1, %z1 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  // CHECK: graph.quantize_linear %{{.*}}, %{{.*}} axis = -1 block_size = 2 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3xui8>
  %3 = graph.quantize_linear %x, %sb axis = -1 block_size = 2 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3xui8>
  // CHECK: graph.dequantize_linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %4 = graph.dequantize_linear %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  // CHECK: graph.dequantize_linear %{{.*}}, %{{.*}} axis = -1 block_size = 2 : (tensor<2x3xui8>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %5 = graph.dequantize_linear %q, %sb axis = -1 block_size = 2 : (tensor<2x3xui8>, tensor<2x2xf32>) -> tensor<2x3xf32>
  // CHECK: graph.dynamic_quantize_linear %{{.*}} : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %6:3 = graph.dynamic_quantize_linear %x : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  return
}

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x2x5x5xui8>, %w: tensor<4x2x3x3xi8>, %s: tensor<f32>, %zx: tensor<ui8>, %zw: tensor<i8>, %sw: tensor<4xf32>, %zw4: tensor<4xi8>, %b: tensor<4xi32>) {
  // CHECK: graph.qlinear_conv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} strides = [2, 2] pads = [1, 1, 1, 1] : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x4x3x3xui8>
  %0 = graph.qlinear_conv %x, %s, %zx, %w, %sw, %zw4, %s, %zx, %b strides = [2, 2] pads = [1, 1, 1, 1] : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x4x3x3xui8>
  // CHECK: graph.conv_integer %{{.*}}, %{{.*}} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xi8>) -> tensor<1x4x3x3xi32>
  %1 = graph.conv_integer %x, %w : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xi8>) -> tensor<1x4x3x3xi32>
  // CHECK: graph.conv_integer %{{.*}}, %{{.*}} x_zero_point %{{.*}} w_zero_point %{{.*}} pads = [1, 1, 1, 1] : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x5x5xi32>
  %2 = graph.conv_integer %x, %w x_zero_point %zx w_zero_point %zw pads = [1, 1, 1, 1] : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x5x5xi32>
  return
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %s: tensor<f32>, %za: tensor<ui8>, %zb: tensor<i8>, %sb: tensor<4xf32>, %zb4: tensor<4xi8>) {
  // CHECK: graph.qlinear_matmul %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  %0 = graph.qlinear_matmul %a, %s, %za, %b, %sb, %zb4, %s, %za : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  // CHECK: graph.matmul_integer %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  %1 = graph.matmul_integer %a, %b : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  // CHECK: graph.matmul_integer %{{.*}}, %{{.*}} a_zero_point %{{.*}} b_zero_point %{{.*}} : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  %2 = graph.matmul_integer %a, %b a_zero_point %za b_zero_point %zb : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  return
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%x: tensor<2x3xui8>, %t: tensor<256xi8>) -> tensor<2x3xi8> {
  // CHECK: graph.lookup %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<256xi8>) -> tensor<2x3xi8>
  %0 = graph.lookup %x, %t : (tensor<2x3xui8>, tensor<256xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
