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
