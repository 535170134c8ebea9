// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(cascade-calls))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(cascade-calls,keep-results,tile-calls,canonicalize,cse),one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},func.func(cse,canonicalize,tir-insert-dma))' | FileCheck %s --check-prefix=MOVED

// Rows of 16 floats: a window of 3 rows with zeros around them, then one of 1. What lies between takes 4096 bytes
// as a whole, and the pool has 2048. For each stripe of the result the first call computes the rows that
// the second one reads, into the pool. The first stripe has zeros above, the last zeros below.

// CHECK-LABEL: func.func @stripes(
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[0, 0] [{{[0-9]+}}, 16]
// CHECK: %[[ROOM:.*]] = bufferization.alloc_tensor() {memory_space = #tir.space<"pad">} : tensor<{{[0-9]+}}x16xf32>
// CHECK: %[[BETWEEN:.*]] = tir.call_extern @blur ins(%[[X]]
// CHECK-SAME: outs(%[[ROOM]]
// CHECK-SAME: kept = true, name = "y"
// CHECK: tir.call_extern @scale ins(%[[BETWEEN]]
// CHECK-SAME: kept = true, name = "x"
// CHECK: tensor.insert_slice
// CHECK: scf.for
// CHECK:   tensor.extract_slice %arg0[%{{.*}}, 0]
// CHECK:   tir.call_extern @blur
// CHECK:   tir.call_extern @scale
// CHECK:   scf.yield
// CHECK: tir.call_extern @blur
// CHECK: tir.call_extern @scale
// CHECK-NOT: tir.call_extern
// CHECK: return

// Nothing is moved between the calls, and one transfer of each stripe goes in, one out.
// MOVED-LABEL: func.func @stripes(
// MOVED: tir.dma_start %{{.*}} channel(0)
// MOVED: tir.call_extern @blur
// MOVED-NOT: dma_start
// MOVED: tir.call_extern @scale
// MOVED: tir.dma_start %{{.*}} channel(3)
func.func @stripes(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %between = tensor.empty() : tensor<64x16xf32>
  %y = tir.call_extern @blur ins(%x : tensor<64x16xf32>) outs(%between : tensor<64x16xf32>)
      args [0 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "pad", bytes = 2048, alignment = 16, dma = {
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
        pools = [{name = "pad", bytes = 2048, alignment = 16, dma = {
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
