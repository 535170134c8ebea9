// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(tir-insert-dma))' | FileCheck %s

// Copies in one memory, and those of other pools, stay.
// CHECK-LABEL: func.func @copies
// CHECK-NOT: tir.pools
// CHECK: memref.copy
// CHECK: memref.copy
func.func @copies(%a: memref<8xf32>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  %x = memref.alloc() : memref<8xf32, #tir.space<"other">>
  memref.copy %a, %x : memref<8xf32> to memref<8xf32, #tir.space<"other">>
  return
}
