// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tile-calls))' -split-input-file -verify-diagnostics

func.func @too_large(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{'tir.call_extern' op has no tile that fits pool 'p': the smallest takes 8064 of its 1024 bytes}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 1024, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @no_pool(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{has a phl.tile whose pool 'p' has no size or alignment}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 0, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @other_tensors(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{has a phl.tile whose tensors are not those of the call}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @no_loop(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{has a phl.tile whose tensors have dimensions without size or loop}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 1, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @no_such_size(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{`tile.j` is nothing that the tile has}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.j"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @no_such_argument(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{`tile` sets an argument that 'f' does not have: each `place` in its `args` is one of 0 to 2}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = -2, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @bad_cost(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{cannot be in the cost of a tile}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}], cost = "select(tile.i > 1, 1, 2)"}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @malformed(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has a malformed phl.tile: missing field `loops`}}
  %y = tir.call_extern @f ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 64, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}]}} -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @no_such_pool(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{has a phl.tile whose tensor 'y' is in pool 1 of 1}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 65536, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, pool = 1, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}]}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}

// -----

func.func @tiles_too_large(%x: tensor<4000xf32>, %init: tensor<4000xf32>) -> tensor<4000xf32> {
  // expected-error @+1 {{has a phl.tile with tiles that do not fit, or against what it requires: 4000 i}}
  %y = tir.call_extern @f ins(%x : tensor<4000xf32>) outs(%init : tensor<4000xf32>)
      args [4000 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>]
      {phl.tile = {pools = [{name = "p", bytes = 16384, alignment = 64,
          dma = {channels = 4, dims = 4, double_buffer = true, cost = "bytes", load = "void l(out tile, in host)", store = "void s(in tile, out host)", wait = "void w()"}}],
        loops = [{name = "i", extent = 4000, multiple = 1000, max = 0, reduce = false, windows = []}],
        tensors = [{name = "x", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}, {name = "y", element = 4, dims = [{size = 4000, cut = 0, divisor = 1, window = -1}]}],
        args = [{place = 0, field = "", value = "tile.i"}], tiles = {sizes = [4000], order = []}}} -> tensor<4000xf32>
  return %y : tensor<4000xf32>
}
