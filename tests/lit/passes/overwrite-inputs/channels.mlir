// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(overwrite-inputs))' --split-input-file | FileCheck %s

// A pool of two of 64 elements: its result of each channel is aside, and then where the channels before it were read.
// CHECK-LABEL: func.func @pool
// CHECK: %[[X:.*]] = memref.alloc() : memref<1x16x64xf32>
// CHECK: %[[ASIDE:.*]] = memref.alloc() : memref<32xf32>
// CHECK: call @fill(%[[X]])
// CHECK: %[[Y:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [1, 16, 32]
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [16, 32], strides: [32, 1]
// CHECK: scf.for %[[C:.*]] = %c0 to %c16
// CHECK:   scf.for %[[I:.*]] = %c0 to %c32
// CHECK:     memref.load %[[X]][%c0, %[[C]], %{{.*}}]
// CHECK:     memref.store %{{.*}}, %[[ASIDE]][%[[I]]]
// CHECK:   scf.for %[[E:.*]] =
// CHECK:     %[[V:.*]] = memref.load %[[ASIDE]][%[[E]]]
// CHECK:     memref.store %[[V]], %[[ROWS]][%[[C]], %[[E]]]
// CHECK: call @use(%[[Y]])
func.func private @fill(memref<1x16x64xf32>)
func.func private @use(memref<1x16x32xf32>)
func.func @pool() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() : memref<1x16x64xf32>
  %y = memref.alloc() : memref<1x16x32xf32>
  func.call @fill(%x) : (memref<1x16x64xf32>) -> ()
  scf.for %c = %c0 to %c16 step %c1 {
    scf.for %i = %c0 to %c32 step %c1 {
      %at = arith.muli %i, %c2 : index
      %next = arith.addi %at, %c1 : index
      %a = memref.load %x[%c0, %c, %at] : memref<1x16x64xf32>
      %b = memref.load %x[%c0, %c, %next] : memref<1x16x64xf32>
      %m = arith.maximumf %a, %b : f32
      memref.store %m, %y[%c0, %c, %i] : memref<1x16x32xf32>
    }
  }
  func.call @use(%y) : (memref<1x16x32xf32>) -> ()
  return
}

// -----

// Two in a row are in the same bytes; the loop that sets the start of the second result joins it.
// CHECK-LABEL: func.func @row
// CHECK: %[[X:.*]] = memref.alloc() : memref<8x64xf32>
// CHECK: %[[Y:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [8, 64]
// CHECK: %[[Z:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [8, 64]
// CHECK: call @use(%[[Z]])
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>)
func.func @row() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  %z = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %at = arith.subi %c63, %i : index
      %a = memref.load %x[%c, %at] : memref<8x64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %zero, %z[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %y[%c, %i] : memref<8x64xf32>
      %b = memref.load %z[%c, %i] : memref<8x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %z[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%z) : (memref<8x64xf32>) -> ()
  return
}

// -----

// %z begins with a loop that reads %x before %y is written over it. It would be moved behind that, so that %z keeps
// a buffer of its own.
// CHECK-LABEL: func.func @moved
// CHECK: %[[X:.*]] = memref.alloc() : memref<8x64xf32>
// CHECK-COUNT-2: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [8, 64]
// CHECK-NOT: memref.reinterpret_cast
// CHECK: return
func.func private @fill(memref<8x64xf32>, memref<8x64xf32>)
func.func private @use(memref<8x64xf32>, memref<8x64xf32>)
func.func @moved() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  %w = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  %z = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x, %w) : (memref<8x64xf32>, memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      memref.store %a, %z[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      %n = arith.negf %a : f32
      memref.store %n, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %w[%c, %i] : memref<8x64xf32>
      %b = memref.load %z[%c, %i] : memref<8x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %z[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%y, %z) : (memref<8x64xf32>, memref<8x64xf32>) -> ()
  return
}
