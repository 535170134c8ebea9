// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-unsigned-to-signed),canonicalize)' | FileCheck %s
// Once more changes nothing.
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-unsigned-to-signed),canonicalize)' -o %t
// RUN: phaseline-opt %t --pass-pipeline='builtin.module(func.func(graph-unsigned-to-signed),canonicalize)' | diff %t -

// A chain from quantization to dequantization has no conversion. Weights and absent zero points are
// less by 128 too.
// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}-128, 0], [127, -127]]> : tensor<2x2xi8>
// CHECK-DAG: %[[ZW:.*]] = graph.constant dense<0> : tensor<i8>
// CHECK-DAG: %[[ZX:.*]] = graph.constant dense<-125> : tensor<i8>
// CHECK: %[[Q:.*]] = graph.quantize_linear %arg0, %{{.*}}, %[[ZX]] : (tensor<2x1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1x2xi8>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[Q]]{{.*}} -> tensor<2x2xi8>
// CHECK-NEXT: %[[D:.*]] = graph.dequantize_linear %[[R]], %{{.*}}, %[[ZX]]
// CHECK: graph.dequantize_linear %[[W]], %{{.*}}, %[[ZW]]
// CHECK: %[[Y:.*]] = graph.quantize_linear %{{.*}}, %{{.*}}, %[[ZY:.*]] : {{.*}} -> tensor<2x2xi8>
// CHECK-NOT: ui8>
// CHECK: return
func.func @chain(%x: tensor<2x1x2xf32>) -> tensor<2x2xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %h = graph.constant dense<128> : tensor<ui8>
  %w = graph.constant dense<[[0, 128], [255, 1]]> : tensor<2x2xui8>
  %shape = graph.constant dense<[2, 2]> : tensor<2xi64>
  %q = graph.quantize_linear %x, %s, %z : (tensor<2x1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x1x2xui8>
  %r = graph.reshape %q, %shape : (tensor<2x1x2xui8>, tensor<2xi64>) -> tensor<2x2xui8>
  %d = graph.dequantize_linear %r, %s, %z : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %v = graph.dequantize_linear %w, %s, %h : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %m = graph.matmul %d, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = graph.quantize_linear %m, %s : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xui8>
  %e = graph.dequantize_linear %y, %s : (tensor<2x2xui8>, tensor<f32>) -> tensor<2x2xf32>
  return %e : tensor<2x2xf32>
}

// Inputs and outputs keep their type: what enters and what leaves is converted.
// CHECK-LABEL: func.func @ends
// CHECK-SAME: tensor<2x2xui8>) -> tensor<2x2xui8>
// CHECK: %[[IN:.*]] = graph.quantize_linear {{.*}} -> tensor<2x2xi8>
// CHECK: graph.qlinear_matmul %[[IN]], {{.*}} -> tensor<2x2xi8>
// CHECK: graph.dequantize_linear {{.*}} : (tensor<2x2xi8>
// CHECK: %[[OUT:.*]] = graph.quantize_linear {{.*}} -> tensor<2x2xui8>
// CHECK: return %[[OUT]]
func.func @ends(%x: tensor<2x2xui8>) -> tensor<2x2xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %w = graph.constant dense<[[0, 128], [255, 1]]> : tensor<2x2xui8>
  %y = graph.qlinear_matmul %x, %s, %z, %w, %s, %z, %s, %z : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  return %y : tensor<2x2xui8>
}

// Numbers that are not quantized here stay, and so does what has a zero point of its own.
// CHECK-LABEL: func.func @others
// CHECK: graph.dynamic_quantize_linear
// CHECK: graph.dequantize_linear %{{.*}} : (tensor<4xui8>
// CHECK: graph.quantize_linear %{{.*}} -> tensor<4xui8>
func.func @others(%x: tensor<4xf32>, %z: tensor<ui8>) -> (tensor<4xf32>, tensor<4xui8>) {
  %y, %s, %p = graph.dynamic_quantize_linear %x : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  %d = graph.dequantize_linear %y, %s, %p : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %q = graph.quantize_linear %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %d, %q : tensor<4xf32>, tensor<4xui8>
}
