// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(check-reads))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(record-reads,check-reads))' | FileCheck %s

// Nothing was recorded, or nothing changed.
// CHECK-LABEL: func.func @same
// CHECK-NOT: phl.
func.func @same(%x: memref<8xf32>, %y: memref<8xf32>) {
  %k = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%k : memref<8xf32>)
  linalg.exp ins(%k : memref<8xf32>) outs(%k : memref<8xf32>)
  memref.copy %k, %y : memref<8xf32> to memref<8xf32>
  return
}
