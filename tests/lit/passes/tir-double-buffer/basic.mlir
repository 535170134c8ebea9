// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-double-buffer))' | FileCheck %s

// CHECK-LABEL: func.func @stream
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<32xf32, #tir.space<"scratchpad">>
// CHECK: %[[FIRST:.*]] = tir.dma_start %{{.*}} channel(0)
// CHECK: %[[REST:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[LOADED:.*]] = %[[FIRST]]) -> (!tir.token) {
// CHECK-NEXT: tir.dma_wait %[[LOADED]]
// CHECK: arith.addi %[[I]]
// CHECK: %[[OTHER:.*]] = arith.remui
// CHECK: %[[NEXT:.*]] = tir.dma_start %{{.*}} channel(0)
// CHECK: arith.remui %[[I]]
// CHECK: memref.reinterpret_cast %[[BUFFER]]
// CHECK: tir.call_extern @use
// CHECK: scf.yield %[[NEXT]] : !tir.token
// CHECK: tir.dma_wait %[[REST]]
// CHECK: tir.call_extern @use
// CHECK-NOT: tir.call_extern
func.func @stream(%a: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %x = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
    %t = tir.dma_start %row to %x channel(0)
        : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32, #tir.space<"scratchpad">>
    tir.dma_wait %t
    tir.call_extern @use ins(%x : memref<1x8xf32, #tir.space<"scratchpad">>) args [#tir.arg<ins 0, offset>]
  }
  return
}

// A tile whose rows are filled up is loaded in part, and runs ahead all the same: halves have room for
// whole rows.
// CHECK-LABEL: func.func @filled
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<128xi8, #tir.space<"scratchpad">>
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[BUFFER]] {{.*}} sizes: [4, 3], strides: [16, 1]
// CHECK: tir.dma_start %{{.*}} to %[[PART]] channel(0)
// CHECK: scf.for {{.*}} -> (!tir.token)
// CHECK: memref.reinterpret_cast %[[BUFFER]] {{.*}} sizes: [4, 16], strides: [16, 1]
// CHECK: tir.call_extern @use
func.func @filled(%a: memref<3x4x3xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %part = memref.subview %a[%i, 0, 0] [1, 4, 3] [1, 1, 1]
        : memref<3x4x3xi8> to memref<4x3xi8, strided<[3, 1], offset: ?>>
    %x = memref.alloc() : memref<4x16xi8, #tir.space<"scratchpad">>
    %rows = memref.subview %x[0, 0] [4, 3] [1, 1]
        : memref<4x16xi8, #tir.space<"scratchpad">> to memref<4x3xi8, strided<[16, 1]>, #tir.space<"scratchpad">>
    %t = tir.dma_start %part to %rows channel(0)
        : memref<4x3xi8, strided<[3, 1], offset: ?>> to memref<4x3xi8, strided<[16, 1]>, #tir.space<"scratchpad">>
    tir.dma_wait %t
    tir.call_extern @use ins(%x : memref<4x16xi8, #tir.space<"scratchpad">>) args [#tir.arg<ins 0, offset>]
  }
  return
}

// The larger of two tiles has room for a second buffer, and runs ahead. The other one is waited for in each iteration.
// CHECK-LABEL: func.func @partly
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<32xf32, #tir.space<"scratchpad">>
// CHECK: tir.dma_start %{{.*}} channel(1)
// CHECK: scf.for {{.*}} -> (!tir.token)
// CHECK-NEXT: tir.dma_wait
// CHECK: tir.dma_start %{{.*}} channel(1)
// CHECK: %[[SMALL:.*]] = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
// CHECK: %[[T:.*]] = tir.dma_start %{{.*}} to %[[SMALL]] channel(0)
// CHECK: tir.dma_wait %[[T]]
// CHECK: tir.call_extern @use ins(%[[SMALL]],
func.func @partly(%a: memref<4x8xf32>, %b: memref<4x16xf32>) attributes {
    phl.dma = [{name = "scratchpad", bytes = 160 : i64, alignment = 16 : i64, dma = {
      channels = 3 : i64, dims = 2 : i64, double_buffer = true, cost = "bytes"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %p = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %q = memref.subview %b[%i, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    %x = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
    %s = tir.dma_start %p to %x channel(0)
        : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32, #tir.space<"scratchpad">>
    tir.dma_wait %s
    %y = memref.alloc() : memref<1x16xf32, #tir.space<"scratchpad">>
    %t = tir.dma_start %q to %y channel(1)
        : memref<1x16xf32, strided<[16, 1], offset: ?>> to memref<1x16xf32, #tir.space<"scratchpad">>
    tir.dma_wait %t
    tir.call_extern @use ins(%x, %y : memref<1x8xf32, #tir.space<"scratchpad">>, memref<1x16xf32, #tir.space<"scratchpad">>)
        args [#tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>]
  }
  return
}
