// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-double-buffer))' | FileCheck %s

// A loop that stores to what it loads from.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: iter_args
func.func @in_place(%a: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %x = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
    %t = tir.dma_start %row to %x channel(0)
        : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32, #tir.space<"scratchpad">>
    tir.dma_wait %t
    %s = tir.dma_start %x to %row channel(3)
        : memref<1x8xf32, #tir.space<"scratchpad">> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    tir.dma_wait %s
  }
  return
}

// A loop whose transfers share a channel.
// CHECK-LABEL: func.func @one_channel
// CHECK-NOT: iter_args
func.func @one_channel(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %x = memref.alloc() : memref<8xf32, #tir.space<"scratchpad">>
    %t = tir.dma_start %a to %x channel(0) : memref<8xf32> to memref<8xf32, #tir.space<"scratchpad">>
    tir.dma_wait %t
    %s = tir.dma_start %x to %b channel(0) : memref<8xf32, #tir.space<"scratchpad">> to memref<8xf32>
    tir.dma_wait %s
  }
  return
}

// A declared pool has no room for a second tile, as another one stays in it during the loop.
// CHECK-LABEL: func.func @full
// CHECK: scf.for
// CHECK: tir.dma_start
// CHECK-NEXT: tir.dma_wait
// CHECK-NEXT: tir.call_extern
// CHECK-NOT: tir.dma_start
// CHECK: return
func.func @full(%a: memref<4x8xf32>) attributes {
    phl.dma = [{name = "scratchpad", bytes = 80 : i64, alignment = 16 : i64, dma = {
      channels = 2 : i64, dims = 2 : i64, double_buffer = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %w = memref.alloc() : memref<8xf32, #tir.space<"scratchpad">>
  tir.call_extern @clear outs(%w : memref<8xf32, #tir.space<"scratchpad">>) args [#tir.arg<outs 0, offset>]
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %x = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
    %t = tir.dma_start %row to %x channel(0)
        : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32, #tir.space<"scratchpad">>
    tir.dma_wait %t
    tir.call_extern @use ins(%x, %w : memref<1x8xf32, #tir.space<"scratchpad">>, memref<8xf32, #tir.space<"scratchpad">>)
        args [#tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>]
  }
  return
}
