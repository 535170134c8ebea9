// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(cascade-calls))' | FileCheck %s

// The pool does not ask for it.
// CHECK-LABEL: func.func @unasked(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @unasked(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %between = tensor.empty() : tensor<64x16xf32>
  %y = tir.call_extern @blur ins(%x : tensor<64x16xf32>) outs(%between : tensor<64x16xf32>)
      args [0 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "pad", bytes = 2048, alignment = 16, dma = {
          channels = 4, dims = 4, double_buffer = false, cost = "8 + bytes",
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
          channels = 4, dims = 4, double_buffer = false, cost = "8 + bytes",
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

// The pool has room for all: keep-results leaves the result there.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @whole(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %between = tensor.empty() : tensor<64x16xf32>
  %y = tir.call_extern @blur ins(%x : tensor<64x16xf32>) outs(%between : tensor<64x16xf32>)
      args [0 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "pad", bytes = 65536, alignment = 16, dma = {
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
        pools = [{name = "pad", bytes = 65536, alignment = 16, dma = {
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

// Somebody else reads what lies between.
// CHECK-LABEL: func.func @read_twice(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @read_twice(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
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
  %sum = arith.addf %y, %z : tensor<64x16xf32>
  return %sum : tensor<64x16xf32>
}

// The call is told which piece of all is the first.
// CHECK-LABEL: func.func @ends(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @ends(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
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
        args = [{place = 0, field = "", value = "first(rows)"}], cost = "tile.rows"}}
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

// The calls have pools of their own.
// CHECK-LABEL: func.func @other_pool(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @other_pool(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %between = tensor.empty() : tensor<64x16xf32>
  %y = tir.call_extern @blur ins(%x : tensor<64x16xf32>) outs(%between : tensor<64x16xf32>)
      args [0 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.tile = {
        pools = [{name = "other", bytes = 2048, alignment = 16, dma = {
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

// Computing windows again, or more calls, would cost more than transfers do.
// CHECK-LABEL: func.func @dear(
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @dear(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
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
        args = [{place = 0, field = "", value = "tile.x.pad[0]"}], cost = "100000 + tile.rows"}}
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
        args = [], cost = "100000 + tile.rows"}}
      -> tensor<64x16xf32>
  return %z : tensor<64x16xf32>
}
