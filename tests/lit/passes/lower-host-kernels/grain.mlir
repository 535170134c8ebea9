// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=512})" | FileCheck %s

// All eight tasks of a small product take less than handing them over: they are one thread's. A large one does not say.
// CHECK: func.func private @k_matmul_{{.*}} attributes {phl.flops = 262144 : i64, phl.grain = 8 : i64, phl.kernel, phl.vectorized}
func.func @small(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %w = graph.constant dense<1.0> : tensor<64x64xf32>
  %0 = graph.matmul %x, %w : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// CHECK: func.func private @k_matmul_{{.*}} attributes {phl.flops = 268435456 : i64, phl.kernel, phl.vectorized}
func.func @large(%x: tensor<2048x256xf32>) -> tensor<2048x256xf32> {
  %w = graph.constant dense<1.0> : tensor<256x256xf32>
  %0 = graph.matmul %x, %w : (tensor<2048x256xf32>, tensor<256x256xf32>) -> tensor<2048x256xf32>
  return %0 : tensor<2048x256xf32>
}
