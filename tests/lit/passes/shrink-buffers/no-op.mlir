// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(shrink-buffers))' --split-input-file | FileCheck %s

// An iteration reads what another one wrote.
// CHECK-LABEL: func.func @neighbours
// CHECK: memref.alloc() : memref<4x8xi32>
func.func @neighbours(%x: memref<4x8xi8>, %y: memref<4x8xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<4x8xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i, %j] : memref<4x8xi8>
      %w = arith.extsi %a : i8 to i32
      memref.store %w, %b[%i, %j] : memref<4x8xi32>
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %r = arith.subi %c3, %i : index
    scf.for %j = %c0 to %c8 step %c1 {
      %w = memref.load %b[%r, %j] : memref<4x8xi32>
      %a = arith.trunci %w : i32 to i8
      memref.store %a, %y[%i, %j] : memref<4x8xi8>
    }
  }
  return
}

// -----

// The last loop writes what the first one reads.
// CHECK-LABEL: func.func @in_place
// CHECK: memref.alloc() : memref<4x8xi32>
func.func @in_place(%x: memref<4x8xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<4x8xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%j, %i] : memref<4x8xi8>
      %w = arith.extsi %a : i8 to i32
      memref.store %w, %b[%i, %j] : memref<4x8xi32>
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %w = memref.load %b[%i, %j] : memref<4x8xi32>
      %a = arith.trunci %w : i32 to i8
      memref.store %a, %x[%i, %j] : memref<4x8xi8>
    }
  }
  return
}

// -----

// Between the loops somebody writes what the first one reads; a call uses the buffer.
// CHECK-LABEL: func.func @others
// CHECK: memref.alloc() : memref<4x8xi32>
// CHECK: memref.alloc() : memref<4x8xf32>
func.func private @call(memref<4x8xf32>)
func.func @others(%x: memref<4x8xi8>, %y: memref<4x8xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i8
  %b = memref.alloc() : memref<4x8xi32>
  %f = memref.alloc() : memref<4x8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i, %j] : memref<4x8xi8>
      %w = arith.extsi %a : i8 to i32
      memref.store %w, %b[%i, %j] : memref<4x8xi32>
      %r = arith.sitofp %a : i8 to f32
      memref.store %r, %f[%i, %j] : memref<4x8xf32>
    }
  }
  memref.store %one, %x[%c0, %c0] : memref<4x8xi8>
  func.call @call(%f) : (memref<4x8xf32>) -> ()
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %w = memref.load %b[%i, %j] : memref<4x8xi32>
      %a = arith.trunci %w : i32 to i8
      memref.store %a, %y[%i, %j] : memref<4x8xi8>
    }
  }
  return
}

// -----

// The source of the buffer would be in use for longer, and is as large.
// CHECK-LABEL: func.func @as_much
// CHECK-COUNT-3: memref.alloc() : memref<4x8xi8>
func.func private @use(memref<4x8xi8>)
func.func @as_much() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %x = memref.alloc() : memref<4x8xi8>
  %b = memref.alloc() : memref<4x8xi8>
  %y = memref.alloc() : memref<4x8xi8>
  func.call @use(%x) : (memref<4x8xi8>) -> ()
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i, %j] : memref<4x8xi8>
      memref.store %a, %b[%i, %j] : memref<4x8xi8>
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %b[%i, %j] : memref<4x8xi8>
      memref.store %a, %y[%i, %j] : memref<4x8xi8>
    }
  }
  func.call @use(%y) : (memref<4x8xi8>) -> ()
  return
}
