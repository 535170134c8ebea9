// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-kernels{target=gpu launch=run})' | FileCheck %s

// A start value, the sum on it, and what is computed of that, each at the same indices: one kernel.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: tir.call_extern
// CHECK-NEXT: {{^ +}}return
func.func @chain(%x: memref<4x8xf32>, %y: memref<4xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<4xf32>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %zero, %t[%i] : memref<4xf32>
    scf.reduce
  }
  %v = memref.collapse_shape %x [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %v[%j] : memref<32xf32>
      %b = memref.load %t[%i] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %t[%i] : memref<4xf32>
    }
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %a = memref.load %t[%i] : memref<4xf32>
    %b = math.exp %a : f32
    memref.store %b, %y[%i] : memref<4xf32>
    scf.reduce
  }
  return
}

// The second loop reads what other iterations of the first one write.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: tir.call_extern
// CHECK-NEXT: {{^ +}}return
func.func @others(%x: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    memref.store %zero, %x[%i, %j] : memref<4x4xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    %a = memref.load %x[%j, %i] : memref<4x4xf32>
    memref.store %a, %y[%i, %j] : memref<4x4xf32>
    scf.reduce
  }
  return
}

// All iterations of the first loop write one element; the grids differ; nothing is shared.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-5: tir.call_extern
// CHECK-NEXT: {{^ +}}return
func.func @apart(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<8xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %zero, %x[%c0] : memref<4xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %a = memref.load %x[%c0] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %zero, %z[%i] : memref<8xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %zero, %x[%i] : memref<4xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %zero, %y[%i] : memref<4xf32>
    scf.reduce
  }
  return
}
