// RUN: phaseline-opt %s --graph-tabulate | FileCheck %s

// x * sigmoid(x) of quantized numbers, with a quantization in between: one table. It is read at the bits of x:
// the first half is that of 0 to 127, which is nearly x, the second that of -128 to -1, which is nearly 0.
// CHECK-LABEL: func.func @swish
// CHECK: %[[T:.*]] = graph.constant dense<"0x0001020304{{[0-9A-F]*}}7E7F00{{0*}}"> : tensor<256xi8>
// CHECK: %[[Y:.*]] = graph.lookup %arg0, %[[T]] : (tensor<1x2x3xi8>, tensor<256xi8>) -> tensor<1x2x3xi8>
// CHECK-NEXT: return %[[Y]]
func.func @swish(%x: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = graph.constant dense<1.0> : tensor<f32>
  %gs = graph.constant dense<0.00390625> : tensor<f32>
  %gz = graph.constant dense<-128> : tensor<i8>
  %d = graph.dequantize_linear %x, %s : (tensor<1x2x3xi8>, tensor<f32>) -> tensor<1x2x3xf32>
  %g = graph.sigmoid %d : tensor<1x2x3xf32>
  %gq = graph.quantize_linear %g, %gs, %gz : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  %gd = graph.dequantize_linear %gq, %gs, %gz : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = graph.mul %d, %gd : tensor<1x2x3xf32>
  %y = graph.quantize_linear %m, %s to = i8 : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xi8>
  return %y : tensor<1x2x3xi8>
}

// Bytes without a sign, and the mean of what else reads the real numbers: those stay.
// CHECK-LABEL: func.func @shared
// CHECK: %[[D:.*]] = graph.dequantize_linear %arg0
// CHECK: graph.lookup %arg0, %{{.*}} : (tensor<4xui8>, tensor<256xui8>) -> tensor<4xui8>
// CHECK: graph.reduce_mean %[[D]]
func.func @shared(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<1xf32>) {
  %s = graph.constant dense<0.1> : tensor<f32>
  %d = graph.dequantize_linear %x, %s : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %t = graph.tanh %d : tensor<4xf32>
  %y = graph.quantize_linear %t, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  %m = graph.reduce_mean %d axes = [0] : (tensor<4xf32>) -> tensor<1xf32>
  return %y, %m : tensor<4xui8>, tensor<1xf32>
}

// A number that is quantized is known, too, and each operation may have a dequantization of its own.
// CHECK-LABEL: func.func @gelu
// CHECK: %[[Y:.*]] = graph.lookup %arg0, %{{.*}} : (tensor<2x3xui8>, tensor<256xui8>) -> tensor<2x3xui8>
// CHECK-NEXT: return %[[Y]]
func.func @gelu(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  %s = graph.constant dense<0.02> : tensor<f32>
  %z = graph.constant dense<120> : tensor<ui8>
  %one = graph.constant dense<170> : tensor<ui8>
  %a = graph.dequantize_linear %x, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %b = graph.dequantize_linear %x, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %e = graph.erf %b : tensor<2x3xf32>
  %q = graph.quantize_linear %e, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %d = graph.dequantize_linear %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %n = graph.dequantize_linear %one, %s, %z : (tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<f32>
  %p = graph.add %d, %n : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = graph.mul %a, %p : tensor<2x3xf32>
  %y = graph.quantize_linear %m, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %y : tensor<2x3xui8>
}
