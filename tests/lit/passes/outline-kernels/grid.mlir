// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-kernels{target=gpu launch=run})' | FileCheck %s

// Loops over a grid are one kernel each, equal ones the same; views and constants are made again inside.
// CHECK-LABEL: func.func @region
// CHECK: tir.call_extern @run ins(%arg0 : memref<4x8xf32>) outs(%[[T:.*]] : memref<8x4xf32>)
// CHECK-SAME: phl.grid = array<i64: 4, 8, 1>, phl.launch = "gpu_kernel0"
// CHECK-SAME: with_device
// CHECK: tir.call_extern @run ins(%[[T]] : memref<8x4xf32>) outs(%arg1 : memref<8x4xf32>)
// CHECK-SAME: phl.grid = array<i64: 1, 1, 1>, phl.launch = "gpu_kernel1"
// CHECK: tir.call_extern @run ins(%arg0 : memref<4x8xf32>) outs(%[[T]] : memref<8x4xf32>)
// CHECK-SAME: phl.launch = "gpu_kernel0"
// CHECK-NEXT: {{^ +}}return

func.func @region(%x: memref<4x8xf32>, %y: memref<8x4xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = memref.alloc() : memref<8x4xf32>
  %v = memref.expand_shape %x [[0], [1, 2]] output_shape [4, 4, 2] : memref<4x8xf32> into memref<4x4x2xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c4) step (%c1, %c1) {
    %a = memref.load %v[%j, %c0, %c1] : memref<4x4x2xf32>
    memref.store %a, %t[%i, %j] : memref<8x4xf32>
    scf.reduce
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %t[%i, %c0] : memref<8x4xf32>
    memref.store %a, %y[%i, %c0] : memref<8x4xf32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c4) step (%c1, %c1) {
    %a = memref.load %v[%j, %c0, %c1] : memref<4x4x2xf32>
    memref.store %a, %t[%i, %j] : memref<8x4xf32>
    scf.reduce
  }
  return
}

// Four loops are three dimensions; a step and a begin belong to the kernel.
// CHECK-LABEL: func.func @four
// CHECK: phl.grid = array<i64: 5, 4, 6>
func.func @four(%x: memref<2x3x4x11xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c11 = arith.constant 11 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j, %k, %l) = (%c0, %c0, %c0, %c1) to (%c2, %c3, %c4, %c11) step (%c1, %c1, %c1, %c2) {
    memref.store %zero, %x[%i, %j, %k, %l] : memref<2x3x4x11xf32>
    scf.reduce
  }
  return
}

// A number that is read before is read in the kernel. Iterations that share a buffer come one after the other.
// CHECK-LABEL: func.func @number
// CHECK-NOT: memref.load
// CHECK: ins(%arg0 : memref<i32>) outs(%arg1 : memref<8xi32>)
// CHECK-SAME: phl.grid = array<i64: 8, 1, 1>
// CHECK: %[[T:.*]] = memref.alloc() : memref<2xi32>
// CHECK: ins(%arg0 : memref<i32>) outs(%[[T]], %arg1 : memref<2xi32>, memref<8xi32>)
// CHECK-SAME: phl.grid = array<i64: 1, 1, 1>
func.func @number(%x: memref<i32>, %y: memref<8xi32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.load %x[] : memref<i32>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %n, %y[%i] : memref<8xi32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %t = memref.alloc() : memref<2xi32>
    memref.store %n, %t[%c0] : memref<2xi32>
    %a = memref.load %t[%c0] : memref<2xi32>
    memref.store %a, %y[%i] : memref<8xi32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @of_the_host
// CHECK: scf.for
func.func @of_the_host(%x: memref<8xf32>) attributes {phl.target = "llvm"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<8xf32>
    memref.store %a, %x[%i] : memref<8xf32>
  }
  return
}

// Single elements are read and written in their order, by one kernel.
// CHECK-LABEL: func.func @elements
// CHECK-COUNT-1: tir.call_extern
// CHECK-NEXT: {{^ +}}return
func.func @elements(%x: memref<2xi32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c0] : memref<2xi32>
  %b = memref.load %x[%c1] : memref<2xi32>
  memref.store %b, %x[%c0] : memref<2xi32>
  memref.store %a, %x[%c1] : memref<2xi32>
  return
}

// CHECK-LABEL: func.func private @gpu_kernel0(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>) attributes {phl.launched, phl.target = "gpu"}
// CHECK-DAG: %[[I:.*]] = gpu.global_id y
// CHECK-DAG: %[[J:.*]] = gpu.global_id x
// CHECK: memref.expand_shape %arg0
// CHECK: memref.store %{{.*}}, %arg1[%[[I]], %[[J]]]

// CHECK-LABEL: func.func private @gpu_kernel1
// CHECK-NOT: gpu.global_id
// CHECK: scf.for
