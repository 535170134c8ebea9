// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=512 byte-products=true})" | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=256})" | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{plain-integers=true})" | FileCheck %s --check-prefixes=CHECK,PLAIN

// From 128 points on, weights are words where words are multiplied: widening them each time costs more than memory.
// CHECK-LABEL: func.func @points
// BYTES: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi8>
// WORDS: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi16>
// PLAIN: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi16>
func.func @points(%x: tensor<128x8xui8>) -> tensor<128x20xi32> {
  %w = graph.constant dense<3> : tensor<8x20xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<128x8xui8>, tensor<8x20xi8>) -> tensor<128x20xi32>
  return %0 : tensor<128x20xi32>
}

// Four bytes of the image at a time, as the machine multiplies them. Sums start from what the zero
// point takes off; integers are stored.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xui8>)
// BYTES: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi8>
// WORDS: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi8>
// PLAIN: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi16>
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]
// CHECK: func.func private @[[K]](%{{.*}}: memref<4x8xi8>, %{{.*}}, %[[S:.*]]: memref<20xi32>, %[[Y:.*]]: memref<4x20xi8>, %{{.*}}: index, %{{.*}}: index)
// CHECK: vector.load %[[S]]
// BYTES: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// WORDS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PLAIN: arith.muli
// CHECK: arith.sitofp
// CHECK: math.roundeven
// CHECK: arith.trunci
func.func @layer(%x: tensor<4x8xui8>) -> tensor<4x20xui8> {
  %w = graph.constant dense<3> : tensor<8x20xi8>
  %z = graph.constant dense<7> : tensor<ui8>
  %f = graph.constant dense<0.25> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.matmul_integer %x, %w a_zero_point %z : (tensor<4x8xui8>, tensor<8x20xi8>, tensor<ui8>) -> tensor<4x20xi32>
  %1 = graph.dequantize_linear %0, %f : (tensor<4x20xi32>, tensor<f32>) -> tensor<4x20xf32>
  %2 = graph.quantize_linear %1, %one, %z : (tensor<4x20xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x20xui8>
  return %2 : tensor<4x20xui8>
}
