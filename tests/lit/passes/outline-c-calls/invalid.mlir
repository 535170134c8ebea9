// RUN: phaseline-opt %s --outline-c-calls -split-input-file -verify-diagnostics

func.func @narrow(%x: memref<4xi4>) {
  // expected-error @+1 {{passes a buffer of type memref<?xi4>, each of whose elements takes a byte}}
  tir.call_extern @core_run ins(%x : memref<4xi4>) args [#tir.arg<ins 0>, #tir.name<"KIND_A">]
  return
}

// -----

func.func @scratch() {
  // expected-error @+1 {{needs scratch memory that has no place yet: run plan-memory first}}
  tir.call_extern @core_run args [#tir.arg<scratch 0>, #tir.name<"KIND_A">] {scratch_bytes = 16 : i64}
  return
}

// -----

func.func @pool(%x: memref<4xf32, #tir.space<"sram">>) {
  // expected-error @+1 {{passes the place of a buffer in a pool, which is no number yet: run pass-pool-offsets first}}
  tir.call_extern @core_run ins(%x : memref<4xf32, #tir.space<"sram">>) args [#tir.struct<"struct data", {at = #tir.arg<ins 0, offset>}>]
  return
}
