// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-host-loops)' | FileCheck %s

// A loop with independent iterations is a kernel, whose tasks are some of them. Where something else is written than
// elements of the iteration, or the loop is not marked, it stays.
// CHECK-LABEL: func.func @main
// CHECK: tir.call_extern @[[ROWS:model_loops_[0-9a-f]+]](%{{.*}}, %{{.*}} : index, index) ins(%arg0 : memref<64x1024xf32>) outs(%arg1 : memref<64xf32>)
// CHECK: scf.for
// CHECK: scf.for
func.func @main(%x: memref<64x1024xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %sum = scf.for %j = %c0 to %c1024 step %c1 iter_args(%s = %zero) -> f32 {
      %0 = memref.load %x[%i, %j] : memref<64x1024xf32>
      %1 = arith.addf %s, %0 : f32
      scf.yield %1 : f32
    }
    memref.store %sum, %y[%i] : memref<64xf32>
  } {independent}
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c1024 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<64x1024xf32>
      memref.store %0, %y[%c0] : memref<64xf32>
    }
  } {independent}
  return
}

// A loop that is only better off in a function of its own has no tasks.
// CHECK-LABEL: func.func @alone
// CHECK: tir.call_extern @model_loops_{{[0-9a-f]+}} ins(%arg0 : memref<4096xf32>) outs(%arg1 : memref<1xf32>)
func.func @alone(%x: memref<4096xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c1 to %c4096 step %c1 {
    %0 = memref.load %x[%i] : memref<4096xf32>
    memref.store %0, %y[%c0] : memref<1xf32>
  } {alone}
  return
}


// CHECK: func.func private @[[ROWS]](%{{.*}}: memref<64x1024xf32>, %{{.*}}: memref<64xf32>, %[[LO:.*]]: index, %[[HI:.*]]: index)
// CHECK: %[[FROM:.*]] = arith.muli %[[LO]], %[[STEP:.*]] : index
// CHECK: arith.muli %[[HI]], %[[STEP]] : index
// CHECK: scf.for %{{.*}} = %[[FROM]] to
