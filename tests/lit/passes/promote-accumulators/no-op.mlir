// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(promote-accumulators))' | FileCheck %s

// The place moves with the loop.
// CHECK-LABEL: func.func @moves
// CHECK-NOT: iter_args
// CHECK: return
func.func @moves(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %b = memref.load %y[%i] : memref<8xf32>
    %s = arith.addf %b, %b : f32
    memref.store %s, %y[%i] : memref<8xf32>
  }
  return
}

// Another element of the same buffer may be the same one; through a view too.
// CHECK-LABEL: func.func @others
// CHECK-NOT: iter_args
// CHECK: return
func.func @others(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = memref.expand_shape %y [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %v[%c1, %c0] : memref<2x4xf32>
    %b = memref.load %y[%c0] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %y[%c0] : memref<8xf32>
  }
  return
}

// A call may read the buffer; a load behind the store sees the new value; only some iterations store.
// CHECK-LABEL: func.func @seen
// CHECK-NOT: iter_args
// CHECK: return
func.func @seen(%x: memref<8xf32>, %y: memref<f32>, %z: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %b = memref.load %y[] : memref<f32>
    %s = arith.addf %b, %b : f32
    memref.store %s, %y[] : memref<f32>
    tir.call_extern @f ins(%y : memref<f32>) outs(%z : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %b = memref.load %y[] : memref<f32>
    %s = arith.addf %b, %b : f32
    memref.store %s, %y[] : memref<f32>
    %c = memref.load %y[] : memref<f32>
    memref.store %c, %z[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    scf.if %p {
      %b = memref.load %y[] : memref<f32>
      %s = arith.addf %b, %b : f32
      memref.store %s, %y[] : memref<f32>
    }
  }
  return
}
