// RUN: phaseline-opt %s --split-input-file --verify-plan --verify-diagnostics

// Bounds: the arena and the constants of a pool together.
module attributes {phl.constants = dense<0> : tensor<256xi8>, phl.board = [{name = "SRAM", bytes = 256, alignment = 64, users = [], holds = ["activations", "constants"]}]} {
  // expected-error @+1 {{does not fit pool 'SRAM', which has 256 bytes: 128 bytes of values and 256 of constants are 384. Give the pool 128 more}}
  func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}, %w: memref<256xi8> {phl.io = "pool-constants", phl.memory = "SRAM"}, %m: memref<128xi8> {phl.io = "pool-arena", phl.memory = "SRAM"}) attributes {phl.target = "llvm"} {
    return
  }
}

// -----

// A kind of value that the pool does not hold.
module attributes {phl.board = [{name = "FLASH", bytes = 256, alignment = 64, users = [], holds = ["constants"]}]} {
  // expected-error @+1 {{has 128 bytes of activations in pool 'FLASH', which holds none}}
  func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}, %m: memref<128xi8> {phl.io = "pool-arena", phl.memory = "FLASH"}) attributes {phl.target = "llvm"} {
    return
  }
}

// -----

// Overlap: two buffers of a pool at one place.
module attributes {phl.board = [{name = "SRAM", bytes = 256, alignment = 64, users = [], holds = ["activations"]}]} {
  func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}, %m: memref<128xi8> {phl.io = "pool-arena", phl.memory = "SRAM"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    %a = memref.view %m[%c0][] : memref<128xi8> to memref<32xf32>
    // expected-error @+1 {{of the arena in memory 'SRAM', where memref<32xf32> at bytes 0 to 128 is still in use}}
    %b = memref.view %m[%c0][] : memref<128xi8> to memref<32xf32>
    memref.copy %x, %a : memref<32xf32> to memref<32xf32>
    memref.copy %x, %b : memref<32xf32> to memref<32xf32>
    memref.copy %a, %y : memref<32xf32> to memref<32xf32>
    memref.copy %b, %y : memref<32xf32> to memref<32xf32>
    return
  }
}

// -----

// Users: a device's function is given a buffer that the device does not reach.
module attributes {phl.board = [{name = "TCM", bytes = 256, alignment = 64, users = ["host"], holds = ["activations"]}]} {
  func.func private @npu_0(%a: memref<32xf32>, %b: memref<32xf32>) attributes {phl.target = "npu"} {
    tir.call_extern @npu_op ins(%a : memref<32xf32>) outs(%b : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    return
  }
  func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}, %m: memref<128xi8> {phl.io = "pool-arena", phl.memory = "TCM"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{in 'main' is in pool 'TCM', which 'npu' uses and does not reach; the pool's users are host}}
    %a = memref.view %m[%c0][] : memref<128xi8> to memref<32xf32>
    memref.copy %x, %a : memref<32xf32> to memref<32xf32>
    tir.call_extern @npu_0 ins(%a : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    return
  }
}

// -----

// An input is there from the start, so nothing may be written to its place before it is read.
module attributes {phl.board = [{name = "SRAM", bytes = 256, alignment = 64, users = [], holds = ["activations", "inputs"]}]} {
  func.func @main(%x: memref<32xf32> {phl.io = "input", phl.memory = "SRAM", phl.offset = 0 : i64}, %y: memref<32xf32> {phl.io = "output"}, %m: memref<128xi8> {phl.io = "pool-arena", phl.memory = "SRAM"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.view %m[%c0][] {phl.port = {argument = 0 : i64, is = "inputs"}} : memref<128xi8> to memref<32xf32>
    // expected-error @+1 {{of the arena in memory 'SRAM', where memref<32xf32> at bytes 0 to 128 is still in use}}
    %b = memref.view %m[%c0][] : memref<128xi8> to memref<32xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<32xf32>)
    memref.copy %b, %y : memref<32xf32> to memref<32xf32>
    memref.copy %a, %y : memref<32xf32> to memref<32xf32>
    return
  }
}
