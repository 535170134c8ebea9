// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-tir-to-emitc)' -split-input-file -verify-diagnostics

func.func @not_planned() {
  // expected-error @+1 {{'memref.alloc' op has no planned place: run plan-memory first}}
  %x = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func @floats(%a: memref<8xf32>) {
  // expected-error @+1 {{'arith.constant' op has no form in C; only loops, index arithmetic, views, copies and tir.call_extern do}}
  %x = arith.constant 1.0 : f32
  return
}

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
