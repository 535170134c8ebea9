// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(keep-results))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(keep-results,tile-calls))' | FileCheck %s --check-prefix=TILED

// There is room for all that lies between the calls: the first call writes it in the pool, and each tile of the
// second one is a part of it.

// CHECK-LABEL: func.func @stays(
// CHECK: %[[ROOM:.*]] = bufferization.alloc_tensor() {memory_space = #tir.space<"pad">} : tensor<64x16xf32>
// CHECK: %[[Y:.*]] = tir.call_extern @blur ins(%arg0
// CHECK-SAME: outs(%[[ROOM]]
// CHECK-SAME: kept = true, name = "y"
// CHECK: tir.call_extern @scale ins(%[[Y]]
// CHECK-SAME: kept = true, name = "x"

// TILED-LABEL: func.func @stays(
// TILED: bufferization.alloc_tensor() {memory_space = #tir.space<"pad">} : tensor<64x16xf32>
// TILED: alloc_tensor() copy
// TILED: tir.call_extern @blur
// TILED-SAME: #tir.arg<outs 0, offset>
// TILED: scf.for
// TILED-NOT: copy
// TILED: tensor.extract_slice
// TILED: tir.call_extern @scale
// TILED-SAME: #tir.arg<ins 0, offset>
func.func @stays(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %between = tensor.empty() : tensor<64x16xf32>
  %y = tir.call_extern @blur ins(%x : tensor<64x16xf32>) outs(%between : tensor<64x16xf32>)
      args [0 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "pad", bytes = 6144, alignment = 16, dma = {
          channels = 4, dims = 4, double_buffer = false, keep_results = true, cost = "8 + bytes",
          load = "void load(device, out tile, in host)", wait = "void wait(device)",
          store = "void store(device, in tile, out host)"}}],
        loops = [{name = "rows", extent = 64, multiple = 1, max = 0, reduce = false, windows = [
          {tensor = "x", dim = 0, input = 64, kernel = 3, stride = 1, dilation = 1, pad = 1}]}],
        tensors = [
          {name = "x", element = 4, dims = [
            {size = 64, cut = 0, divisor = 1, window = 0}, {size = 16, cut = -1, divisor = 1, window = -1}]},
          {name = "y", element = 4, dims = [
            {size = 64, cut = 0, divisor = 1, window = -1}, {size = 16, cut = -1, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.x.pad[0]"}], cost = "tile.rows"}}
      -> tensor<64x16xf32>
  %out = tensor.empty() : tensor<64x16xf32>
  %z = tir.call_extern @scale ins(%y : tensor<64x16xf32>) outs(%out : tensor<64x16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "pad", bytes = 6144, alignment = 16, dma = {
          channels = 4, dims = 4, double_buffer = false, keep_results = true, cost = "8 + bytes",
          load = "void load(device, out tile, in host)", wait = "void wait(device)",
          store = "void store(device, in tile, out host)"}}],
        loops = [{name = "rows", extent = 64, multiple = 1, max = 0, reduce = false, windows = []}],
        tensors = [
          {name = "x", element = 4, dims = [
            {size = 64, cut = 0, divisor = 1, window = -1}, {size = 16, cut = -1, divisor = 1, window = -1}]},
          {name = "y", element = 4, dims = [
            {size = 64, cut = 0, divisor = 1, window = -1}, {size = 16, cut = -1, divisor = 1, window = -1}]}],
        args = [], cost = "tile.rows"}}
      -> tensor<64x16xf32>
  return %z : tensor<64x16xf32>
}
