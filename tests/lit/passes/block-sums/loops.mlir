// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(block-sums,canonicalize,cse))' | FileCheck %s

// A row of 5,000 is ten blocks.
// CHECK-LABEL: func.func @row
// CHECK: %[[SUM:.*]] = memref.alloca() : memref<1xf32>
// CHECK: scf.for %[[B:.*]] = %c0 to %c5000 step %c512
// CHECK: memref.store %{{.*}}, %[[SUM]][%c0]
// CHECK: %[[END:.*]] = arith.addi %[[B]], %c512
// CHECK: %[[TO:.*]] = arith.minsi %[[END]], %c5000
// CHECK: scf.for %[[K:.*]] = %[[B]] to %[[TO]] step %c1
// CHECK: memref.load %arg0[%[[K]]]
// CHECK: memref.store %{{.*}}, %[[SUM]][%c0]
// CHECK: %[[PART:.*]] = memref.load %[[SUM]][%c0]
// CHECK: %[[ALL:.*]] = memref.load %arg1[%c0]
// CHECK: %[[NEW:.*]] = arith.addf %[[ALL]], %[[PART]]
// CHECK: memref.store %[[NEW]], %arg1[%c0]
func.func @row(%x: memref<5000xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5000 = arith.constant 5000 : index
  scf.for %k = %c0 to %c5000 step %c1 {
    %0 = memref.load %x[%k] : memref<5000xf32>
    %1 = memref.load %y[%c0] : memref<1xf32>
    %2 = arith.addf %1, %0 : f32
    memref.store %2, %y[%c0] : memref<1xf32>
  }
  return
}

// Sums of columns are in strips of 64, each in blocks.
// CHECK-LABEL: func.func @columns
// CHECK: memref.alloca() : memref<64xf32>
// CHECK: scf.for %[[S:.*]] = %c0 to %c70 step %c64
// CHECK: scf.for %[[B:.*]] = %c0 to %c5000 step %c512
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK: scf.for %{{.*}} = %[[B]] to
// CHECK: scf.for %{{.*}} = %[[S]] to
// CHECK: scf.for %{{.*}} = %[[S]] to
func.func @columns(%x: memref<5000x70xf32>, %y: memref<70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %c5000 = arith.constant 5000 : index
  scf.for %k = %c0 to %c5000 step %c1 {
    scf.for %j = %c0 to %c70 step %c1 {
      %0 = memref.load %x[%k, %j] : memref<5000x70xf32>
      %1 = memref.load %y[%j] : memref<70xf32>
      %2 = arith.addf %1, %0 : f32
      memref.store %2, %y[%j] : memref<70xf32>
    }
  }
  return
}

// A sum that loops carry begins anew in each block, 56 channels of nine taps; what else they carry goes on.
// CHECK-LABEL: func.func @carried
// CHECK: %[[ALL:.*]]:2 = scf.for %[[B:.*]] = %c0 to %c128 step %c56 iter_args(%[[SUM:.*]] = %arg1, %[[MAX:.*]] = %arg1)
// CHECK: %[[PART:.*]]:2 = scf.for %{{.*}} = %[[B]] to %{{.*}} step %c1 iter_args(%{{.*}} = %cst, %{{.*}} = %[[MAX]])
// CHECK: %[[NEW:.*]] = arith.addf %[[SUM]], %[[PART]]#0
// CHECK: scf.yield %[[NEW]], %[[PART]]#1
// CHECK: return %[[ALL]]#0, %[[ALL]]#1
func.func @carried(%x: memref<128x9xf32>, %bias: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c128 = arith.constant 128 : index
  %0:2 = scf.for %k = %c0 to %c128 step %c1 iter_args(%s = %bias, %m = %bias) -> (f32, f32) {
    %1:2 = scf.for %l = %c0 to %c9 step %c1 iter_args(%t = %s, %n = %m) -> (f32, f32) {
      %2 = memref.load %x[%k, %l] : memref<128x9xf32>
      %3 = arith.addf %t, %2 : f32
      %4 = arith.maximumf %n, %2 : f32
      scf.yield %3, %4 : f32, f32
    }
    scf.yield %1#0, %1#1 : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}

// Short sums, integers, and numbers that others read on the way stay as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: memref.alloca
// CHECK-NOT: step %c512
func.func @others(%x: memref<5000xf32>, %n: memref<5000xi32>, %y: memref<5000xf32>, %z: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c5000 = arith.constant 5000 : index
  scf.for %k = %c0 to %c512 step %c1 {
    %0 = memref.load %x[%k] : memref<5000xf32>
    %1 = memref.load %y[%c0] : memref<5000xf32>
    %2 = arith.addf %1, %0 : f32
    memref.store %2, %y[%c0] : memref<5000xf32>
  }
  scf.for %k = %c0 to %c5000 step %c1 {
    %0 = memref.load %n[%k] : memref<5000xi32>
    %1 = memref.load %z[%c0] : memref<1xi32>
    %2 = arith.addi %1, %0 : i32
    memref.store %2, %z[%c0] : memref<1xi32>
  }
  scf.for %k = %c1 to %c5000 step %c1 {
    %0 = memref.load %x[%k] : memref<5000xf32>
    %1 = memref.load %x[%c0] : memref<5000xf32>
    %2 = arith.addf %1, %0 : f32
    memref.store %2, %x[%c0] : memref<5000xf32>
    memref.store %2, %y[%k] : memref<5000xf32>
  }
  return
}

// Tasks of rows: a range that only running knows.
// CHECK-LABEL: func.func @tasks
// CHECK: scf.for %{{.*}} = %c0 to %arg2 step %c64
// CHECK: scf.for %{{.*}} = %c0 to %c5000 step %c512
func.func @tasks(%x: memref<5000x70xf32>, %y: memref<?xf32>, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5000 = arith.constant 5000 : index
  scf.for %k = %c0 to %c5000 step %c1 {
    scf.for %j = %c0 to %count step %c1 {
      %0 = memref.load %x[%k, %j] : memref<5000x70xf32>
      %1 = memref.load %y[%j] : memref<?xf32>
      %2 = arith.addf %1, %0 : f32
      memref.store %2, %y[%j] : memref<?xf32>
    }
  }
  return
}
