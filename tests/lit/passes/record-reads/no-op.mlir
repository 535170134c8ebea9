// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(record-reads))' | FileCheck %s

// Nothing but numbers, and only names of buffers.
// CHECK-NOT: phl.
func.func @numbers(%a: f32, %b: f32) -> f32 {
  %c = arith.addf %a, %b : f32
  return %c : f32
}

func.func @names(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %first = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %size = memref.dim %first, %c0 : memref<4xf32, strided<[1]>>
  return
}
