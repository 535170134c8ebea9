// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Quantized ops.

func.func @scale_size(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{'scale' must have 3 elements, one per position along 'axis', but is 'tensor<2xf32>'}}
  %0 = graph.quantize_linear %x, %s : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @scale_axis(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{'axis' is 2}}
  %0 = graph.quantize_linear %x, %s axis = 2 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @zero_point(%x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<3xui8>) {
  // expected-error @+1 {{'zero_point' must have the shape of 'scale', but they are 'tensor<3xui8>' and 'tensor<f32>'}}
  %0 = graph.quantize_linear %x, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<3xui8>) -> tensor<2x3xui8>
  return
}

// -----

func.func @to(%x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'to' is 'i8', but 'zero_point' is 'tensor<ui8>'}}
  %0 = graph.quantize_linear %x, %s, %z to = i8 : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return
}

// -----

func.func @block(%x: tensor<2x3xf32>, %s: tensor<2x3xf32>) {
  // expected-error @+1 {{dimension 1 of 'scale' must be 2 for blocks of 2 along axis 1, but 'scale' is 'tensor<2x3xf32>'}}
  %0 = graph.quantize_linear %x, %s block_size = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xui8>
  return
}

// -----

func.func @zero_point_type(%x: tensor<2x3xui8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error @+1 {{'zero_point' and 'x' must have the same element type}}
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  return
}

// -----

func.func @filter_scale(%x: tensor<1x2x5x5xui8>, %w: tensor<4x2x3x3xi8>, %s: tensor<f32>, %zx: tensor<ui8>, %zw: tensor<i8>, %sw: tensor<3xf32>) {
  // expected-error @+1 {{'w_scale' must have 4 elements, one per filter, but is 'tensor<3xf32>'}}
  %0 = graph.qlinear_conv %x, %s, %zx, %w, %sw, %zw, %s, %zx : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<3xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x3x3xui8>
  return
}

// -----

func.func @column_zero_point(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %z: tensor<3xi8>) {
  // expected-error @+1 {{'b_zero_point' must have 4 elements, one per column, but is 'tensor<3xi8>'}}
  %0 = graph.matmul_integer %a, %b b_zero_point %z : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<3xi8>) -> tensor<2x4xi32>
  return
}

// -----

func.func @table_size(%x: tensor<2x3xui8>, %t: tensor<255xi8>) {
  // expected-error @+1 {{'table' must have 256 elements, one for each byte, but is 'tensor<255xi8>'}}
  %0 = graph.lookup %x, %t : (tensor<2x3xui8>, tensor<255xi8>) -> tensor<2x3xi8>
  return
}

// -----

func.func @table_type(%x: tensor<2x3xui8>, %t: tensor<256xi8>) {
  // expected-error @+1 {{'graph.lookup' op}}
  %0 = graph.lookup %x, %t : (tensor<2x3xui8>, tensor<256xi8>) -> tensor<2x3xui8>
  return
}
