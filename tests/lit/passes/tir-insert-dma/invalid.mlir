// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-insert-dma))' -split-input-file -verify-diagnostics

func.func @inside(%a: memref<8xf32, #tir.space<"scratchpad">>, %b: memref<8xf32, #tir.space<"scratchpad">>) {
  // expected-error @+1 {{'memref.copy' op copies inside of scratchpad, which DMA cannot}}
  memref.copy %a, %b : memref<8xf32, #tir.space<"scratchpad">> to memref<8xf32, #tir.space<"scratchpad">>
  return
}

// -----

func.func @five(%a: memref<1x1x1x1x8xf32>, %b: memref<1x1x1x1x8xf32, #tir.space<"scratchpad">>) {
  // expected-error @+1 {{but a DMA transfer has at most 4 dimensions of known sizes and strides: cut it into smaller parts}}
  memref.copy %a, %b : memref<1x1x1x1x8xf32> to memref<1x1x1x1x8xf32, #tir.space<"scratchpad">>
  return
}

// -----

func.func @no_tile(%x: memref<8xi32>, %y: memref<8xi8>) {
  // expected-error @+1 {{has a phl.store, but is no call that stores a tile}}
  tir.call_extern @put ins(%x : memref<8xi32>) outs(%y : memref<8xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.store = {}}
  return
}
