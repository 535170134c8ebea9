// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(promote-accumulators))' | FileCheck %s

// Both loops carry the sum, which begins with what is stored before them.
// CHECK-LABEL: func.func @nested
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT: memref.store
// CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[OUTER:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT: %[[INNER:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[OUTER]]) -> (f32) {
// CHECK-NEXT: %[[X:.*]] = memref.load %arg0
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[X]], %[[SUM]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: scf.yield %[[INNER]]
// CHECK: memref.store %[[ALL]], %arg1[%arg2]
// CHECK-NEXT: return
func.func @nested(%x: memref<4x8xf32>, %y: memref<16xf32>, %at: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %y[%at] : memref<16xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i, %j] : memref<4x8xf32>
      %b = memref.load %y[%at] : memref<16xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%at] : memref<16xf32>
    }
  }
  return
}

// Two at once, one of them in a buffer of which the loop reads nothing else.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: memref.load %arg{{[12]}}[]
// CHECK: %[[BOTH:.*]]:2 = scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: memref.load %arg1
// CHECK: scf.yield
// CHECK-DAG: memref.store %[[BOTH]]#{{[01]}}, %arg1[]
// CHECK-DAG: memref.store %[[BOTH]]#{{[01]}}, %arg2[]
func.func @two(%x: memref<8xf32>, %y: memref<f32>, %z: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %y[] : memref<f32>
    %c = memref.load %z[] : memref<f32>
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %a, %c : f32
    memref.store %s, %y[] : memref<f32>
    memref.store %m, %z[] : memref<f32>
  }
  return
}
