// RUN: phaseline-opt %s --draw-plan | FileCheck %s

// A network without buffers has an empty picture.
// CHECK: phl.plan_picture = "<svg {{.*}}Memory of model</text>\0A</svg>\0A"
func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  memref.copy %x, %y : memref<64xf32> to memref<64xf32>
  return
}
