// RUN: phaseline-opt %s --plan-memory | FileCheck %s

// Two buffers live at a time: the third goes where the first was.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<512xi8> {phl.io = "arena"})
// CHECK-SAME: phl.arena_bytes = 512 : i64, phl.arena_lower_bound = 512 : i64
// CHECK: %[[AT_A:.*]] = arith.constant 0 : index
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[AT_A]]][]
// CHECK: %[[AT_B:.*]] = arith.constant 256 : index
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[AT_B]]][]
// CHECK: %[[AT_C:.*]] = arith.constant 0 : index
// CHECK: %[[C:.*]] = memref.view %[[ARENA]][%[[AT_C]]][]
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: memref.copy %[[B]], %[[C]]
func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  %c = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  memref.copy %b, %c : memref<64xf32> to memref<64xf32>
  memref.copy %c, %y : memref<64xf32> to memref<64xf32>
  return
}
