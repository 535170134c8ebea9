// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-overlap-stores))' | FileCheck %s

// The first tile is computed and its store started before the loop; each other one is computed into the
// other half, and starts its store when the one before is done. The last is waited for behind the loop.

// CHECK-LABEL: func.func @stream
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<32xi32, #tir.space<"sums">>
// CHECK: %[[TILE:.*]] = memref.reinterpret_cast %[[BUFFER]]
// CHECK: tir.call_extern @compute ins(%arg1 : {{.*}}) outs(%[[TILE]] :
// CHECK: %[[FIRST:.*]] = tir.dma_start %[[TILE]] to %{{.*}} channel(1)
// CHECK: %[[REST:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[BEFORE:.*]] = %[[FIRST]]) -> (!tir.token) {
// CHECK: %[[HALF:.*]] = arith.remui %[[I]]
// CHECK: arith.muli %[[HALF]]
// CHECK: %[[OTHER:.*]] = memref.reinterpret_cast %[[BUFFER]]
// CHECK: tir.call_extern @compute {{.*}} outs(%[[OTHER]] :
// CHECK: tir.dma_wait %[[BEFORE]]
// CHECK-NEXT: %[[STORE:.*]] = tir.dma_start %[[OTHER]] to %{{.*}} channel(1)
// CHECK: scf.yield %[[STORE]] : !tir.token
// CHECK: tir.dma_wait %[[REST]]
// CHECK-NOT: tir.call_extern
func.func @stream(%y: memref<4x8xi32>, %x: memref<8xi32>) attributes {
    phl.dma = [{name = "sums", bytes = 1024, alignment = 64, dma = {
      channels = 2, dims = 2, double_buffer = true, overlap_stores = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
    tir.call_extern @compute ins(%x : memref<8xi32>) outs(%tile : memref<1x8xi32, #tir.space<"sums">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0, offset>]
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<4x8xi32> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    %s = tir.dma_start %tile to %row channel(1)
        : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    tir.dma_wait %s
  }
  return
}

// Beside loads that run ahead, which the loop goes on to carry; of a tile that is stored in part, halves
// are of the whole tile.

// CHECK-LABEL: func.func @with_loads
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<32xi32, #tir.space<"sums">>
// CHECK: memref.reinterpret_cast %[[BUFFER]] {{.*}} sizes: [1, 8], strides: [8, 1]
// CHECK: memref.reinterpret_cast %[[BUFFER]] {{.*}} sizes: [1, 5], strides: [8, 1]
// CHECK: %[[NEXT:.*]] = tir.dma_start %{{.*}} channel(0)
// CHECK: %[[FIRST:.*]] = tir.dma_start %{{.*}} channel(1)
// CHECK: %[[REST:.*]]:2 = scf.for {{.*}} iter_args(%[[LOADED:.*]] = %[[NEXT]], %[[BEFORE:.*]] = %[[FIRST]])
// CHECK: tir.dma_wait %[[LOADED]]
// CHECK: tir.dma_wait %[[BEFORE]]
// CHECK: scf.yield
// CHECK: tir.dma_wait %[[REST]]#1
// CHECK: tir.dma_wait %[[REST]]#0
func.func @with_loads(%y: memref<4x5xi32>, %x: memref<8xi32>) attributes {
    phl.dma = [{name = "sums", bytes = 1024, alignment = 64, dma = {
      channels = 2, dims = 2, double_buffer = true, overlap_stores = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %data = memref.alloc() : memref<8xi32, #tir.space<"data">>
  %first = tir.dma_start %x to %data channel(0) : memref<8xi32> to memref<8xi32, #tir.space<"data">>
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%token = %first) -> (!tir.token) {
    tir.dma_wait %token
    %next = tir.dma_start %x to %data channel(0) : memref<8xi32> to memref<8xi32, #tir.space<"data">>
    %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
    tir.call_extern @compute outs(%tile : memref<1x8xi32, #tir.space<"sums">>) args [#tir.arg<outs 0, offset>]
    %used = memref.subview %tile[0, 0] [1, 5] [1, 1]
        : memref<1x8xi32, #tir.space<"sums">> to memref<1x5xi32, strided<[8, 1]>, #tir.space<"sums">>
    %row = memref.subview %y[%i, 0] [1, 5] [1, 1] : memref<4x5xi32> to memref<1x5xi32, strided<[5, 1], offset: ?>>
    %s = tir.dma_start %used to %row channel(1)
        : memref<1x5xi32, strided<[8, 1]>, #tir.space<"sums">> to memref<1x5xi32, strided<[5, 1], offset: ?>>
    tir.dma_wait %s
    scf.yield %next : !tir.token
  }
  tir.dma_wait %last
  return
}
