// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(block-sums))' | FileCheck %s

// A step beyond which a block of iterations is no number is no reason to fail.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
func.func @wide(%x: memref<4xf32>, %to: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %step = arith.constant 9223372036854775807 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %to step %step iter_args(%all = %zero) -> f32 {
    %place = arith.remui %i, %c4 : index
    %one = memref.load %x[%place] : memref<4xf32>
    %next = arith.addf %all, %one : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
