// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls{sizes=oh=2}))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls{sizes=ic=1}))' | FileCheck %s --check-prefix=CHUNKS
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls))' | FileCheck %s --check-prefix=WHOLE

// Three pieces of rows: the first touches the upper border, two in a loop touch none, the last
// touches the lower one. Weights, in blocks of 8, are loaded before all of them.

// CHECK-LABEL: func.func @conv
// CHECK-SAME: phl.dma = [{alignment = 64 : i64
// CHECK-SAME: tir.pools = [#tir.pool<"spad", 65536, 64>]
// CHECK: bufferization.alloc_tensor() copy(%arg1) {memory_space = #tir.space<"spad">} : tensor<1x3x72xf32>
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 3, 3, 8] [1, 1, 1, 1]
// CHECK: tir.call_extern @npu_conv
// CHECK-SAME: args [#tir.struct<"npu_conv", {height = 3 : i32, pad = 1 : i32}>, 1 : i32, #tir.arg<ins 0, offset>
// CHECK: tensor.insert_slice {{.*}}[0, 0, 0, 0] [1, 8, 2, 8]
// CHECK: %[[END:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %{{.*}} : index
// CHECK: tensor.extract_slice %arg0[0, 0, %[[FIRST]], 0] [1, 3, 4, 8]
// CHECK: tir.call_extern @npu_conv
// CHECK-SAME: {height = 4 : i32, pad = 0 : i32}
// CHECK: scf.yield
// CHECK: tensor.extract_slice %arg0[0, 0, 5, 0] [1, 3, 3, 8]
// CHECK: tensor.insert_slice {{.*}}[0, 0, 6, 0] [1, 8, 2, 8]

// The sum over input channels starts in the first piece of them and is added to in the others.

// CHUNKS-LABEL: func.func @conv
// CHUNKS: tir.call_extern @npu_conv
// CHUNKS-SAME: args [{{.*}}, 1 : i32,
// CHUNKS-NOT: accumulate
// CHUNKS: tir.call_extern @npu_conv
// CHUNKS-SAME: args [{{.*}}, 0 : i32,
// CHUNKS-SAME: accumulate

// WHOLE-LABEL: func.func @conv
// WHOLE-NOT: scf.for
// WHOLE-COUNT-1: tir.call_extern
// WHOLE: bufferization.materialize_in_destination
// WHOLE-NOT: phl.tile
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<1x3x72xf32>) -> tensor<1x8x8x8xf32> {
  %init = tensor.empty() : tensor<1x8x8x8xf32>
  %y = tir.call_extern @npu_conv ins(%x, %w : tensor<1x3x8x8xf32>, tensor<1x3x72xf32>)
      outs(%init : tensor<1x8x8x8xf32>)
      args [#tir.struct<"npu_conv", {height = 8 : i32, pad = 1 : i32}>, 1 : i32,
            #tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "spad", bytes = 65536, alignment = 64, dma = {
          channels = 4, dims = 4, double_buffer = true, cost = "32 + bytes / 16",
          load = "void npu_load(device, out tile, in host)",
          store = "void npu_store(device, in tile, out host)", wait = "void npu_wait(device)"}}],
        loops = [
          {name = "oc", extent = 8, multiple = 8, max = 0, reduce = false, windows = []},
          {name = "oh", extent = 8, multiple = 1, max = 0, reduce = false, windows = [
            {tensor = "x", dim = 2, input = 8, kernel = 3, stride = 1, dilation = 1, pad = 1}]},
          {name = "ic", extent = 3, multiple = 1, max = 0, reduce = true, windows = []}],
        tensors = [
          {name = "x", element = 4, dims = [
            {size = 1, cut = -1, divisor = 1, window = -1}, {size = 3, cut = 2, divisor = 1, window = -1},
            {size = 8, cut = 1, divisor = 1, window = 0}, {size = 8, cut = -1, divisor = 1, window = -1}]},
          {name = "w", element = 4, dims = [
            {size = 1, cut = 0, divisor = 8, window = -1}, {size = 3, cut = 2, divisor = 1, window = -1},
            {size = 72, cut = -1, divisor = 1, window = -1}]},
          {name = "y", element = 4, dims = [
            {size = 1, cut = -1, divisor = 1, window = -1}, {size = 8, cut = 0, divisor = 1, window = -1},
            {size = 8, cut = 1, divisor = 1, window = -1}, {size = 8, cut = -1, divisor = 1, window = -1}]}],
        args = [
          {place = 0, field = "height", value = "tile.x.shape[2]"},
          {place = 0, field = "pad", value = "tile.x.pad[2]"},
          {place = 1, field = "", value = "first(ic)"}]}} -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}
