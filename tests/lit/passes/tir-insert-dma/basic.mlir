// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-insert-dma))' | FileCheck %s

// Both loads are under way before one is waited for; the store is waited for at once.

// CHECK-LABEL: func.func @loads
// CHECK-SAME: tir.pools = [#tir.pool<"scratchpad", 65536, 64>]
// CHECK: %[[A:.*]] = tir.dma_start %arg0 to %[[TA:.*]] channel(0)
// CHECK: %[[B:.*]] = tir.dma_start %arg1 to %[[TB:.*]] channel(1)
// CHECK: tir.dma_wait %[[A]]
// CHECK-NEXT: tir.dma_wait %[[B]]
// CHECK-NEXT: tir.call_extern @npu_add
// CHECK: %[[C:.*]] = tir.dma_start %{{.*}} to %arg2 channel(3)
// CHECK-NEXT: tir.dma_wait %[[C]]
// CHECK-NOT: memref.copy
func.func @loads(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  %x = memref.alloc() : memref<8xf32, #tir.space<"scratchpad">>
  memref.copy %a, %x : memref<8xf32> to memref<8xf32, #tir.space<"scratchpad">>
  %y = memref.alloc() : memref<8xf32, #tir.space<"scratchpad">>
  memref.copy %b, %y : memref<8xf32> to memref<8xf32, #tir.space<"scratchpad">>
  %z = memref.alloc() : memref<8xf32, #tir.space<"scratchpad">>
  tir.call_extern @npu_add ins(%x, %y : memref<8xf32, #tir.space<"scratchpad">>, memref<8xf32, #tir.space<"scratchpad">>)
      outs(%z : memref<8xf32, #tir.space<"scratchpad">>)
      args [#tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, #tir.arg<outs 0, offset>]
  memref.copy %z, %c : memref<8xf32, #tir.space<"scratchpad">> to memref<8xf32>
  return
}

// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK: %[[T:.*]] = tir.dma_start %{{.*}} channel(0)
// CHECK: tir.dma_wait %[[T]]
// CHECK-NEXT: tir.call_extern @use
func.func @in_a_loop(%a: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %x = memref.alloc() : memref<1x8xf32, #tir.space<"scratchpad">>
    memref.copy %row, %x : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32, #tir.space<"scratchpad">>
    tir.call_extern @use ins(%x : memref<1x8xf32, #tir.space<"scratchpad">>) args [#tir.arg<ins 0, offset>]
  }
  return
}

// A call that stores a tile with other elements is a transfer that is told what the call was given.
// CHECK-LABEL: func.func @converted
// CHECK: %[[T:.*]] = tir.dma_start %{{.*}} to %arg0 channel(3) with(%arg1 : memref<8xf32>) given {scales = #tir.arg<ins 0>, zero = 3 : i64}
// CHECK-SAME: : memref<8xi32, #tir.space<"scratchpad">> to memref<8xi8>
// CHECK-NEXT: tir.dma_wait %[[T]]
// CHECK-NOT: tir.call_extern
func.func @converted(%y: memref<8xi8>, %s: memref<8xf32>) {
  %x = memref.alloc() : memref<8xi32, #tir.space<"scratchpad">>
  tir.call_extern @put ins(%x, %s : memref<8xi32, #tir.space<"scratchpad">>, memref<8xf32>) outs(%y : memref<8xi8>)
      args [#tir.arg<ins 0, offset>, #tir.arg<ins 1>, #tir.arg<outs 0>]
      {strided, phl.store = {scales = #tir.arg<ins 1>, zero = 3}}
  return
}
