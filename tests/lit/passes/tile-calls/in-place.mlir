// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls))' | FileCheck %s

// Tiles in no pool are parts of the tensors, which the call gets with the strides that it asks for. The tile of
// the output stays where it is while its sum is added up.

// CHECK-LABEL: func.func @product
// CHECK-NOT: phl.dma
// CHECK: scf.for {{.*}} iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<8x6xf32>) {
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[Y]][%{{.*}}, 0] [4, 6]
// CHECK: %[[A0:.*]] = tensor.extract_slice %arg0[%{{.*}}, 0] [4, 5]
// CHECK: %[[FIRST:.*]] = tir.call_extern @product ins(%[[A0]], %{{.*}}) outs(%[[TILE]]
// CHECK-SAME: args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, 1 : i32, #tir.stride<ins 0, 0, i64>, #tir.struct<"s", {step = #tir.stride<outs 0, 0, i32>}>]
// CHECK: tir.call_extern @product {{.*}} outs(%[[FIRST]]
// CHECK-SAME: 0 : i32
// CHECK-SAME: accumulate
// CHECK: tensor.insert_slice {{.*}} into %[[Y]]
func.func @product(%a: tensor<8x10xf32>, %w: tensor<10x6xf32>) -> tensor<8x6xf32> {
  %init = tensor.empty() : tensor<8x6xf32>
  %y = tir.call_extern @product ins(%a, %w : tensor<8x10xf32>, tensor<10x6xf32>) outs(%init : tensor<8x6xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, 1 : i32, 10 : i64, #tir.struct<"s", {step = 6 : i32}>]
      {phl.tile = {
        pools = [],
        loops = [
          {name = "m", extent = 8, multiple = 4, max = 4, reduce = false, windows = []},
          {name = "k", extent = 10, multiple = 1, max = 5, reduce = true, windows = []}],
        tensors = [
          {name = "a", element = 4, pool = -1, dims = [
            {size = 8, cut = 0, divisor = 1, window = -1}, {size = 10, cut = 1, divisor = 1, window = -1}]},
          {name = "w", element = 4, pool = -1, dims = [
            {size = 10, cut = 1, divisor = 1, window = -1}, {size = 6, cut = -1, divisor = 1, window = -1}]},
          {name = "y", element = 4, pool = -1, dims = [
            {size = 8, cut = 0, divisor = 1, window = -1}, {size = 6, cut = -1, divisor = 1, window = -1}]}],
        args = [
          {place = 3, field = "", value = "first(k)"},
          {place = 4, field = "", value = "tile.a.stride[0]"},
          {place = 5, field = "step", value = "tile.y.stride[0]"}]}} -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
