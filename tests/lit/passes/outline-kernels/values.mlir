// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-kernels{target=gpu launch=run})' | FileCheck %s

// A number that a loop gives, as a loop of one round leaves it, is made and used in one kernel. So is what is read
// before the loop, because the loop may write there.
// CHECK-LABEL: func.func @one
// CHECK: tir.call_extern @run outs(%arg0, %arg1 :
// CHECK-NEXT: {{^ *}}return
func.func @one(%x: memref<4xf32>, %y: memref<1xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %first = memref.load %x[%c0] : memref<4xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %zero) -> f32 {
    %one = memref.load %x[%i] : memref<4xf32>
    %next = arith.addf %all, %one : f32
    memref.store %next, %x[%i] : memref<4xf32>
    scf.yield %next : f32
  }
  %twice = arith.addf %sum, %first : f32
  memref.store %twice, %y[%c0] : memref<1xf32>
  return
}

// CHECK-LABEL: func.func private @
// CHECK: memref.load
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: memref.store
