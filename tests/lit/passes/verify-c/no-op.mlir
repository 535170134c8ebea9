// RUN: phaseline-opt %s --pass-pipeline='builtin.module(verify-c)' | FileCheck %s

// The pass only looks: what has a form in C stays as it is, and so does a module without functions.
// CHECK: module {
// CHECK-NEXT: func.func @copy
// CHECK-NEXT: memref.copy
// CHECK-NEXT: return
module {
  func.func @copy(%x: memref<8xf32> {phl.io = "input"}, %y: memref<8xf32> {phl.io = "output"}) {
    memref.copy %x, %y : memref<8xf32> to memref<8xf32>
    return
  }
}
