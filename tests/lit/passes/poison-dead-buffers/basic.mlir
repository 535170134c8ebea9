// RUN: phaseline-opt %s --pass-pipeline='builtin.module(poison-dead-buffers,verify-plan)' | FileCheck %s

// All is dead before the first step, the first buffer behind the second one, and the second behind the last.
// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = memref.view %arg2[%{{.*}}][] : memref<128xi8> to memref<32xi32>
// CHECK: %[[NAN:.*]] = arith.constant 2143322048 : i32
// CHECK: scf.for
// CHECK:   memref.store %[[NAN]], %[[ALL]]
// CHECK: memref.copy %arg0
// CHECK-NOT: memref.store
// CHECK: linalg.exp
// CHECK: memref.view %arg2[%{{.*}}][] : memref<128xi8> to memref<16xi32>
// CHECK: memref.store
// CHECK: memref.copy %{{.*}}, %arg1
// CHECK: memref.view %arg2[%{{.*}}][] : memref<128xi8> to memref<16xi32>
// CHECK: memref.store
// CHECK: return
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %b = memref.view %arena[%c64][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  return
}
