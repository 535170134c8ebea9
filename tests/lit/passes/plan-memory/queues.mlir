// RUN: phaseline-opt %s --pass-pipeline='builtin.module(plan-memory,verify-plan)' | FileCheck %s
// RUN: sed 's/phl.queue = 1/phl.queue = 0/' %s | phaseline-opt --pass-pipeline='builtin.module(plan-memory,verify-plan)' | FileCheck --check-prefix=ONE %s

// Buffers inside of the two branches are live at the same time where they are on two queues, and in turn where they
// are on one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: memref<448xi8, #tir.space<"dram">> {phl.io = "device-arena"
// ONE-LABEL: func.func @main
// ONE-SAME: memref<320xi8, #tir.space<"dram">> {phl.io = "device-arena"
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%t: memref<1xi64>) {
    %x = memref.alloc() : memref<16xf32, #tir.space<"dram">>
    %a = memref.alloc() : memref<16xf32, #tir.space<"dram">>
    %b = memref.alloc() : memref<16xf32, #tir.space<"dram">>
    tir.call_extern @stem outs(%x : memref<16xf32, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    tir.submit @submit queue 0 to %t[0] : memref<1xi64>
    tir.call_extern @branch ins(%x : memref<16xf32, #tir.space<"dram">>) outs(%a : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    tir.wait @after queue 1 for %t[0] : memref<1xi64>
    tir.call_extern @branch ins(%x : memref<16xf32, #tir.space<"dram">>) outs(%b : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    tir.call_extern @join ins(%a, %b : memref<16xf32, #tir.space<"dram">>, memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>] {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @stem(%x: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp", phl.overlaps} {
    tir.call_extern @f outs(%x : memref<16xf32, #tir.space<"dram">>) args [#tir.arg<outs 0>] {with_device}
    return
  }
  func.func private @join(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32, #tir.space<"dram">>)
      attributes {phl.target = "dsp", phl.overlaps} {
    tir.call_extern @f ins(%x, %y : memref<16xf32, #tir.space<"dram">>, memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>] {with_device}
    return
  }
  func.func private @branch(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32, #tir.space<"dram">>)
      attributes {phl.target = "dsp", phl.overlaps} {
    %t = memref.alloc() : memref<32xf32, #tir.space<"dram">>
    tir.call_extern @g ins(%x : memref<16xf32, #tir.space<"dram">>) outs(%t : memref<32xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
    tir.call_extern @h ins(%t : memref<32xf32, #tir.space<"dram">>) outs(%y : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
    return
  }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
  func.func private @submit(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
  func.func private @after(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
}
