// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

func.func @mixed(%a: tensor<8xf32>, %b: memref<8xf32>) {
  // expected-error @+1 {{mixes tensors and memrefs; before bufferization all must be tensors and after it all memrefs}}
  tir.call_extern @f ins(%a : tensor<8xf32>) outs(%b : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

func.func @not_contiguous(%a: memref<8x4xf32, strided<[16, 1]>>) {
  // expected-error @+1 {{is not known to be contiguous: copy it to a contiguous buffer, or set `strided`}}
  tir.call_extern @f ins(%a : memref<8x4xf32, strided<[16, 1]>>) args [#tir.arg<ins 0>]
  return
}

// -----

func.func @dynamic_strides(%a: memref<8x?xf32, strided<[?, 1]>>) {
  // expected-error @+1 {{is not known to be contiguous}}
  tir.call_extern @f outs(%a : memref<8x?xf32, strided<[?, 1]>>) args [#tir.arg<outs 0>]
  return
}

// -----

func.func @not_passed(%a: memref<8xf32>, %b: memref<8xf32>) {
  // expected-error @+1 {{does not pass ins operand #1: add #tir.arg<ins 1> to args or remove the operand}}
  tir.call_extern @f ins(%a, %b : memref<8xf32>, memref<8xf32>) args [#tir.arg<ins 0>]
  return
}

// -----

func.func @no_such_operand(%a: memref<8xf32>) {
  // expected-error @+1 {{argument 1 names outs operand #0, but there are 0}}
  tir.call_extern @f ins(%a : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}

// -----

func.func @no_such_operand_in_struct(%a: memref<8xf32>) {
  // expected-error @+1 {{argument 0 names scalars operand #2, but there are 0}}
  tir.call_extern @f ins(%a : memref<8xf32>) args [#tir.struct<"s", {f = #tir.struct<"t", {g = #tir.arg<scalars 2>}>}>, #tir.arg<ins 0>]
  return
}

// -----

func.func @scratch_without_size() {
  // expected-error @+1 {{argument 0 is scratch, but the call has no scratch_bytes}}
  tir.call_extern @f args [#tir.arg<scratch 0>]
  return
}

// -----

func.func @size_without_scratch() {
  // expected-error @+1 {{has scratch_bytes but does not pass scratch}}
  tir.call_extern @f args [] {scratch_bytes = 8}
  return
}

// -----

func.func @offset_of_host_buffer(%a: memref<8xf32>) {
  // expected-error @+1 {{argument 0 passes an offset, but its buffer is not in a #tir.space: 'memref<8xf32>'}}
  tir.call_extern @f ins(%a : memref<8xf32>) args [#tir.arg<ins 0, offset>]
  return
}

// -----

func.func @not_an_argument() {
  // expected-error @+1 {{argument 0 is "text"; expected #tir.arg, #tir.name, #tir.stride, #tir.struct or a number}}
  tir.call_extern @f args ["text"]
  return
}

// -----

func.func @callee_name() {
  // expected-error @+1 {{callee @a-b is not a C identifier}}
  tir.call_extern @"a-b" args []
  return
}

// -----

func.func @untied_result(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the number of tensor results}}
  %r = tir.call_extern @f ins(%a : tensor<8xf32>) args [#tir.arg<ins 0>] -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// expected-error @+1 {{a scalar has no offset; only buffers do}}
#a = #tir.arg<scalars 0, offset>

// -----

// expected-error @+1 {{"a b" is not a C identifier}}
#a = #tir.name<"a b">

// -----

// expected-error @+1 {{field "f" of struct "s" must be a number, an array of numbers, a #tir.name, a #tir.arg or a #tir.struct, not "text"}}
#a = #tir.struct<"s", {f = "text"}>

// -----

// expected-error @+1 {{the alignment of pool "p" must be a power of two, not 12}}
#a = #tir.pool<"p", 64, 12>

// -----

// expected-error @+1 {{the name of a space must be an identifier, not ""}}
#a = #tir.space<"">

// -----

// expected-error @+1 {{'tir.pools' declares pool "p" twice}}
module attributes {tir.pools = [#tir.pool<"p", 64, 8>, #tir.pool<"p", 32, 8>]} {}

// -----

// expected-error @+1 {{'tir.pools' must hold only #tir.pool, but has 1 : i64}}
module attributes {tir.pools = [1]} {}

// -----

// expected-error @+1 {{unknown attribute 'tir.pool' of dialect tir; it has only 'tir.pools'}}
module attributes {tir.pool = []} {}

// -----

func.func @rank(%a: memref<1x2x3x4x5xf32>) {
  // expected-error @+1 {{source has rank 5, but a transfer has at most 4 dimensions: collapse or loop}}
  tir.dma_copy %a to %a channel(0) : memref<1x2x3x4x5xf32> to memref<1x2x3x4x5xf32>
  return
}

// -----

func.func @shapes(%a: memref<4x5xf32>, %b: memref<5x4xf32>) {
  // expected-error @+1 {{copies shape [4, 5] to [5, 4]; shapes must be equal}}
  tir.dma_copy %a to %b channel(0) : memref<4x5xf32> to memref<5x4xf32>
  return
}

// -----

func.func @elements(%a: memref<4xf32>, %b: memref<4xi32>) {
  // expected-error @+1 {{copies 'f32' to 'i32'; element types must be equal}}
  %t = tir.dma_start %a to %b channel(0) : memref<4xf32> to memref<4xi32>
  return
}

// -----

func.func @given_array(%a: memref<4xf32>, %b: memref<4xi32>) {
  // expected-error @+1 {{gives "s" as #tir.arg<ins 0>, but has 0 arrays}}
  %t = tir.dma_start %a to %b channel(0) given {s = #tir.arg<ins 0>} : memref<4xf32> to memref<4xi32>
  return
}

// -----

func.func @given_text(%a: memref<4xf32>, %b: memref<4xi32>) {
  // expected-error @+1 {{gives "s" as "x"; expected a number or #tir.arg<ins N>}}
  %t = tir.dma_start %a to %b channel(0) given {s = "x"} : memref<4xf32> to memref<4xi32>
  return
}

// -----

func.func @arrays(%a: memref<4xf32>) {
  // expected-error @+1 {{has arrays, but no `given` that says what they are}}
  %t = tir.dma_start %a to %a channel(0) with(%a : memref<4xf32>) : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @strides(%a: memref<4x4xf32, strided<[?, 1]>>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{target needs static strides}}
  %t = tir.dma_start %b to %a channel(0) : memref<4x4xf32> to memref<4x4xf32, strided<[?, 1]>>
  return
}

// -----

func.func @two_channels(%a: memref<4xf32>, %b: memref<4xf32>, %c: index) {
  // expected-error @+1 {{needs one channel, either a number or a value}}
  "tir.dma_copy"(%a, %b, %c) {static_channel = 1} : (memref<4xf32>, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @buffer_space() {
  // expected-error @+1 {{result must be in a #tir.space}}
  %b = tir.buffer at 0 : memref<8xf32>
  return
}

// -----

module attributes {tir.pools = [#tir.pool<"p", 64, 16>]} {
  func.func @unaligned() {
    // expected-error @+1 {{offset 8 is not a multiple of the 16 bytes that pool "p" asks for}}
    %b = tir.buffer at 8 : memref<8xf32, #tir.space<"p">>
    return
  }
}

// -----

module attributes {tir.pools = [#tir.pool<"p", 64, 16>]} {
  func.func @too_large() {
    // expected-error @+1 {{bytes 48 to 80 do not fit pool "p" of 64 bytes}}
    %b = tir.buffer at 48 : memref<8xf32, #tir.space<"p">>
    return
  }
}

// -----

// The declaration is at fault, so that is what is reported.
// expected-error @+1 {{'tir.pools' must hold only #tir.pool}}
module attributes {tir.pools = [#tir.space<"p">]} {
  %b = tir.buffer at 8 : memref<8xf32, #tir.space<"p">>
}

// -----

func.func @half() {
  // expected-error @+1 {{argument 0 is 1.000000e+00 : f16; expected #tir.arg}}
  tir.call_extern @f args [1.0 : f16]
  return
}

// -----

func.func @stride_of_none(%a: memref<8xf32>) {
  // expected-error @+1 {{argument 1 is a stride of outs operand #0, but there are 0}}
  tir.call_extern @f ins(%a : memref<8xf32>) args [#tir.arg<ins 0>, #tir.stride<outs 0, 0, i64>]
  return
}

// -----

func.func @stride_of_dimension(%a: memref<8xf32>) {
  // expected-error @+1 {{argument 1 is the stride of dimension 1 of 'memref<8xf32>'}}
  tir.call_extern @f ins(%a : memref<8xf32>) args [#tir.arg<ins 0>, #tir.stride<ins 0, 1, i64>]
  return
}

// -----

// expected-error @+1 {{a stride is that of one of ins or outs, not of scratch}}
func.func private @f() attributes {x = #tir.stride<scratch 0, 0, i64>}

// -----

// expected-error @+1 {{a stride is an integer of at most 64 bits, not 'f32'}}
func.func private @f() attributes {x = #tir.stride<ins 0, 0, f32>}

// -----

func.func @no_slot(%t: memref<4xi64>) {
  // expected-error @+1 {{has slot 4, but there are 4 tickets}}
  tir.submit @submit queue 1 to %t[4] : memref<4xi64>
  return
}

// -----

func.func @any_number(%t: memref<?xi64>) {
  // expected-error @+1 {{has tickets of type 'memref<?xi64>', whose number is not known}}
  tir.wait @wait for %t[0] : memref<?xi64>
  return
}

// -----

func.func @no_tickets(%t: memref<4xi32>) {
  // expected-error @+1 {{operand #0 must be 1D memref of 64-bit signless integer values}}
  tir.wait @wait for %t[0] : memref<4xi32>
  return
}
