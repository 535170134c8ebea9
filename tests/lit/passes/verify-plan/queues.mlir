// RUN: phaseline-opt %s --verify-plan -split-input-file -verify-diagnostics

// Work on two queues that shares bytes is in an order; what the host touches has come down.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%y: memref<16xf32> {phl.io = "output"}, %arena: memref<64xi8> {phl.io = "arena"},
                  %dram: memref<128xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = memref.view %arena[%c0][] : memref<64xi8> to memref<2xi64>
    %a = memref.view %dram[%c0][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    %b = memref.view %dram[%c64][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    tir.call_extern @dsp_0 outs(%a : memref<16xf32, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    tir.submit @submit queue 0 to %t[0] : memref<2xi64>
    tir.wait @after queue 1 for %t[0] : memref<2xi64>
    tir.call_extern @dsp_1 ins(%a : memref<16xf32, #tir.space<"dram">>) outs(%b : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.call_extern @dsp_copy_out ins(%b : memref<16xf32, #tir.space<"dram">>) outs(%y : memref<16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.submit @submit queue 1 to %t[1] : memref<2xi64>
    tir.wait @wait_for for %t[1] : memref<2xi64> keeps(%y : memref<16xf32>)
    linalg.exp ins(%y : memref<16xf32>) outs(%y : memref<16xf32>)
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_0(%x: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_1(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_copy_out(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32>) attributes {phl.target = "dsp", phl.transfer = "copy"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
  func.func private @submit(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
  func.func private @after(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
  func.func private @wait_for(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
}

// -----

// A queue reads what another writes.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%dram: memref<128xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = memref.view %dram[%c0][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    %b = memref.view %dram[%c64][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    tir.call_extern @dsp_0 outs(%a : memref<16xf32, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    // expected-error @+1 {{uses memory that @dsp_0 uses too, which may still be under way on target 'dsp': wait for it before}}
    tir.call_extern @dsp_1 ins(%a : memref<16xf32, #tir.space<"dram">>) outs(%b : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_0(%x: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_1(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}

// -----

// The host reads what comes down, on a device with one queue.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%y: memref<16xf32> {phl.io = "output"},
                  %dram: memref<64xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %a = memref.view %dram[%c0][] : memref<64xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    tir.call_extern @dsp_copy_out ins(%a : memref<16xf32, #tir.space<"dram">>) outs(%y : memref<16xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp"}
    // expected-error @+1 {{uses memory that @dsp_copy_out uses too, which may still be under way on target 'dsp'}}
    linalg.exp ins(%y : memref<16xf32>) outs(%y : memref<16xf32>)
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_copy_out(%x: memref<16xf32, #tir.space<"dram">>, %y: memref<16xf32>) attributes {phl.target = "dsp", phl.transfer = "copy"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}

// -----

// A ticket that is not taken yet.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%t: memref<2xi64>) {
    // expected-error @+1 {{waits for the ticket 1 before it is taken}}
    tir.wait @wait_for for %t[1] : memref<2xi64>
    return
  }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
  func.func private @wait_for(%t: memref<1xi64>) attributes {phl.target = "dsp", phl.transfer = "ticket"} { return }
}

// -----

// Two queues write parts of one buffer that are apart.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%dram: memref<128xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c64 = arith.constant 64 : index
    %a = memref.view %dram[%c64][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    %p = memref.subview %a[0] [8] [1] : memref<16xf32, #tir.space<"dram">> to memref<8xf32, strided<[1]>, #tir.space<"dram">>
    %q = memref.subview %a[8] [8] [1] : memref<16xf32, #tir.space<"dram">> to memref<8xf32, strided<[1], offset: 8>, #tir.space<"dram">>
    tir.call_extern @dsp_0 outs(%p : memref<8xf32, strided<[1]>, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    tir.call_extern @dsp_1 outs(%q : memref<8xf32, strided<[1], offset: 8>, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_0(%x: memref<8xf32, strided<[1]>, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_1(%x: memref<8xf32, strided<[1], offset: 8>, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}

// -----

// Two queues write parts of one buffer, which meet.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%dram: memref<128xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c64 = arith.constant 64 : index
    %a = memref.view %dram[%c64][] : memref<128xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    %p = memref.subview %a[0] [8] [1] : memref<16xf32, #tir.space<"dram">> to memref<8xf32, strided<[1]>, #tir.space<"dram">>
    %q = memref.subview %a[7] [8] [1] : memref<16xf32, #tir.space<"dram">> to memref<8xf32, strided<[1], offset: 7>, #tir.space<"dram">>
    tir.call_extern @dsp_0 outs(%p : memref<8xf32, strided<[1]>, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    // expected-error @+1 {{uses memory that @dsp_0 uses too, which may still be under way on target 'dsp'}}
    tir.call_extern @dsp_1 outs(%q : memref<8xf32, strided<[1], offset: 7>, #tir.space<"dram">>) args [#tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp", phl.queue = 1 : i64}
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_0(%x: memref<8xf32, strided<[1]>, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_1(%x: memref<8xf32, strided<[1], offset: 7>, #tir.space<"dram">>) attributes {phl.target = "dsp"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}

// -----

// A copy to the device reads what a loop with two results writes, the first of which is not its last operand.
#id = affine_map<(i) -> (i)>
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>,
                  %dram: memref<64xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %a = memref.view %dram[%c0][] : memref<64xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    tir.call_extern @dsp_copy_in ins(%x : memref<16xf32>) outs(%a : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    // expected-error @+1 {{uses memory that @dsp_copy_in uses too, which may still be under way on target 'dsp'}}
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%z : memref<16xf32>) outs(%x, %y : memref<16xf32>, memref<16xf32>) {
    ^bb0(%in: f32, %one: f32, %other: f32):
      linalg.yield %in, %in : f32, f32
    }
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @dsp_copy_in(%x: memref<16xf32>, %y: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp", phl.transfer = "copy"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}

// -----

// An unknown call may write its arguments.
module attributes {phl.memories = [{target = "dsp", space = "dram", bytes = 0, alignment = 64}]} {
  func.func @main(%x: memref<16xf32>,
                  %dram: memref<64xi8, #tir.space<"dram">> {phl.io = "device-arena", phl.memory = "dram"}) {
    %c0 = arith.constant 0 : index
    %a = memref.view %dram[%c0][] : memref<64xi8, #tir.space<"dram">> to memref<16xf32, #tir.space<"dram">>
    tir.call_extern @dsp_copy_in ins(%x : memref<16xf32>) outs(%a : memref<16xf32, #tir.space<"dram">>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "dsp", phl.queue = 0 : i64}
    // expected-error @+1 {{uses memory that @dsp_copy_in uses too, which may still be under way on target 'dsp'}}
    func.call @other(%x) : (memref<16xf32>) -> ()
    tir.call_extern @dsp_wait args [] {with_device, returns_status, phl.device = "dsp"}
    return
  }
  func.func private @other(%x: memref<16xf32>)
  func.func private @dsp_copy_in(%x: memref<16xf32>, %y: memref<16xf32, #tir.space<"dram">>) attributes {phl.target = "dsp", phl.transfer = "copy"} { return }
  func.func private @dsp_wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
}
