// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dsp_dram bytes=4096 alignment=128 copy-in=dsp_in copy-out=dsp_out copy-within=dsp_copy})' | FileCheck %s

// CHECK: phl.memories = [{alignment = 128 : i64, bytes = 4096 : i64, space = "dsp_dram", target = "dsp"}]

// Buffers of the device's calls are there: arguments, values between calls, constants, scratch memory. An array of
// the call's own stays on the host.
// CHECK: memref.global "private" constant @w__dsp_dram : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK-LABEL: func.func private @dsp_0
// CHECK-SAME: (%[[X:.*]]: memref<8xf32, #tir.space<"dsp_dram">>, %[[Y:.*]]: memref<8xf32, #tir.space<"dsp_dram">>)
// CHECK-NOT: memref.get_global @w :
// CHECK: %[[W:.*]] = memref.get_global @w__dsp_dram : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: %[[T:.*]] = memref.alloc() : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: tir.call_extern @mul ins(%[[X]], %[[W]], %[[N:.*]] : {{.*}}memref<2xi32>) outs(%[[T]]
// CHECK-SAME: phl.scratch_memory = "dsp_dram"
// CHECK: tir.call_extern @dsp_copy ins(%[[T]] {{.*}}) outs(%[[Y]]
// CHECK-SAME: args [#tir.arg<outs 0>, #tir.arg<ins 0>, 32] {returns_status, with_device}
// CHECK-NOT: memref.copy
memref.global "private" constant @w : memref<8xf32> = dense<2.0>
memref.global "private" constant @n : memref<2xi32> = dense<[1, 8]>
func.func private @dsp_0(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  %w = memref.get_global @w : memref<8xf32>
  %n = memref.get_global @n : memref<2xi32>
  %t = memref.alloc() : memref<8xf32>
  tir.call_extern @mul ins(%x, %w, %n : memref<8xf32>, memref<8xf32>, memref<2xi32>) outs(%t : memref<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<ins 2>, #tir.arg<outs 0>, #tir.arg<scratch 0>]
      {with_device, returns_status, scratch_bytes = 64 : i64, phl.host_ins = array<i64: 2>}
  memref.copy %t, %y : memref<8xf32> to memref<8xf32>
  return
}

// Work of the host in a function of the device has copies around it; values that only the host uses stay there.
// CHECK-LABEL: func.func private @dsp_1
// CHECK-SAME: (%[[X:.*]]: memref<8xf32, #tir.space<"dsp_dram">>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[D:.*]] = memref.alloc() : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: %[[H:.*]] = memref.alloc() : memref<8xf32>
// CHECK: tir.call_extern @relu ins(%[[X]] {{.*}} outs(%[[D]]
// CHECK: tir.call_extern @dsp_out ins(%[[D]] {{.*}} outs(%[[H]]
// CHECK: linalg.exp ins(%[[H]] {{.*}} outs(%[[Y]]
func.func private @dsp_1(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  %t = memref.alloc() : memref<8xf32>
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%t : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  linalg.exp ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// An input goes up once for two calls, the value between the calls never comes down, views are of the device's buffer.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[Z:.*]]: memref<8xf32>)
// CHECK: %[[DY:.*]] = memref.alloc() : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: %[[DX:.*]] = memref.alloc() : memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: %[[T:.*]] = memref.alloc() : memref<2x4xf32, #tir.space<"dsp_dram">>
// CHECK: %[[V:.*]] = memref.collapse_shape %[[T]] {{.*}} into memref<8xf32, #tir.space<"dsp_dram">>
// CHECK: tir.call_extern @[[IN:dsp_copy_in.*]] ins(%[[X]] {{.*}} outs(%[[DX]]
// CHECK-NEXT: tir.call_extern @dsp_0 ins(%[[DX]] {{.*}} outs(%[[V]]
// CHECK-NEXT: tir.call_extern @dsp_0 ins(%[[DX]] {{.*}} outs(%[[DY]]
// CHECK-NEXT: tir.call_extern @dsp_1 ins(%[[V]] {{.*}} outs(%[[Z]] : memref<8xf32>)
// CHECK-NEXT: tir.call_extern @[[OUT:dsp_copy_out.*]] ins(%[[DY]] {{.*}} outs(%[[Y]]
// CHECK-SAME: phl.device = "dsp", returns_status, with_device
// CHECK-NEXT: {{^ +}}return
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {phl.target = "llvm"} {
  %t = memref.alloc() : memref<2x4xf32>
  %v = memref.collapse_shape %t [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  tir.call_extern @dsp_0 ins(%x : memref<8xf32>) outs(%v : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @dsp_0 ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @dsp_1 ins(%v : memref<8xf32>) outs(%z : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  return
}

// CHECK: func.func private @[[IN]](%[[A:.*]]: memref<8xf32> {phl.io = "input"}, %[[B:.*]]: memref<8xf32, #tir.space<"dsp_dram">> {phl.io = "output"}) attributes {phl.target = "dsp", phl.transfer = "copy"}
// CHECK-NEXT: tir.call_extern @dsp_in ins(%[[A]] {{.*}} outs(%[[B]] {{.*}} args [#tir.arg<outs 0>, #tir.arg<ins 0>, 32]
// CHECK: func.func private @[[OUT]]
// CHECK-NEXT: tir.call_extern @dsp_out
