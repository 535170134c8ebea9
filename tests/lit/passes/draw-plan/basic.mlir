// RUN: phaseline-opt %s --pass-pipeline='builtin.module(pack-constants,plan-memory,draw-plan)' | grep -o 'phl.plan_picture = "[^\\]*.*svg>' | tr '>' '\n' | FileCheck %s

// Each buffer is a rectangle under the name of what writes it first, over the steps of its life; the
// third lies where the first was.
// CHECK: Memory of model
// CHECK: Arena: 512 bytes
// CHECK: at least 512 bytes are in use at once
// CHECK: first\0A256 bytes, 0 to 256\0Afrom step 0
// CHECK: third\0A256 bytes, 0 to 256\0Afrom step
// CHECK: second\0A256 bytes, 256 to 512
// CHECK: Constants: 256 bytes
// CHECK: weights\0A256 bytes, 0 to 256</title
memref.global "private" constant @w : memref<64xf32> = dense<1.0>
func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  %w = memref.get_global @w : memref<64xf32> loc("weights")
  %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  %c = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  memref.copy %w, %a : memref<64xf32> to memref<64xf32> loc("first")
  memref.copy %a, %b : memref<64xf32> to memref<64xf32> loc("second")
  memref.copy %b, %c : memref<64xf32> to memref<64xf32> loc("third")
  memref.copy %c, %y : memref<64xf32> to memref<64xf32> loc("last")
  return
}
