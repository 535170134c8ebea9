// RUN: phaseline-opt %s --verify-plan | FileCheck %s

// Plans that are right, also where buffers share bytes at different times.

module attributes {phl.constants = dense<0> : tensor<128xi8>,
                   tir.pools = [#tir.pool<"spad", 1024, 64>]} {
  // CHECK-LABEL: @main
  func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                  %w: memref<128xi8> {phl.io = "constants"},
                  %arena: memref<192xi8> {phl.io = "arena"})
      attributes {phl.arena_bytes = 192 : i64} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    // Constants may share bytes.
    %w0 = memref.view %w[%c64][] : memref<128xi8> to memref<16xf32>
    %w1 = memref.view %w[%c64][] : memref<128xi8> to memref<2x8xf32>
    %a = memref.view %arena[%c0][] : memref<192xi8> to memref<16xf32>
    tir.call_extern @f ins(%x, %w0 : memref<16xf32>, memref<16xf32>) outs(%a : memref<16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
    // In place: one buffer, read and written.
    linalg.add ins(%a, %a : memref<16xf32>, memref<16xf32>) outs(%a : memref<16xf32>)
    %b = memref.view %arena[%c64][] : memref<192xi8> to memref<16xf32>
    memref.copy %a, %b : memref<16xf32> to memref<16xf32>
    // The bytes of %a again, after its last use.
    %c = memref.view %arena[%c0][] : memref<192xi8> to memref<2x8xf32>
    %cst = arith.constant 1.0 : f32
    linalg.fill ins(%cst : f32) outs(%c : memref<2x8xf32>)
    // Working memory of a call, on bytes that nobody uses meanwhile.
    %s = memref.view %arena[%c128][] : memref<192xi8> to memref<64xi8>
    tir.call_extern @inner ins(%b : memref<16xf32>) outs(%y, %s : memref<16xf32>, memref<64xi8>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
    tir.call_extern @f ins(%c, %w1 : memref<2x8xf32>, memref<2x8xf32>) outs(%y : memref<16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
    return
  }

  func.func private @inner(%x: memref<16xf32> {phl.io = "input"},
                           %y: memref<16xf32> {phl.io = "output"},
                           %arena: memref<64xi8> {phl.io = "arena"})
      attributes {phl.arena_bytes = 64 : i64} {
    %c0 = arith.constant 0 : index
    %t = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    memref.copy %t, %y : memref<16xf32> to memref<16xf32>
    return
  }

  // One view for two lives, as cse leaves it: the bytes are free in between.
  func.func private @lives(%x: memref<16xf32> {phl.io = "input"},
                           %y: memref<16xf32> {phl.io = "output"},
                           %arena: memref<64xi8> {phl.io = "arena"}) {
    %c0 = arith.constant 0 : index
    %t = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
    %u = memref.view %arena[%c0][] : memref<64xi8> to memref<2x8xf32>
    %cst = arith.constant 1.0 : f32
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    memref.copy %t, %y : memref<16xf32> to memref<16xf32>
    linalg.fill ins(%cst : f32) outs(%u : memref<2x8xf32>)
    %flat = memref.collapse_shape %u [[0, 1]] : memref<2x8xf32> into memref<16xf32>
    memref.copy %flat, %y : memref<16xf32> to memref<16xf32>
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    memref.copy %t, %y : memref<16xf32> to memref<16xf32>
    return
  }

  // Buffers of one iteration, and of one branch.
  func.func private @control(%x: memref<16xf32> {phl.io = "input"},
                             %y: memref<16xf32> {phl.io = "output"}, %p: i1, %n: index,
                             %arena: memref<128xi8> {phl.io = "arena"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    memref.copy %t, %y : memref<16xf32> to memref<16xf32>
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
      memref.copy %x, %u : memref<16xf32> to memref<16xf32>
      memref.copy %u, %y : memref<16xf32> to memref<16xf32>
      %v = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
      memref.copy %x, %v : memref<16xf32> to memref<16xf32>
      memref.copy %v, %y : memref<16xf32> to memref<16xf32>
    }
    %r = scf.if %p -> memref<16xf32> {
      %u = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
      memref.copy %x, %u : memref<16xf32> to memref<16xf32>
      memref.copy %u, %y : memref<16xf32> to memref<16xf32>
      %v = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
      memref.copy %x, %v : memref<16xf32> to memref<16xf32>
      scf.yield %v : memref<16xf32>
    } else {
      %v = memref.view %arena[%c64][] : memref<128xi8> to memref<16xf32>
      memref.copy %y, %v : memref<16xf32> to memref<16xf32>
      scf.yield %v : memref<16xf32>
    }
    memref.copy %r, %y : memref<16xf32> to memref<16xf32>
    return
  }

  func.func private @device(%x: memref<16xf32> {phl.io = "input"},
                            %y: memref<16xf32> {phl.io = "output"}) {
    %a = tir.buffer at 0 : memref<16xf32, #tir.space<"spad">>
    %t = tir.dma_start %x to %a channel(0)
        : memref<16xf32> to memref<16xf32, #tir.space<"spad">>
    tir.dma_wait %t
    tir.dma_copy %a to %y channel(0) : memref<16xf32, #tir.space<"spad">> to memref<16xf32>
    %b = tir.buffer at 0 : memref<16xf32, #tir.space<"spad">>
    tir.dma_copy %x to %b channel(0) : memref<16xf32> to memref<16xf32, #tir.space<"spad">>
    return
  }
}
