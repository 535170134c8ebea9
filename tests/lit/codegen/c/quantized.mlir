// RUN: phaseline compile %s -t c --emit=c | FileCheck %s

// A quantized convolution: sums of 32 bits of the bytes of the image, which is not copied with its padding;
// the only floats are each sum on its way to the next byte.

// CHECK: int32_t quantized_invoke(
// CHECK-NOT: float *
// CHECK: int32_t *const
// CHECK: ((uint32_t)(int32_t)(uint8_t)x{{[0-9]+}} - 3u) * (uint32_t)(int32_t)x
// CHECK-NOT: float *
// CHECK: rintf
// CHECK-NOT: float *
func.func @main(%x: tensor<1x2x6x6xui8>) -> (tensor<1x4x6x6xui8> {phl.name = "y"}) {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<3> : tensor<ui8>
  %w = graph.constant dense<7> : tensor<4x2x3x3xi8>
  %scales = graph.constant dense<[0.5, 0.25, 0.125, 1.0]> : tensor<4xf32>
  %0 = graph.dequantize_linear %x, %scale, %zero : (tensor<1x2x6x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x6x6xf32>
  %1 = graph.dequantize_linear %w, %scales axis = 0 : (tensor<4x2x3x3xi8>, tensor<4xf32>) -> tensor<4x2x3x3xf32>
  %2 = graph.conv %0, %1 pads = [1, 1, 1, 1] : (tensor<1x2x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  %3 = graph.relu %2 : tensor<1x4x6x6xf32>
  %4 = graph.quantize_linear %3, %scale, %zero : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x6x6xui8>
  return %4 : tensor<1x4x6x6xui8>
}
