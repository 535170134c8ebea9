// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls{sizes=n=4:k=8}))' | FileCheck %s

// The tile of the result is int32 while the tensor is int8, in rows of 4; pieces of the sum stay in it. It
// is stored by a call that is given the tile's part of an array, and numbers; only inputs that are loaded
// are filled up in part.

// CHECK-LABEL: func.func @product
// CHECK: %[[END:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]] {{.*}} iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<2x10xi8>)
// CHECK: %[[SCALES:.*]] = tensor.extract_slice %arg2[%{{.*}}] [4] [1] : tensor<10xf32> to tensor<4xf32>
// CHECK: %[[SUMS:.*]] = bufferization.alloc_tensor() {memory_space = #tir.space<"sums">} : tensor<2x4xi32>
// CHECK: tir.call_extern @multiply ins(%{{[^,]*}}, %{{[^,]*}} : tensor<2x8xi8>, tensor<8x4xi8>) outs(%[[SUMS]] : tensor<2x4xi32>)
// CHECK-NOT: keeps
// CHECK: %[[SUM:.*]] = tir.call_extern @multiply {{.*}}accumulate
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[Y]][0, %{{.*}}] [2, 4] [1, 1]
// CHECK: %[[STORED:.*]] = tir.call_extern @put ins(%[[SUM]], %[[SCALES]] : tensor<2x4xi32>, tensor<4xf32>) outs(%[[PART]] : tensor<2x4xi8>)
// CHECK-SAME: args [#tir.arg<ins 0, offset>, #tir.arg<ins 1>, #tir.arg<outs 0>]
// CHECK-SAME: phl.host_ins = array<i64: 1>
// CHECK-SAME: phl.store = {columns = 4 : i64, scales = #tir.arg<ins 1>, zero = 2.500000e-01 : f64}
// CHECK: tensor.insert_slice %[[STORED]]
// CHECK: scf.yield

// Two columns are left, and two more fill up their rows.
// CHECK: %[[ROOM:.*]] = bufferization.alloc_tensor() {memory_space = #tir.space<"data">} : tensor<8x4xi8>
// CHECK: tensor.insert_slice %{{.*}} into %[[ROOM]][0, 0] [8, 2] [1, 1]
// CHECK: %[[LAST:.*]] = tir.call_extern @multiply {{.*}}accumulate
// CHECK: %[[USED:.*]] = tensor.extract_slice %[[LAST]][0, 0] [2, 2] [1, 1]
// CHECK: tir.call_extern @put ins(%[[USED]], %{{.*}} : tensor<2x2xi32>, tensor<2xf32>) outs(%{{.*}} : tensor<2x2xi8>)
// CHECK-SAME: phl.store = {columns = 2 : i64
func.func @product(%x: tensor<2x16xi8>, %w: tensor<16x10xi8>, %s: tensor<10xf32>) -> tensor<2x10xi8> {
  %init = tensor.empty() : tensor<2x10xi8>
  %y = tir.call_extern @multiply ins(%x, %w, %s : tensor<2x16xi8>, tensor<16x10xi8>, tensor<10xf32>)
      outs(%init : tensor<2x10xi8>)
      args [1 : i32, #tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
      {with_device, keeps, phl.host_ins = array<i64: 2>, phl.tile = {
        pools = [
          {name = "data", bytes = 1024, alignment = 4, row = 4, dma = {
            channels = 2, dims = 2, double_buffer = true, cost = "bytes", load = "int get(device, out tile, in host)"}},
          {name = "sums", bytes = 1024, alignment = 16, row = 16, dma = {
            channels = 1, dims = 2, double_buffer = false, cost = "bytes",
            store = "int put(device, in tile, out host, const f32 given.scales, f32 given.zero, u32 given.columns)"}}],
        loops = [
          {name = "n", extent = 10, multiple = 1, max = 0, reduce = false, windows = []},
          {name = "k", extent = 16, multiple = 1, max = 0, reduce = true, windows = []}],
        tensors = [
          {name = "x", element = 1, dims = [
            {size = 2, cut = -1, divisor = 1, window = -1}, {size = 16, cut = 1, divisor = 1, window = -1}]},
          {name = "w", element = 1, dims = [
            {size = 16, cut = 1, divisor = 1, window = -1}, {size = 10, cut = 0, divisor = 1, window = -1}]},
          {name = "s", element = 4, pool = -1, dims = [{size = 10, cut = 0, divisor = 1, window = -1}]},
          {name = "y", element = 4, outside = 1, dtype = "i32", pool = 1, given = [
            {name = "scales", table = 2}, {name = "zero", value = "0.25", table = -1},
            {name = "columns", value = "tile.n", table = -1}], dims = [
            {size = 2, cut = -1, divisor = 1, window = -1}, {size = 10, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "first(k)"}]}} -> tensor<2x10xi8>
  return %y : tensor<2x10xi8>
}
