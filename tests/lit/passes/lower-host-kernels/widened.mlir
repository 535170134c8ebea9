// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=256})" -split-input-file | FileCheck %s

// Bytes are widened once where pairs of 16 bits are multiplied, and there is room for the copy.
// CHECK-LABEL: func.func @wide
// CHECK: %[[X:.*]] = graph.cast {{.*}} to tensor<64x32xi16>
// CHECK: tir.call_extern @k_matmul{{.*}} ins(%[[X]]
// CHECK: llvm.x86.avx2.pmadd.wd
func.func @wide(%x: tensor<64x32xui8>) -> tensor<64x32xi32> {
  %w = graph.constant dense<3> : tensor<32x32xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<64x32xui8>, tensor<32x32xi8>) -> tensor<64x32xi32>
  return %0 : tensor<64x32xi32>
}

// -----

// A copy that would be by far the largest thing in memory is not made.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: graph.cast
// CHECK: func.func private @k_matmul
func.func @narrow(%x: tensor<640x512xui8>) -> tensor<640x16xi32> {
  %w = graph.constant dense<3> : tensor<512x16xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<640x512xui8>, tensor<512x16xi8>) -> tensor<640x16xi32>
  return %0 : tensor<640x16xi32>
}

// -----

// Few points are not worth it.
// CHECK-LABEL: func.func @few
// CHECK-NOT: graph.cast
// CHECK: func.func private @k_matmul
func.func @few(%x: tensor<4x32xui8>) -> tensor<4x64xi32> {
  %w = graph.constant dense<3> : tensor<32x64xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<4x32xui8>, tensor<32x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}

// -----

// The same copy, where the function has more in use at another time.
// CHECK-LABEL: func.func @room
// CHECK: graph.cast %arg0 : tensor<640x512xui8> to tensor<640x512xi16>
func.func @room(%x: tensor<640x512xui8>, %z: tensor<512x1024xf32>) -> (tensor<640x16xi32>, tensor<512x1024xf32>) {
  %w = graph.constant dense<3> : tensor<512x16xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<640x512xui8>, tensor<512x16xi8>) -> tensor<640x16xi32>
  %1 = graph.relu %z : tensor<512x1024xf32>
  return %0, %1 : tensor<640x16xi32>, tensor<512x1024xf32>
}

// -----

// The large value is still read then.
// CHECK-LABEL: func.func @beside
// CHECK-NOT: graph.cast
// CHECK: func.func private @k_matmul
func.func @beside(%x: tensor<640x512xui8>, %z: tensor<512x1024xf32>) -> (tensor<640x16xi32>, tensor<512x1024xf32>) {
  %w = graph.constant dense<3> : tensor<512x16xi8>
  %1 = graph.relu %z : tensor<512x1024xf32>
  %0 = graph.matmul_integer %x, %w : (tensor<640x512xui8>, tensor<512x16xi8>) -> tensor<640x16xi32>
  return %0, %1 : tensor<640x16xi32>, tensor<512x1024xf32>
}
