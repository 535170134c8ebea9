// RUN: phaseline-opt %s --assign-pools | FileCheck %s

// Without a board there are no pools.
// CHECK-NOT: phl.pool
func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  memref.copy %a, %y : memref<64xf32> to memref<64xf32>
  return
}
