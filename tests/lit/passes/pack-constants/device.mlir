// RUN: phaseline-opt %s --pack-constants | FileCheck %s

// A constant that the host passes in the memory of a device is packed, however small it is: no code has it.
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @main(
// CHECK-NOT: memref.get_global
// CHECK: %[[NEXT:.*]] = arith.constant 64 : index
// CHECK: memref.view %[[D:.*]][%[[NEXT]]][] : memref<128xi8, #tir.space<"dram">> to memref<0xf32, #tir.space<"dram">>
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: %[[W:.*]] = memref.view %[[D]][%[[FIRST]]][] : memref<128xi8, #tir.space<"dram">> to memref<2xf32, #tir.space<"dram">>
// CHECK: tir.call_extern @part ins(%[[W]] : memref<2xf32, #tir.space<"dram">>
module attributes {phl.model = "net", phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  memref.global "private" constant @w : memref<2xf32, #tir.space<"dram">> = dense<[1.0, 2.0]> {alignment = 64 : i64}
  func.func private @part(%w: memref<2xf32, #tir.space<"dram">> {phl.io = "input"}) attributes {phl.target = "dsp"} {
    tir.call_extern @dsp_use ins(%w : memref<2xf32, #tir.space<"dram">>) args [#tir.arg<ins 0>]
    return
  }
  // A constant of no bytes is not where another one is.
  memref.global "private" constant @none : memref<0xf32, #tir.space<"dram">> = dense<> {alignment = 64 : i64}
  func.func @main() attributes {phl.target = "llvm"} {
    %0 = memref.get_global @w : memref<2xf32, #tir.space<"dram">>
    %1 = memref.get_global @none : memref<0xf32, #tir.space<"dram">>
    tir.call_extern @part ins(%0 : memref<2xf32, #tir.space<"dram">>) args [#tir.arg<ins 0>] {phl.device = "dsp", returns_status, with_device}
    tir.call_extern @none ins(%1 : memref<0xf32, #tir.space<"dram">>) args [#tir.arg<ins 0>] {phl.device = "dsp", returns_status, with_device}
    return
  }
}
