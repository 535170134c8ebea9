// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-lower-dma))' | FileCheck %s

// A wait names the channel of its transfer, through loops. Dimensions that are adjacent on both
// sides are one.
// CHECK-LABEL: func.func @stream
// CHECK: %[[X:.*]] = tir.buffer at 64
// CHECK: tir.call_extern @npu_load ins(%arg0 : memref<2x4xf32>) outs(%[[X]] : memref<2x4xf32, #tir.space<"spad">>)
// CHECK-SAME: args [#tir.arg<outs 0, offset>, #tir.arg<ins 0>, #tir.struct<"npu_shape",
// CHECK-SAME: {count = array<i64: 1, 1, 1, 8>, host = array<i64: 0, 0, 0, 4>, tile = array<i64: 0, 0, 0, 4>}>, 1 : i32]
// CHECK-SAME: {returns_status, strided, with_device}
// CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
// CHECK-NEXT: tir.call_extern @npu_wait args [1 : i32] {returns_status, with_device}
// CHECK-NEXT: tir.call_extern @npu_load
// CHECK: tir.call_extern @npu_wait args [1 : i32]
// CHECK-NEXT: tir.call_extern @npu_store ins(%[[X]] : {{.*}}) outs(%arg1 : {{.*}})
// CHECK-SAME: args [#tir.arg<ins 0, offset>, #tir.arg<outs 0>, 2 : i32, 32 : i32]
// CHECK-NEXT: tir.call_extern @npu_wait args [3 : i32]
// CHECK-NOT: tir.dma
func.func @stream(%a: memref<2x4xf32>, %b: memref<2x4xf32, strided<[8, 1]>>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {
      channels = 4, dims = 4, double_buffer = true, cost = "bytes",
      load = "int npu_load(device, out tile, in host, npu_shape { count = count, host = host_stride, tile = tile_stride }, i32 channel)",
      store = "int npu_store(device, in tile, out host, u32 rank, i64 host_stride[2])",
      wait = "int npu_wait(device, i32 channel)"}}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = tir.buffer at 64 : memref<2x4xf32, #tir.space<"spad">>
  %t = tir.dma_start %a to %x channel(1) : memref<2x4xf32> to memref<2x4xf32, #tir.space<"spad">>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %t) -> (!tir.token) {
    tir.dma_wait %u
    %v = tir.dma_start %a to %x channel(1) : memref<2x4xf32> to memref<2x4xf32, #tir.space<"spad">>
    scf.yield %v : !tir.token
  }
  tir.dma_wait %last
  %s = tir.dma_start %x to %b channel(3) : memref<2x4xf32, #tir.space<"spad">> to memref<2x4xf32, strided<[8, 1]>>
  tir.dma_wait %s
  return
}

// Transfers without waits are over when their function returns.
// CHECK-LABEL: func.func @blocking
// CHECK: tir.call_extern @npu_get ins(%arg0 : memref<8xf32>) outs(%{{.*}}) args [#tir.arg<ins 0>, #tir.arg<outs 0, offset>, 32 : i32] {strided}
// CHECK-NEXT: return
func.func @blocking(%a: memref<8xf32>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {
      channels = 1, dims = 1, double_buffer = false, cost = "bytes",
      load = "void npu_get(in host, out tile, u32 count[0] * element)",
      store = "void npu_put(in tile, out host)"}}]} {
  %x = tir.buffer at 64 : memref<8xf32, #tir.space<"spad">>
  %t = tir.dma_start %a to %x channel(0) : memref<8xf32> to memref<8xf32, #tir.space<"spad">>
  tir.dma_wait %t
  return
}

// Named arguments of a store are passed as numbers and arrays. Strides count the elements of their side.
// CHECK-LABEL: func.func @given
// CHECK: %[[X:.*]] = tir.buffer at 64
// CHECK: %[[USED:.*]] = memref.subview %[[X]]
// CHECK: tir.call_extern @put ins(%[[USED]], %arg1 : {{.*}}) outs(%arg0 : {{.*}})
// CHECK-SAME: args [#tir.arg<ins 0, offset>, #tir.arg<outs 0>, #tir.arg<ins 1>, 5 : i32, 2.500000e-01 : f32,
// CHECK-SAME: #tir.struct<"put_rows", {bytes = 1 : i32, host = array<i64: 8, 1>, own = 4 : i32, tile = array<i64: 32, 4>}>] {strided}
func.func @given(%y: memref<2x4xi8, strided<[8, 1]>>, %s: memref<4xf32>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {
      channels = 1, dims = 2, double_buffer = false, cost = "bytes",
      store = "void put(in tile, out host, const f32 given.scales, i32 given.zero + 2, f32 given.low, put_rows { bytes = element, own = tile_element, host = host_stride, tile = tile_stride })"}}]} {
  %x = tir.buffer at 64 : memref<2x8xi32, #tir.space<"spad">>
  %used = memref.subview %x[0, 0] [2, 4] [1, 1] : memref<2x8xi32, #tir.space<"spad">>
      to memref<2x4xi32, strided<[8, 1]>, #tir.space<"spad">>
  %t = tir.dma_start %used to %y channel(0) with(%s : memref<4xf32>) given {low = 0.25, scales = #tir.arg<ins 0>, zero = 3}
      : memref<2x4xi32, strided<[8, 1]>, #tir.space<"spad">> to memref<2x4xi8, strided<[8, 1]>>
  tir.dma_wait %t
  return
}
