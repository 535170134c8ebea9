// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels)" -split-input-file | FileCheck %s

// The dot product of AArch64 has signs on both sides: bytes without become signed ones, and so does their zero point.
// CHECK-LABEL: func.func @unsigned
// CHECK: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<160xi8>
// CHECK: %[[FLIP:.*]] = arith.constant dense<-128> : vector<16xi8>
// CHECK: %[[X:.*]] = arith.xori %{{.*}}, %[[FLIP]]
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.*}}, %[[X]], %{{.*}}) : (vector<4xi32>, vector<16xi8>, vector<16xi8>)
module attributes {llvm.target_triple = "aarch64-unknown-linux-gnu", phl.cpu = "neoverse-n1", phl.features = ""} {
  func.func @unsigned(%x: tensor<16x8xui8>) -> tensor<16x20xi32> {
    %w = graph.constant dense<3> : tensor<8x20xi8>
    %0 = graph.matmul_integer %x, %w : (tensor<16x8xui8>, tensor<8x20xi8>) -> tensor<16x20xi32>
    return %0 : tensor<16x20xi32>
  }
}

// -----

// CHECK-LABEL: func.func @signed
// CHECK-NOT: arith.xori
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
module attributes {llvm.target_triple = "aarch64-unknown-linux-gnu", phl.cpu = "generic", phl.features = "+dotprod"} {
  func.func @signed(%x: tensor<16x8xi8>) -> tensor<16x20xi32> {
    %w = graph.constant dense<3> : tensor<8x20xi8>
    %0 = graph.matmul_integer %x, %w : (tensor<16x8xi8>, tensor<8x20xi8>) -> tensor<16x20xi32>
    return %0 : tensor<16x20xi32>
  }
}

// -----

// CPUs without the instruction multiply one by one.
// CHECK-LABEL: func.func @others
// CHECK-NOT: sdot
// CHECK: arith.muli
module attributes {llvm.target_triple = "aarch64-unknown-linux-gnu", phl.cpu = "neoverse-n1", phl.features = "-dotprod"} {
  func.func @others(%x: tensor<16x8xi8>) -> tensor<16x20xi32> {
    %w = graph.constant dense<3> : tensor<8x20xi8>
    %0 = graph.matmul_integer %x, %w : (tensor<16x8xi8>, tensor<8x20xi8>) -> tensor<16x20xi32>
    return %0 : tensor<16x20xi32>
  }
}
