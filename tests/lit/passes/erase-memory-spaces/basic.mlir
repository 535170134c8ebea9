// RUN: phaseline-opt %s --pass-pipeline='builtin.module(erase-memory-spaces)' -split-input-file | FileCheck %s

// Memories of devices become plain addresses; pools on the chip stay what they are.
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[M:.*]]: memref<64xi8> {phl.io = "device-arena", phl.memory = "dram"})
// CHECK: %[[V:.*]] = memref.view %[[M]][%{{.*}}][] : memref<64xi8> to memref<8xf32>
// CHECK: memref.subview %[[V]][4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
// CHECK: tir.buffer at 0 : memref<8xf32, #tir.space<"scratchpad">>
module attributes {phl.memories = [{alignment = 64 : i64, bytes = 0 : i64, space = "dram", target = "dsp"}],
                   tir.pools = [#tir.pool<"scratchpad", 64, 64>]} {
  func.func @f(%m: memref<64xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %v = memref.view %m[%c0][] : memref<64xi8, #tir.space<"dram">> to memref<8xf32, #tir.space<"dram">>
    %s = memref.subview %v[4] [4] [1] : memref<8xf32, #tir.space<"dram">> to memref<4xf32, strided<[1], offset: 4>, #tir.space<"dram">>
    %t = tir.buffer at 0 : memref<8xf32, #tir.space<"scratchpad">>
    tir.call_extern @use ins(%s, %t : memref<4xf32, strided<[1], offset: 4>, #tir.space<"dram">>, memref<8xf32, #tir.space<"scratchpad">>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1, offset>]
    return
  }
}

// -----

// Without declared memories nothing changes.
// CHECK-LABEL: func.func @g
// CHECK-SAME: memref<8xf32, #tir.space<"dram">>
func.func @g(%m: memref<8xf32, #tir.space<"dram">>) {
  return
}
