// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels{vector-bits=256 winograd=2})" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels{vector-bits=512 byte-products=true winograd=2})" | FileCheck %s --check-prefix=BYTES

// Sums of bytes by tiles of numbers of 16 bits, which are multiplied in pairs. Results are four times the sums, less what
// zero points add.
// CHECK-LABEL: func.func @conv
// CHECK: tir.call_extern @k_winograd
// CHECK-SAME: tensor<1x10x10x16xui8>
// CHECK: memref.view {{.*}} to memref<{{[0-9]+}}xi16>
// CHECK: memref.view {{.*}} to memref<{{[0-9]+}}xi32>
// CHECK: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// CHECK: arith.subi {{.*}} : vector<16xi16>
// CHECK: llvm.x86.avx2.pmadd.wd
// CHECK: arith.shrsi {{.*}} : vector<8xi32>

// Products of four bytes are faster than that.
// BYTES-NOT: k_winograd
func.func @conv(%x: tensor<1x16x10x10xui8>) -> tensor<1x16x10x10xi32> {
  %w = graph.constant dense<3> : tensor<16x16x3x3xi8>
  %z = graph.constant dense<7> : tensor<ui8>
  %y = graph.conv_integer %x, %w x_zero_point %z pads = [1, 1, 1, 1]
      : (tensor<1x16x10x10xui8>, tensor<16x16x3x3xi8>, tensor<ui8>) -> tensor<1x16x10x10xi32>
  return %y : tensor<1x16x10x10xi32>
}
