// RUN: phaseline-opt %s --pass-pipeline='builtin.module(poison-dead-buffers)' | FileCheck %s

// No arena, no bytes that are dead.
// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.store
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"}) {
  memref.copy %x, %y : memref<16xf32> to memref<16xf32>
  return
}
