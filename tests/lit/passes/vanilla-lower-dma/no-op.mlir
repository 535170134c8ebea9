// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-lower-dma))' | FileCheck %s

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
