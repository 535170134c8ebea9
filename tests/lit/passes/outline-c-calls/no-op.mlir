// RUN: phaseline-opt %s --outline-c-calls=headers=core.h | FileCheck %s

// CHECK-NOT: phl.c_glue
// CHECK: tir.call_extern @core_plain ins(%{{.*}} : memref<4xf32>) args [7 : i32, #tir.arg<ins 0>]
module attributes {phl.model = "net", phl.target = "core"} {
  func.func @net_core_0(%x: memref<4xf32>) {
    tir.call_extern @core_plain ins(%x : memref<4xf32>) args [7 : i32, #tir.arg<ins 0>]
    return
  }
}
