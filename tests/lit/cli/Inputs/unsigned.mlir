// A network in uint8, as onnxruntime quantizes by default: a convolution with int8 weights, a pool,
// another one with uint8 weights, a sum, and QLinearMatMul; an input and an output are uint8.
func.func @main(%x: tensor<1x3x8x8xf32>, %u: tensor<1x4x4x4xui8>) -> (tensor<1x5xf32>, tensor<1x5xui8>) {
  %s = graph.constant dense<0.02> : tensor<f32>
  %z = graph.constant dense<117> : tensor<ui8>
  %sw = graph.constant dense<[0.01, 0.02, 0.015, 0.03]> : tensor<4xf32>
  %w = graph.constant dense<"0x0F83A1C54E9D2277F0E1182B3C4D5E6F70819203A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7"> : tensor<4x3x3x2xi8>
  %h = graph.constant dense<128> : tensor<ui8>
  %v = graph.constant dense<"0x00FF80817F10C833"> : tensor<2x4x1x1xui8>
  %sv = graph.constant dense<0.01> : tensor<f32>
  %sy = graph.constant dense<0.05> : tensor<f32>
  %zy = graph.constant dense<140> : tensor<ui8>
  %q = graph.quantize_linear %x, %s, %z : (tensor<1x3x8x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x8x8xui8>
  %d = graph.dequantize_linear %q, %s, %z : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x8x8xf32>
  %dw = graph.dequantize_linear %w, %sw axis = 0 : (tensor<4x3x3x2xi8>, tensor<4xf32>) -> tensor<4x3x3x2xf32>
  %c = graph.conv %d, %dw pads = [1, 0, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x2xf32>) -> tensor<1x4x8x8xf32>
  %r = graph.relu %c : tensor<1x4x8x8xf32>
  %qr = graph.quantize_linear %r, %sy : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xui8>
  %p = graph.max_pool %qr kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 0, 0] : (tensor<1x4x8x8xui8>) -> tensor<1x4x4x4xui8>
  %dp = graph.dequantize_linear %p, %sy : (tensor<1x4x4x4xui8>, tensor<f32>) -> tensor<1x4x4x4xf32>
  %du = graph.dequantize_linear %u, %sy, %zy : (tensor<1x4x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x4xf32>
  %a = graph.add %dp, %du : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %qa = graph.quantize_linear %a, %sy, %zy : (tensor<1x4x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x4xui8>
  %da = graph.dequantize_linear %qa, %sy, %zy : (tensor<1x4x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x4xf32>
  %dv = graph.dequantize_linear %v, %sv, %h : (tensor<2x4x1x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x1x1xf32>
  %e = graph.conv %da, %dv : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  %qe = graph.quantize_linear %e, %sy, %zy : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  %f = graph.flatten %qe : (tensor<1x2x4x4xui8>) -> tensor<1x32xui8>
  %m = graph.constant dense<"0x0001020384858687FF7E7D7C101112130F83A1C54E9D2277F0E1182B3C4D5E6F70819203A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293001122334400010203848586"> : tensor<32x5xui8>
  %g = graph.qlinear_matmul %f, %sy, %zy, %m, %sv, %h, %sy, %zy : (tensor<1x32xui8>, tensor<f32>, tensor<ui8>, tensor<32x5xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x5xui8>
  %y = graph.dequantize_linear %g, %sy, %zy : (tensor<1x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x5xf32>
  return %y, %g : tensor<1x5xf32>, tensor<1x5xui8>
}
