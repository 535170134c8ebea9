// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(forward-stores))' | FileCheck %s

// CHECK-LABEL: func.func @two_users
func.func @two_users(%x: memref<6xf32>, %e: memref<6xf32>, %a: memref<6xf32>, %b: memref<6xf32>) attributes {phl.launched} {
  %i = gpu.global_id x
  %0 = memref.load %x[%i] : memref<6xf32>
  // CHECK: %[[E:.*]] = math.exp
  %1 = math.exp %0 : f32
  // CHECK: memref.store %[[E]]
  memref.store %1, %e[%i] : memref<6xf32>
  // CHECK-NOT: memref.load
  %2 = memref.load %e[%i] : memref<6xf32>
  // CHECK: arith.negf %[[E]]
  %3 = arith.negf %2 : f32
  memref.store %3, %a[%i] : memref<6xf32>
  // Another buffer was written meanwhile.
  %4 = memref.load %e[%i] : memref<6xf32>
  // CHECK: math.sqrt %[[E]]
  %5 = math.sqrt %4 : f32
  memref.store %5, %b[%i] : memref<6xf32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%x: memref<6xf32>, %v: f32, %i: index, %j: index) attributes {phl.launched} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.store %v, %x[%i] : memref<6xf32>
  // Another element, and one that may have been overwritten, by way of a view too.
  // CHECK: memref.load
  %0 = memref.load %x[%j] : memref<6xf32>
  %view = memref.expand_shape %x [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
  memref.store %0, %view[%j, %c0] : memref<2x3xf32>
  // CHECK: memref.load
  %1 = memref.load %x[%i] : memref<6xf32>
  memref.store %1, %x[%i] : memref<6xf32>
  // CHECK: scf.for
  scf.for %k = %c0 to %i step %c1 {
    // The loop may have written this element already.
    // CHECK: memref.load
    %2 = memref.load %x[%i] : memref<6xf32>
    %3 = arith.addf %2, %v : f32
    memref.store %3, %x[%i] : memref<6xf32>
  }
  // CHECK: memref.load
  %4 = memref.load %x[%i] : memref<6xf32>
  memref.store %4, %x[%c0] : memref<6xf32>
  return
}

// The host's functions are its compiler's.
// CHECK-LABEL: func.func @host
func.func @host(%x: memref<6xf32>, %v: f32, %i: index) {
  memref.store %v, %x[%i] : memref<6xf32>
  // CHECK: memref.load
  %0 = memref.load %x[%i] : memref<6xf32>
  memref.store %0, %x[%i] : memref<6xf32>
  return
}
