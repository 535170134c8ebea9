// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-lower-dma))' | FileCheck %s

// CHECK-LABEL: func.func @stream
// CHECK: %[[X:.*]] = tir.buffer at 64
// CHECK: tir.call_extern @vanilla_dma_in_start ins(%arg0 : memref<8xf32>) outs(%[[X]] : memref<8xf32, #tir.space<"scratchpad">>)
// CHECK-SAME: args [#tir.arg<outs 0, offset>, #tir.arg<ins 0>, #tir.struct<"vanilla_dma_shape",
// CHECK-SAME: {count = array<i64: 1, 1, 1, 8>, host_stride = array<i64: 0, 0, 0, 4>, spad_stride = array<i64: 0, 0, 0, 4>}>, 1 : i32]
// CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
// CHECK-NEXT: tir.call_extern @vanilla_dma_wait args [1 : i32] {header = "vanilla.h", returns_status, with_device}
// CHECK-NEXT: tir.call_extern @vanilla_dma_in_start
// CHECK: tir.call_extern @vanilla_dma_wait args [1 : i32]
// CHECK-NEXT: tir.call_extern @vanilla_dma_out_start ins(%[[X]] : {{.*}}) outs(%arg0 : memref<8xf32>)
// CHECK-SAME: args [#tir.arg<ins 0, offset>, #tir.struct<{{.*}}>, 3 : i32, #tir.arg<outs 0>]
// CHECK-NEXT: tir.call_extern @vanilla_dma_wait args [3 : i32]
// CHECK-NOT: tir.dma
func.func @stream(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = tir.buffer at 64 : memref<8xf32, #tir.space<"scratchpad">>
  %t = tir.dma_start %a to %x channel(1) : memref<8xf32> to memref<8xf32, #tir.space<"scratchpad">>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %t) -> (!tir.token) {
    tir.dma_wait %u
    %v = tir.dma_start %a to %x channel(1) : memref<8xf32> to memref<8xf32, #tir.space<"scratchpad">>
    scf.yield %v : !tir.token
  }
  tir.dma_wait %last
  %s = tir.dma_start %x to %a channel(3) : memref<8xf32, #tir.space<"scratchpad">> to memref<8xf32>
  tir.dma_wait %s
  return
}
