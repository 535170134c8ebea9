// RUN: phaseline-opt %s --pack-constants | FileCheck %s

// What the host passes in the memory of a device is packed, however small it is: no code has it.
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @main(
// CHECK-NOT: memref.get_global
// CHECK: %[[W:.*]] = memref.view %{{.*}} to memref<2xf32, #tir.space<"dram">>
// CHECK: tir.call_extern @part ins(%[[W]] : memref<2xf32, #tir.space<"dram">>
module attributes {phl.model = "net", phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  memref.global "private" constant @w : memref<2xf32, #tir.space<"dram">> = dense<[1.0, 2.0]> {alignment = 64 : i64}
  func.func private @part(%w: memref<2xf32, #tir.space<"dram">> {phl.io = "input"}) attributes {phl.target = "dsp"} {
    tir.call_extern @dsp_use ins(%w : memref<2xf32, #tir.space<"dram">>) args [#tir.arg<ins 0>]
    return
  }
  // A constant of no bytes, the last one here, is not where the device's first one is.
  // CHECK: phl.constants
  memref.global "private" constant @none : memref<0xi64> = dense<> {alignment = 64 : i64}
  func.func @main() attributes {phl.target = "llvm"} {
    %0 = memref.get_global @w : memref<2xf32, #tir.space<"dram">>
    %1 = memref.get_global @none : memref<0xi64>
    tir.call_extern @other ins(%1 : memref<0xi64>) args [#tir.arg<ins 0>]
    tir.call_extern @part ins(%0 : memref<2xf32, #tir.space<"dram">>) args [#tir.arg<ins 0>] {phl.device = "dsp", returns_status, with_device}
    return
  }
}
