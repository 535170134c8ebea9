// RUN: phaseline-opt %s --pass-pool-offsets | FileCheck %s

// Without pools nothing changes.
// CHECK-LABEL: func.func @host
// CHECK-NEXT: tir.call_extern @run ins(%{{.*}} : memref<4xf32>) args [#tir.arg<ins 0>]
func.func @host(%x: memref<4xf32>) {
  tir.call_extern @run ins(%x : memref<4xf32>) args [#tir.arg<ins 0>]
  return
}
