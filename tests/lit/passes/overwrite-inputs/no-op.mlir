// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(overwrite-inputs))' --split-input-file | FileCheck %s

// The input is read again later, and a channel needs another one.
// CHECK-LABEL: func.func @needed
// CHECK-NOT: reinterpret_cast
// CHECK: return
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>, memref<8x64xf32>)
func.func @needed() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  %z = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    %other = arith.subi %c7, %c : index
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%other, %i] : memref<8x64xf32>
      memref.store %a, %z[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%y, %z) : (memref<8x64xf32>, memref<8x64xf32>) -> ()
  return
}

// -----

// Elsewhere more is in use, so that the copies would be for nothing.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: reinterpret_cast
// CHECK: return
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>)
func.func private @large(memref<4096xf32>)
func.func @elsewhere() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %large = memref.alloc() : memref<4096xf32>
  func.call @large(%large) : (memref<4096xf32>) -> ()
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%y) : (memref<8x64xf32>) -> ()
  return
}

// -----

// A view that was made before is read behind the loop, through another view: rotary embeddings.
// CHECK-LABEL: func.func @viewed
// CHECK-NOT: reinterpret_cast
// CHECK: return
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>, memref<8x32xf32>)
func.func @viewed() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  %z = memref.alloc() : memref<8x32xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  %half = memref.subview %x[0, 32] [8, 32] [1, 1] : memref<8x64xf32> to memref<8x32xf32, strided<[64, 1], offset: 32>>
  %turned = memref.transpose %half (i, j) -> (j, i) : memref<8x32xf32, strided<[64, 1], offset: 32>> to memref<32x8xf32, strided<[1, 64], offset: 32>>
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c32 step %c1 {
      %a = memref.load %turned[%i, %c] : memref<32x8xf32, strided<[1, 64], offset: 32>>
      memref.store %a, %z[%c, %i] : memref<8x32xf32>
    }
  }
  func.call @use(%y, %z) : (memref<8x64xf32>, memref<8x32xf32>) -> ()
  return
}

// -----

// The loop that sets the start of the result reads other channels of the input. As one loop with the last, it
// would read them when they are written over.
// CHECK-LABEL: func.func @mirrored
// CHECK-NOT: reinterpret_cast
// CHECK: return
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>)
func.func @mirrored() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    %other = arith.subi %c7, %c : index
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%other, %i] : memref<8x64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] : memref<8x64xf32>
      %b = memref.load %y[%c, %i] : memref<8x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%y) : (memref<8x64xf32>) -> ()
  return
}
