// RUN: phaseline-opt %s --pass-pipeline='builtin.module(verify-c)' -split-input-file -verify-diagnostics

func.func @not_planned() {
  // expected-error @+1 {{'memref.alloc' op has no planned place: run plan-memory first}}
  %x = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func @bits(%a: memref<8xi32>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xi32>
  // expected-error @+1 {{'math.ctpop' op has no form in C; only structured loops and branches, arithmetic, math functions, buffers and tir.call_extern do}}
  %y = math.ctpop %x : i32
  memref.store %y, %a[%i] : memref<8xi32>
  return
}

// -----

memref.global "private" @state : memref<4xf32> = dense<0.0>
func.func @stateful(%y: memref<4xf32> {phl.io = "output"}) {
  // The state is not of one run.
  // expected-error @-3 {{is memory that keeps its content between runs, which C here has not}}
  %s = memref.get_global @state : memref<4xf32>
  memref.copy %s, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// -----

// expected-error @+1 {{has a parameter of type index, which cannot be passed to C}}
func.func @scalar(%n: index) {
  return
}

// -----

func.func @copy(%a: memref<8xf32>) {
  %s = tir.buffer at 0 : memref<8xf32, #tir.space<"s">>
  // expected-error @+1 {{copies to or from a device's memory: run tir-insert-dma first}}
  memref.copy %a, %s : memref<8xf32> to memref<8xf32, #tir.space<"s">>
  return
}

// -----

func.func @small_float(%a: memref<8xf8E4M3FN>, %b: memref<8xf32>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xf8E4M3FN>
  // expected-error @+1 {{'arith.extf' op has no form in C}}
  %y = arith.extf %x : f8E4M3FN to f32
  memref.store %y, %b[%i] : memref<8xf32>
  return
}

// -----

// Operations that C would round twice are not printed.
func.func @twice(%a: memref<8xi32>, %b: memref<8xbf16>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xi32>
  // expected-error @+1 {{'arith.sitofp' op has no exact form in C: int32_t to bfloat16 would be rounded twice; cast to f32 first}}
  %y = arith.sitofp %x : i32 to bf16
  memref.store %y, %b[%i] : memref<8xbf16>
  return
}

// -----

func.func @double(%a: memref<8xf64>, %b: memref<8xbf16>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xf64>
  // expected-error @+1 {{'arith.truncf' op has no exact form in C: double to bfloat16 would be rounded twice; cast to f32 first}}
  %y = arith.truncf %x : f64 to bf16
  memref.store %y, %b[%i] : memref<8xbf16>
  return
}

// -----

// Bits above those of the integer would count.
func.func @four_bits(%a: memref<8xi4>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xi4>
  // expected-error @+1 {{'math.absi' op has no form in C}}
  %y = math.absi %x : i4
  memref.store %y, %a[%i] : memref<8xi4>
  return
}

// -----

// An exponent that is no float.
func.func @power(%a: memref<8xf32>, %n: memref<8xi32>) {
  %i = arith.constant 0 : index
  %x = memref.load %a[%i] : memref<8xf32>
  %k = memref.load %n[%i] : memref<8xi32>
  // expected-error @+1 {{'math.fpowi' op has no form in C}}
  %y = math.fpowi %x, %k : f32, i32
  memref.store %y, %a[%i] : memref<8xf32>
  return
}
