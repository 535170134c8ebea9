// RUN: phaseline-opt %s --plan-memory | FileCheck %s

// Nothing temporary, no arena.
// CHECK: func.func @main(%{{.*}}: memref<4xf32> {phl.io = "input"}, %{{.*}}: memref<4xf32> {phl.io = "output"})
// CHECK-NOT: arena
func.func @main(%x: memref<4xf32> {phl.io = "input"}, %y: memref<4xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
