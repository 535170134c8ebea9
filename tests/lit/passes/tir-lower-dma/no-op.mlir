// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-lower-dma))' | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: memref.copy
// CHECK-NEXT: return
func.func @plain(%a: memref<8xf32>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  return
}

// Loops without transfers keep what they carry.
// CHECK-LABEL: func.func @sum
// CHECK: scf.for {{.*}} iter_args
func.func @sum(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
    %t = arith.addi %s, %i : index
    scf.yield %t : index
  }
  return %r : index
}
