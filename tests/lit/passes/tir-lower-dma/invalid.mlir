// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-lower-dma))' -split-input-file -verify-diagnostics

func.func @undeclared(%a: memref<8xf32>) {
  %x = tir.buffer at 0 : memref<8xf32, #tir.space<"spad">>
  // expected-error @+1 {{is to or from pool 'spad', and its function has no phl.dma that says how: declare [pool.dma] in the manifest}}
  %t = tir.dma_start %a to %x channel(1) : memref<8xf32> to memref<8xf32, #tir.space<"spad">>
  tir.dma_wait %t
  return
}

// -----

func.func @unknown_channel(%a: memref<8xf32>, %t: !tir.token) {
  // expected-error @+1 {{waits for a transfer whose channel is not known when compiling}}
  tir.dma_wait %t
  return
}

// -----

func.func @two_dimensions(%a: memref<2x8xf32, strided<[16, 1]>>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {channels = 1, dims = 1,
      double_buffer = false, cost = "bytes", load = "void npu_get(in host, out tile)",
      store = "void npu_put(in tile, out host)"}}]} {
  %x = tir.buffer at 0 : memref<2x8xf32, #tir.space<"spad">>
  // expected-error @+1 {{has 2 dimensions, and the device moves 1 at most}}
  %t = tir.dma_start %a to %x channel(0) : memref<2x8xf32, strided<[16, 1]>> to memref<2x8xf32, #tir.space<"spad">>
  tir.dma_wait %t
  return
}

// -----

// expected-error @+1 {{has a malformed phl.dma}}
func.func @malformed() attributes {phl.dma = [{name = "spad"}]} {
  return
}

// -----

func.func @no_integer(%y: memref<8xi8>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {channels = 1, dims = 1,
      double_buffer = false, cost = "bytes", store = "void put(in tile, out host, i32 given.zero)"}}]} {
  %x = tir.buffer at 0 : memref<8xi32, #tir.space<"spad">>
  // expected-error @+1 {{passes 0.5 where an integer is due}}
  %t = tir.dma_start %x to %y channel(0) given {zero = 0.5} : memref<8xi32, #tir.space<"spad">> to memref<8xi8>
  tir.dma_wait %t
  return
}

// -----

func.func @not_given(%y: memref<8xi8>) attributes {
    phl.dma = [{name = "spad", bytes = 65536, alignment = 64, dma = {channels = 1, dims = 1,
      double_buffer = false, cost = "bytes", store = "void put(in tile, out host, const f32 given.scales)"}}]} {
  %x = tir.buffer at 0 : memref<8xi32, #tir.space<"spad">>
  // expected-error @+1 {{is given no array `given.scales`}}
  %t = tir.dma_start %x to %y channel(0) given {zero = 1} : memref<8xi32, #tir.space<"spad">> to memref<8xi8>
  tir.dma_wait %t
  return
}
