// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=512 byte-products=true})" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{plain-integers=true})" | FileCheck %s

// Layers that differ in scales and zero points share a kernel, which reads them.
// CHECK-LABEL: func.func @shared
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]
// CHECK: tir.call_extern @[[K]](
func.func @shared(%x: tensor<4x8xui8>) -> tensor<4x8xui8> {
  %w = graph.constant dense<3> : tensor<8x8xi8>
  %z0 = graph.constant dense<7> : tensor<ui8>
  %z1 = graph.constant dense<9> : tensor<ui8>
  %f0 = graph.constant dense<0.25> : tensor<f32>
  %f1 = graph.constant dense<0.125> : tensor<f32>
  %s0 = graph.constant dense<2.0> : tensor<f32>
  %s1 = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.matmul_integer %x, %w a_zero_point %z0 : (tensor<4x8xui8>, tensor<8x8xi8>, tensor<ui8>) -> tensor<4x8xi32>
  %1 = graph.dequantize_linear %0, %f0 : (tensor<4x8xi32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = graph.quantize_linear %1, %s0, %z1 : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  %3 = graph.matmul_integer %2, %w a_zero_point %z1 : (tensor<4x8xui8>, tensor<8x8xi8>, tensor<ui8>) -> tensor<4x8xi32>
  %4 = graph.dequantize_linear %3, %f1 : (tensor<4x8xi32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = graph.quantize_linear %4, %s1, %z0 : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  return %5 : tensor<4x8xui8>
}
