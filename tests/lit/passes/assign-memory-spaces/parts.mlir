// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait submit=dsp_submit wait-for=dsp_wait_for queues=2 select=dsp_select after=dsp_after})' | FileCheck %s

func.func private @first(%x: memref<8xf32>, %y: memref<8xf32, strided<[1]>>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32, strided<[1]>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}
func.func private @second(%x: memref<8xf32>, %y: memref<8xf32, strided<[1], offset: 8>>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32, strided<[1], offset: 8>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}
func.func private @wide(%x: memref<8xf32>, %y: memref<8xf32, strided<[1], offset: 7>>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32, strided<[1], offset: 7>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}
// Two queues write parts of one buffer that are apart: neither waits for the other, but what reads it waits for both.
// CHECK-LABEL: func.func @apart
// CHECK: tir.call_extern @first {{.*}} phl.queue = 0
// CHECK: tir.submit @[[SUBMIT:dsp_submit_0.*]] queue 0 to %[[T:.*]][[[SLOT:[0-9]+]]]
// CHECK-NOT: tir.wait @dsp_after_1
// CHECK: tir.call_extern @second {{.*}} phl.queue = 1
// CHECK: tir.wait @dsp_after_1{{.*}} queue 1 for %[[T]][[[SLOT]]]
// CHECK: tir.call_extern @dsp_copy_out{{.*}} phl.queue = 1
func.func @apart(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %p = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %q = memref.subview %a[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  tir.call_extern @first ins(%x : memref<8xf32>) outs(%p : memref<8xf32, strided<[1]>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @second ins(%z : memref<8xf32>) outs(%q : memref<8xf32, strided<[1], offset: 8>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  linalg.exp ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// Parts that meet are written in order.
// CHECK-LABEL: func.func @meet
// CHECK: tir.call_extern @first {{.*}} phl.queue = [[QUEUE:[01]]]
// CHECK: tir.call_extern @wide {{.*}} phl.queue = [[QUEUE]]
func.func @meet(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %p = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %q = memref.subview %a[7] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 7>>
  tir.call_extern @first ins(%x : memref<8xf32>) outs(%p : memref<8xf32, strided<[1]>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @wide ins(%z : memref<8xf32>) outs(%q : memref<8xf32, strided<[1], offset: 7>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  linalg.exp ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
