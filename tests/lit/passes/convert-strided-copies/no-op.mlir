// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-strided-copies))' | FileCheck %s

// A copy without holes becomes memcpy later.
// CHECK: memref.copy %arg0, %arg1
// CHECK-NOT: linalg.generic
func.func @whole(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32>
  return
}
