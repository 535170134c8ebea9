// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls{sizes=m=8:n=8}))' | FileCheck %s --check-prefix=GIVEN

// A plan that says which tiles to take has those, in that order of loops, not the one tile that costs least. Sizes
// in the options come before them.

// CHECK-LABEL: func.func @product
// CHECK: %[[N:.*]] = arith.constant 2 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: tensor.extract_slice %arg1[%{{.*}}] [4] [1] : tensor<8xf32>
// CHECK: %[[M:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[M]]
// CHECK: tensor.extract_slice %arg0[%{{.*}}] [2] [1] : tensor<8xf32>
// CHECK: tir.call_extern @f
// CHECK-NOT: phl.tile

// GIVEN-LABEL: func.func @product
// GIVEN-NOT: scf.for
// GIVEN: tir.call_extern @f
func.func @product(%x: tensor<8xf32>, %w: tensor<8xf32>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = tir.call_extern @f ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%init : tensor<8x8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
      {phl.tile = {
        pools = [{name = "p", bytes = 1024, alignment = 16, dma = {
          channels = 1, dims = 2, double_buffer = false, cost = "10 + bytes",
          load = "void l(out tile, in host)", store = "void s(in tile, out host)"}}],
        loops = [
          {name = "m", extent = 8, multiple = 1, max = 0, reduce = false, windows = []},
          {name = "n", extent = 8, multiple = 1, max = 0, reduce = false, windows = []}],
        tensors = [
          {name = "x", element = 4, dims = [{size = 8, cut = 0, divisor = 1, window = -1}]},
          {name = "w", element = 4, dims = [{size = 8, cut = 1, divisor = 1, window = -1}]},
          {name = "y", element = 4, dims = [
            {size = 8, cut = 0, divisor = 1, window = -1}, {size = 8, cut = 1, divisor = 1, window = -1}]}],
        args = [],
        tiles = {sizes = [2, 4], order = ["n", "m"]}}} -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
