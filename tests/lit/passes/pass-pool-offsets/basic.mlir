// RUN: phaseline-opt %s --pass-pool-offsets | FileCheck %s

module attributes {tir.pools = [#tir.pool<"sram", 4096, 16>]} {
  // Places are numbers: constants, or what loops compute; the host's buffers stay where they were.
  // CHECK-LABEL: func.func @places
  // CHECK-SAME: (%[[X:.*]]: memref<8x4xf32>, %[[Y:.*]]: memref<8x4xf32>, %[[I:.*]]: index, %[[N:.*]]: i32)
  func.func @places(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %i: index, %n: i32) {
    %t = tir.buffer at 64 : memref<8x4xf32, #tir.space<"sram">>
    // CHECK-NEXT: tir.call_extern @load ins(%[[X]] : memref<8x4xf32>) args [#tir.arg<ins 0>, 64 : i32] {with_device}
    tir.call_extern @load ins(%x : memref<8x4xf32>) outs(%t : memref<8x4xf32, #tir.space<"sram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0, offset>] {with_device}
    // CHECK-NEXT: tir.call_extern @first outs(%[[Y]] : memref<8x4xf32>) args [96 : i32, #tir.arg<outs 0>]
    %a = memref.subview %t[2, 0] [1, 4] [1, 1] : memref<8x4xf32, #tir.space<"sram">> to memref<4xf32, strided<[1], offset: 8>, #tir.space<"sram">>
    tir.call_extern @first ins(%a : memref<4xf32, strided<[1], offset: 8>, #tir.space<"sram">>) outs(%y : memref<8x4xf32>)
        args [#tir.arg<ins 0, offset>, #tir.arg<outs 0>]
    // CHECK: %[[STEP:.*]] = arith.constant 16 : index
    // CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[STEP]] : index
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %[[ROW]] : index
    // CHECK: %[[PLACE:.*]] = arith.index_cast %[[SUM]] : index to i32
    // CHECK: tir.call_extern @row(%[[N]], %[[PLACE]] : i32, i32) ins(%[[X]] : memref<8x4xf32>) args [#tir.struct<"struct row", {at = #tir.arg<scalars 1>, base = 64 : i32, count = #tir.arg<scalars 0>, from = #tir.arg<ins 0>}>]
    %b = memref.subview %t[%i, 0] [1, 4] [1, 1] : memref<8x4xf32, #tir.space<"sram">> to memref<1x4xf32, strided<[4, 1], offset: ?>, #tir.space<"sram">>
    %c = memref.collapse_shape %b [[0, 1]] : memref<1x4xf32, strided<[4, 1], offset: ?>, #tir.space<"sram">> into memref<4xf32, strided<[1], offset: ?>, #tir.space<"sram">>
    tir.call_extern @row(%n : i32) ins(%t, %x : memref<8x4xf32, #tir.space<"sram">>, memref<8x4xf32>) outs(%c : memref<4xf32, strided<[1], offset: ?>, #tir.space<"sram">>)
        args [#tir.struct<"struct row", {at = #tir.arg<outs 0, offset>, base = #tir.arg<ins 0, offset>, count = #tir.arg<scalars 0>, from = #tir.arg<ins 1>}>]
    // CHECK-NOT: tir.buffer
    // CHECK-NOT: memref.subview
    return
  }

  // Working memory is still the one that it was.
  // CHECK-LABEL: func.func @scratch
  func.func @scratch(%s: memref<16xi8>) {
    %t = tir.buffer at 0 : memref<4xf32, #tir.space<"sram">>
    // CHECK-NEXT: tir.call_extern @run outs(%{{.*}} : memref<16xi8>) args [0 : i32, #tir.arg<outs 0>] {scratch_out = 0 : i64}
    tir.call_extern @run outs(%t, %s : memref<4xf32, #tir.space<"sram">>, memref<16xi8>)
        args [#tir.arg<outs 0, offset>, #tir.arg<outs 1>] {scratch_out = 1 : i64}
    return
  }
}
