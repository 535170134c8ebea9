// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-lower-dma))' -split-input-file -verify-diagnostics

func.func @not_floats(%a: memref<8xi32>) {
  %x = tir.buffer at 0 : memref<8xi32, #tir.space<"scratchpad">>
  // expected-error @+1 {{vanilla has 32-bit floats only}}
  %t = tir.dma_start %a to %x channel(1) : memref<8xi32> to memref<8xi32, #tir.space<"scratchpad">>
  tir.dma_wait %t
  return
}

// -----

func.func @unknown_channel(%a: memref<8xf32>, %t: !tir.token) {
  // expected-error @+1 {{waits for a transfer whose channel is not known when compiling}}
  tir.dma_wait %t
  return
}
