// RUN: phaseline-opt %s --pass-pipeline='builtin.module(lower-queues)' | FileCheck %s

// A ticket is an element of the array; buffers are kept until the wait for it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[T:.*]]: memref<4xi64>, %[[X:.*]]: memref<8xf32>)
// CHECK: %[[P:.*]] = memref.subview %[[T]][3] [1] [1] : memref<4xi64> to memref<1xi64, strided<[1], offset: 3>>
// CHECK-NEXT: tir.call_extern @submit outs(%[[P]] {{.*}} args [#tir.arg<outs 0>] {phl.device = "dsp", returns_status, with_device}
// CHECK: %[[Q:.*]] = memref.subview %[[T]][3] [1] [1]
// CHECK-NEXT: tir.call_extern @after ins(%[[Q]] {{.*}} args [#tir.arg<ins 0>] {phl.device = "dsp", returns_status, with_device}
// CHECK: %[[R:.*]] = memref.subview %[[T]][3] [1] [1]
// CHECK-NEXT: tir.call_extern @wait_for ins(%[[R]], %[[X]] {{.*}} args [#tir.arg<ins 0>] {keeps, phl.device = "dsp", returns_status, with_device}
func.func @main(%t: memref<4xi64>, %x: memref<8xf32>) {
  tir.submit @submit queue 1 to %t[3] : memref<4xi64>
  tir.wait @after queue 0 for %t[3] : memref<4xi64>
  tir.wait @wait_for for %t[3] : memref<4xi64> keeps(%x : memref<8xf32>)
  return
}
func.func private @submit(%t: memref<1xi64>) attributes {phl.target = "dsp"} { return }
func.func private @after(%t: memref<1xi64>) attributes {phl.target = "dsp"} { return }
func.func private @wait_for(%t: memref<1xi64>) attributes {phl.target = "dsp"} { return }
