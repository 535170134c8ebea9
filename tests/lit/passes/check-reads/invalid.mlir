// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(check-reads))' -split-input-file -verify-diagnostics

// overwrite-inputs: the result of the loop is where half of the input is still read.
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>)
func.func @overwritten(%z: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  %aside = memref.alloc() : memref<64xf32>
  func.call @fill(%x) {phl.access = 1 : i64} : (memref<8x64xf32>) -> ()
  %half = memref.subview %x[0, 32] [8, 32] [1, 1] : memref<8x64xf32> to memref<8x32xf32, strided<[64, 1], offset: 32>>
  %y = memref.reinterpret_cast %x to offset: [0], sizes: [8, 64], strides: [64, 1] : memref<8x64xf32> to memref<8x64xf32>
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>} : memref<8x64xf32>
      memref.store %a, %aside[%i] {phl.access = 3 : i64} : memref<64xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %aside[%i] : memref<64xf32>
      memref.store %a, %y[%c, %i] : memref<8x64xf32>
    }
  }
  // expected-error @below {{'memref.copy' op in 'overwritten' reads a buffer that has nothing of what it is to read}}
  memref.copy %half, %z {phl.access = 4 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>} : memref<8x32xf32, strided<[64, 1], offset: 32>> to memref<8x32xf32>
  func.call @use(%y) {phl.access = 5 : i64, phl.sees = array<i64: 0, 0, 1, 3, 4, 1, 3, 4>} : (memref<8x64xf32>) -> ()
  return
}

// -----

// overwrite-inputs: the channel that is read is written in an earlier iteration.
func.func private @fill(memref<8x64xf32>)
func.func @mirrored() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) {phl.access = 1 : i64} : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    %other = arith.subi %c7, %c : index
    scf.for %i = %c0 to %c64 step %c1 {
      // expected-error @below {{has written over what it is to read}}
      %a = memref.load %x[%other, %i] {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>} : memref<8x64xf32>
      memref.store %a, %x[%c, %i] {phl.access = 3 : i64} : memref<8x64xf32>
    }
  }
  return
}

// -----

// shrink-buffers: the buffer keeps one iteration, but the loops were not fused.
func.func @shrunk(%x: memref<8x64xf32>, %z: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %y = memref.alloc() : memref<64xf32>
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] {phl.access = 1 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} : memref<8x64xf32>
      memref.store %a, %y[%i] {phl.access = 2 : i64} : memref<64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      // expected-error @below {{reads a buffer of which each iteration has written over the one before}}
      %a = memref.load %y[%i] {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 2, 3, 1, 2, 3>} : memref<64xf32>
      memref.store %a, %z[%c, %i] {phl.access = 4 : i64} : memref<8x64xf32>
    }
  }
  return
}

// -----

// shrink-buffers: fused, but the second loop comes first.
func.func @fused(%x: memref<8x64xf32>, %z: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<64xf32>
  %c64 = arith.constant 64 : index
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      // expected-error @below {{reads a buffer before what it is to read is written there}}
      %a = memref.load %y[%i] {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 2, 3, 1, 2, 3>} : memref<64xf32>
      memref.store %a, %z[%c, %i] {phl.access = 4 : i64} : memref<8x64xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %x[%c, %i] {phl.access = 1 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} : memref<8x64xf32>
      memref.store %a, %y[%i] {phl.access = 2 : i64} : memref<64xf32>
    }
  }
  return
}

// -----

// reuse-elementwise-inputs: the input was needed once more.
func.func @elementwise(%x: memref<64xf32>, %z: memref<64xf32>) {
  %k = memref.alloc() : memref<64xf32>
  linalg.exp {phl.access = 1 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} ins(%x : memref<64xf32>) outs(%k : memref<64xf32>)
  linalg.negf {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>} ins(%k : memref<64xf32>) outs(%k : memref<64xf32>)
  // expected-error @below {{reads a buffer that has nothing of what it is to read}}
  linalg.add {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2, 1, 0, 1, 2, 3, 1, 2, 3>} ins(%k, %k : memref<64xf32>, memref<64xf32>) outs(%z : memref<64xf32>)
  return
}

// -----

// keep-results: what stays in the pool is written over by another call, through a view.
module attributes {tir.pools = [#tir.pool<"spad", 1024, 64>]} {
  func.func @kept(%x: memref<16xf32>, %z: memref<16xf32>) {
    %k = memref.alloc() : memref<32xf32, #tir.space<"spad">>
    %a = memref.subview %k[0] [16] [1] : memref<32xf32, #tir.space<"spad">> to memref<16xf32, strided<[1]>, #tir.space<"spad">>
    %b = memref.subview %k[8] [16] [1] : memref<32xf32, #tir.space<"spad">> to memref<16xf32, strided<[1], offset: 8>, #tir.space<"spad">>
    tir.call_extern @f ins(%x : memref<16xf32>) outs(%a : memref<16xf32, strided<[1]>, #tir.space<"spad">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.access = 1 : i64}
    tir.call_extern @g ins(%x : memref<16xf32>) outs(%b : memref<16xf32, strided<[1], offset: 8>, #tir.space<"spad">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.access = 2 : i64}
    // expected-error @below {{reads a buffer after tir.call_extern}}
    tir.call_extern @h ins(%a : memref<16xf32, strided<[1]>, #tir.space<"spad">>) outs(%z : memref<16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>}
    return
  }
}

// -----

// cascade-calls: a stripe reads one row more than the stripe before it left there.
func.func @stripes(%x: memref<8x16xf32>, %z: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %k = memref.alloc() : memref<1x16xf32>
    %from = memref.subview %x[%i, 0] [1, 16] [1, 1] : memref<8x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    %to = memref.subview %z[%i, 0] [1, 16] [1, 1] : memref<8x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    // expected-error @below {{reads a buffer before what it is to read is written there}}
    tir.call_extern @g ins(%k : memref<1x16xf32>) outs(%to : memref<1x16xf32, strided<[16, 1], offset: ?>>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>}
    tir.call_extern @f ins(%from : memref<1x16xf32, strided<[16, 1], offset: ?>>) outs(%k : memref<1x16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.access = 1 : i64}
  }
  return
}

// -----

// order-operations: a copy into a buffer comes before the last read of what was in it.
func.func @order(%x: memref<64xf32>, %w: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %k = memref.alloc() : memref<64xf32>
  memref.copy %x, %k {phl.access = 1 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} : memref<64xf32> to memref<64xf32>
  memref.copy %w, %k {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} : memref<64xf32> to memref<64xf32>
  // expected-error @below {{reads a buffer that has nothing of what it is to read}}
  memref.copy %k, %y {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2>} : memref<64xf32> to memref<64xf32>
  memref.copy %k, %z {phl.access = 4 : i64, phl.sees = array<i64: 0, 0, 1, 3, 4, 1, 3, 4>} : memref<64xf32> to memref<64xf32>
  return
}

// -----

// plan-memory, assign-pools: two buffers got the same bytes of a block.
func.func @planned(%x: memref<16xf32>, %z: memref<16xf32>, %arena: memref<128xi8>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %b = memref.view %arena[%c32][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a {phl.access = 1 : i64} : memref<16xf32> to memref<16xf32>
  linalg.fill {phl.access = 2 : i64} ins(%zero : f32) outs(%b : memref<16xf32>)
  // expected-error @below {{reads a buffer after linalg.fill}}
  linalg.add {phl.access = 3 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 1, 1, 2, 1, 0, 1, 2, 3, 1, 2, 3>} ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%z : memref<16xf32>)
  return
}
