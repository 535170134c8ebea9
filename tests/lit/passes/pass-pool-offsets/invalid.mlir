// RUN: phaseline-opt %s --pass-pool-offsets -split-input-file -verify-diagnostics

module attributes {tir.pools = [#tir.pool<"sram", 64, 16>]} {
  func.func @loads(%i: index) -> f32 {
    %t = tir.buffer at 0 : memref<4xf32, #tir.space<"sram">>
    // expected-error @+1 {{uses a buffer in a pool that only functions of the device reach: leave the operation to a call with a tile, or to the host}}
    %v = memref.load %t[%i] : memref<4xf32, #tir.space<"sram">>
    return %v : f32
  }
}

// -----

module attributes {tir.pools = [#tir.pool<"sram", 64, 16>]} {
  func.func @address() {
    %t = tir.buffer at 0 : memref<4xf32, #tir.space<"sram">>
    // expected-error @+1 {{passes the address of a buffer in a device's memory; pass its offset}}
    tir.call_extern @run ins(%t : memref<4xf32, #tir.space<"sram">>) args [#tir.arg<ins 0>]
    return
  }
}

// -----

module attributes {tir.pools = [#tir.pool<"sram", 64, 16>]} {
  func.func @unplanned() {
    %t = memref.alloc() : memref<4xf32, #tir.space<"sram">>
    // expected-error @+1 {{passes a buffer in a pool whose place is not known}}
    tir.call_extern @run ins(%t : memref<4xf32, #tir.space<"sram">>) args [#tir.arg<ins 0, offset>]
    return
  }
}
