// RUN: phaseline-opt %s --verify-plan -split-input-file -verify-diagnostics

func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<2624xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 2624 : i64} {
  %c = arith.constant 99968 : index
  // expected-error @below {{'memref.view' op in 'main' puts memref<16xf32> of 64 bytes at byte 99968 of the arena, which has 2624}}
  %a = memref.view %arena[%c][] : memref<2624xi8> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

// The last bytes are outside.
func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<100xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 100 : i64} {
  %c = arith.constant 64 : index
  // expected-error @below {{of 64 bytes at byte 64 of the arena, which has 100}}
  %a = memref.view %arena[%c][] : memref<100xi8> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<100xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 100 : i64} {
  %c = arith.constant -64 : index
  // expected-error @below {{of 64 bytes at byte -64 of the arena, which has 100}}
  %a = memref.view %arena[%c][] : memref<100xi8> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 128 : i64} {
  %c = arith.constant 4 : index
  // expected-error @below {{puts memref<16xf32> at byte 4 of the arena; places are multiples of 64}}
  %a = memref.view %arena[%c][] : memref<128xi8> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @main(%y: memref<16xf32> {phl.io = "output"}, %at: index,
                %arena: memref<128xi8> {phl.io = "arena"}) {
  // expected-error @below {{at a place in the arena that is no constant}}
  %a = memref.view %arena[%at][] : memref<128xi8> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @main(%y: memref<128xi8> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"}) {
  // expected-error @below {{'memref.copy' op in 'main' uses the arena as a whole}}
  memref.copy %arena, %y : memref<128xi8> to memref<128xi8>
  return
}

// -----

func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  // expected-error @below {{'memref.view' op in 'main' puts memref<16xf32> at bytes 0 to 64 of the arena, where memref<16xf32> at bytes 0 to 64 is still in use}}
  %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  // A matrix product, say, must not be written over what it reads.
  tir.call_extern @f ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

// Through other names of the buffer.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<2x8xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %e = memref.expand_shape %a [[0, 1]] output_shape [2, 8] : memref<16xf32> into memref<2x8xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  // expected-error @below {{is still in use}}
  %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  memref.copy %e, %y : memref<2x8xf32> to memref<2x8xf32>
  return
}

// -----

// A buffer that a loop reads is live during all of it.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %n: index, %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %y : memref<16xf32> to memref<16xf32>
    // expected-error @below {{is still in use}}
    %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// Carried from one iteration to the next.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %n: index, %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%now = %a) -> memref<16xf32> {
    // expected-error @below {{is still in use}}
    %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    scf.yield %now : memref<16xf32>
  }
  memref.copy %r, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

// Written in one branch, read behind it.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %p: i1, %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  scf.if %p {
    memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  }
  // expected-error @below {{is still in use}}
  %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    // expected-error @below {{has one place in the arena for all threads of a parallel loop}}
    %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// expected-error @below {{'func.func' op 'main' has an arena of 128 bytes, but its phl.arena_bytes is 64}}
func.func @main(%arena: memref<128xi8> {phl.io = "arena"}) attributes {phl.arena_bytes = 64 : i64} {
  return
}

// -----

module attributes {phl.constants = dense<0> : tensor<64xi8>} {
  // expected-error @below {{'main' takes 128 bytes of constants, but phl.constants has 64}}
  func.func @main(%w: memref<128xi8> {phl.io = "constants"}) {
    return
  }
}

// -----

module attributes {phl.constants = dense<0> : tensor<128xi8>} {
  func.func @main(%y: memref<16xf32> {phl.io = "output"}, %w: memref<128xi8> {phl.io = "constants"}) {
    %c = arith.constant 128 : index
    // expected-error @below {{puts memref<16xf32> of 64 bytes at byte 128 of}}
    %a = memref.view %w[%c][] : memref<128xi8> to memref<16xf32>
    memref.copy %a, %y : memref<16xf32> to memref<16xf32>
    return
  }
}

// -----

// The called function's arena.
func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<32xi8>
  // expected-error @below {{'tir.call_extern' op in 'main' gives @inner 32 bytes as argument 1 (arena), which needs 64}}
  tir.call_extern @inner outs(%y, %s : memref<16xf32>, memref<32xi8>)
      args [#tir.arg<outs 0>, #tir.arg<outs 1>]
  return
}
func.func private @inner(%y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"}) {
  return
}

// -----

// Its arena, while the caller needs the bytes.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  // expected-error @below {{puts memref<16xf32> of @inner at bytes 0 to 64 of the arena, where memref<16xf32> at bytes 0 to 64 is still in use}}
  tir.call_extern @inner ins(%x : memref<16xf32>) outs(%y, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}
func.func private @inner(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

// The called function writes over its argument, which it still reads.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  // expected-error @below {{puts memref<16xf32> of @inner at bytes 0 to 64 of the arena, where memref<16xf32> at bytes 0 to 64 is still in use}}
  tir.call_extern @inner ins(%a : memref<16xf32>) outs(%y, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  return
}
func.func private @inner(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64, phl.shares_bytes} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

// The argument is read before, but the function is compiled as one whose buffers are apart.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  // expected-error @below {{of @inner at bytes 0 to 64 of the arena, where}}
  tir.call_extern @inner ins(%a : memref<16xf32>) outs(%y, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  return
}
func.func private @inner(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%y : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

// Results, which the caller reads afterwards.
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  // expected-error @below {{of @inner at bytes 0 to 64 of the arena, where}}
  tir.call_extern @inner ins(%x : memref<16xf32>) outs(%a, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}
func.func private @inner(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64, phl.shares_bytes} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%y : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  // expected-error @below {{in 'main' gives @f 64 bytes of scratch memory, which needs 100}}
  tir.call_extern @f outs(%y, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<outs 0>, #tir.arg<outs 1>] {scratch_out = 1 : i64, scratch_need = 100 : i64}
  return
}

// -----

module attributes {tir.pools = [#tir.pool<"spad", 1024, 64>]} {
  func.func private @device(%x: memref<16xf32> {phl.io = "input"},
                            %y: memref<16xf32> {phl.io = "output"}) {
    %a = tir.buffer at 0 : memref<16xf32, #tir.space<"spad">>
    // The transfer is under way until it is waited for.
    %t = tir.dma_start %x to %a channel(0)
        : memref<16xf32> to memref<16xf32, #tir.space<"spad">>
    // expected-error @below {{'tir.buffer' op in 'device' puts memref<16xf32, #tir.space<"spad">> at bytes 0 to 64 of pool 'spad', where}}
    %b = tir.buffer at 0 : memref<16xf32, #tir.space<"spad">>
    tir.dma_copy %x to %b channel(1) : memref<16xf32> to memref<16xf32, #tir.space<"spad">>
    tir.dma_wait %t
    return
  }
}

// -----

func.func private @device() {
  // expected-error @below {{is in pool 'spad', which no tir.pools declares}}
  %b = tir.buffer at 64 : memref<16xf32, #tir.space<"spad">>
  return
}

// -----

func.func @main(%y: memref<16xf32> {phl.io = "output"}) {
  // expected-error @below {{in 'main' allocates memory when the network runs}}
  %a = memref.alloc() : memref<16xf32>
  memref.copy %a, %y : memref<16xf32> to memref<16xf32>
  return
}
