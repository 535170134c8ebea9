// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(shrink-buffers))' --split-input-file | FileCheck %s

// The start of the sums, the sums and what is made of them become one loop over rows; the sums of one row stay.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: memref<4x8xi32>
// CHECK: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xi32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c4
// CHECK:   scf.for %[[J:.*]] = %c0 to %c8
// CHECK:     memref.store %c0_i32, %[[ROW]][%[[J]]]
// CHECK:   scf.for %[[K:.*]] = %c0 to %c8
// CHECK:     memref.load %{{.*}}[%[[I]], %[[K]]] : memref<4x8xi8>
// CHECK:     memref.load %[[ROW]][%[[K]]]
// CHECK:     memref.store %{{.*}}, %[[ROW]][%[[K]]]
// CHECK:   scf.for %[[L:.*]] = %c0 to %c8
// CHECK:     memref.load %[[ROW]][%[[L]]]
// CHECK:     memref.store %{{.*}}, %{{.*}}[%[[I]], %[[L]]] : memref<4x8xi8>
// CHECK-NOT: scf.for
// CHECK: return
func.func @sums(%x: memref<4x8xi8>, %y: memref<4x8xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c0_i32 = arith.constant 0 : i32
  %sums = memref.alloc() {alignment = 64 : i64} : memref<4x8xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %c0_i32, %sums[%i, %j] : memref<4x8xi32>
    }
  }
  %view = memref.expand_shape %sums [[0, 1], [2]] output_shape [4, 1, 8] : memref<4x8xi32> into memref<4x1x8xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i, %j] : memref<4x8xi8>
      %b = arith.extsi %a : i8 to i32
      %s = memref.load %view[%i, %c0, %j] : memref<4x1x8xi32>
      %n = arith.addi %s, %b : i32
      memref.store %n, %view[%i, %c0, %j] : memref<4x1x8xi32>
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %s = memref.load %sums[%i, %j] : memref<4x8xi32>
      %b = arith.trunci %s : i32 to i8
      memref.store %b, %y[%i, %j] : memref<4x8xi8>
    }
  }
  return
}

// -----

// A buffer of one loop needs no fusing; what has two dimensions left has them in a row.
// CHECK-LABEL: func.func @rest
// CHECK: %[[REST:.*]] = memref.alloc() : memref<15xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c2
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c5
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]]
// CHECK: memref.store %{{.*}}, %[[REST]][%[[AT]]]
func.func @rest(%y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %b = memref.alloc() : memref<2x3x5xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      scf.for %k = %c0 to %c5 step %c1 {
        memref.store %one, %b[%i, %j, %k] : memref<2x3x5xf32>
      }
    }
    %v = memref.load %b[%i, %c2, %c0] : memref<2x3x5xf32>
    memref.store %v, %y[%i] : memref<2xf32>
  }
  return
}
