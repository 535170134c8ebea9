// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-overlap-stores))' | FileCheck %s

// CHECK-NOT: iter_args

// A pool that does not ask for it.
func.func @not_asked(%y: memref<4x8xi32>) attributes {
    phl.dma = [{name = "sums", bytes = 1024, alignment = 64, dma = {
      channels = 2, dims = 2, double_buffer = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<4x8xi32> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    %s = tir.dma_start %tile to %row channel(1)
        : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    tir.dma_wait %s
  }
  return
}

// Two stores on one channel; a store to what a call reads; and a tile from outside of the loop.
func.func @in_the_way(%y: memref<4x8xi32>, %z: memref<1x8xi32>, %x: memref<1x8xi32>) attributes {
    phl.dma = [{name = "sums", bytes = 1024, alignment = 64, dma = {
      channels = 2, dims = 2, double_buffer = true, overlap_stores = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<4x8xi32> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    %s = tir.dma_start %tile to %row channel(1)
        : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    tir.dma_wait %s
    %t = tir.dma_start %tile to %z channel(1) : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32>
    tir.dma_wait %t
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
    tir.call_extern @compute ins(%x : memref<1x8xi32>) outs(%tile : memref<1x8xi32, #tir.space<"sums">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0, offset>]
    %s = tir.dma_start %tile to %x channel(1) : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32>
    tir.dma_wait %s
  }
  %tile = memref.alloc() : memref<1x8xi32, #tir.space<"sums">>
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<4x8xi32> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    %s = tir.dma_start %tile to %row channel(1)
        : memref<1x8xi32, #tir.space<"sums">> to memref<1x8xi32, strided<[8, 1], offset: ?>>
    tir.dma_wait %s
  }
  return
}
