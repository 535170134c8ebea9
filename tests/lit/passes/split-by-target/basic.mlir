// RUN: phaseline-opt %s --split-by-target | FileCheck %s

// A module for each target, names with the model's in front, and the signature of the whole.
// CHECK: phl.signature = "{\22name\22:\22net\22
// CHECK-SAME: \22image\22
// CHECK-SAME: \22scores\22
// CHECK: module @npu attributes {{.*}}phl.target = "npu"
// CHECK: func.func private @net_part
// CHECK: module @llvm attributes {{.*}}phl.target = "llvm"
// CHECK: func.func @net_main
// CHECK: tir.call_extern @net_part
// CHECK-SAME: phl.device = "npu"
module attributes {phl.model = "net", phl.devices = ["npu"]} {
  func.func private @part(%x: memref<4xf32> {phl.io = "input"}, %y: memref<4xf32> {phl.io = "output"}) attributes {phl.target = "npu"} {
    memref.copy %x, %y : memref<4xf32> to memref<4xf32>
    return
  }
  func.func @main(%x: memref<4xf32> {phl.io = "input", phl.name = "image"}, %y: memref<4xf32> {phl.io = "output", phl.name = "scores"}) attributes {phl.target = "llvm"} {
    tir.call_extern @part ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device}
    return
  }
}
