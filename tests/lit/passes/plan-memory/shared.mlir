// RUN: phaseline-opt %s --plan-memory --verify-plan | FileCheck %s

// Buffers of a called function lie where its argument was, once that is read for the last time; also those of calls in
// turn. The first buffer is at the argument's side, the second in its place.
// CHECK-LABEL: func.func private @inner(
// CHECK-SAME: memref<64xi8> {phl.io = "arena"})
// CHECK-SAME: phl.shares_bytes
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[OWN:[a-z0-9]+]]: memref<256xi8> {phl.io = "arena"})
// CHECK-SAME: phl.arena_bytes = 256 : i64, phl.shares_bytes
// CHECK: %[[AT_A:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[OWN]][%[[AT_A]]][] : memref<256xi8> to memref<32xf32>
// CHECK: %[[AT_B:.*]] = arith.constant 128 : index
// CHECK: memref.view %[[OWN]][%[[AT_B]]][] : memref<256xi8> to memref<32xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<256xi8> {phl.io = "arena"})
// CHECK-SAME: phl.arena_bytes = 256 : i64, phl.arena_lower_bound = 256 : i64, phl.arena_peak = "peak"
// CHECK: %[[SAME:.*]] = arith.constant 128 : index
// CHECK: memref.view %{{.*}}[%[[SAME]]][] : memref<256xi8> to memref<32xf32>
// CHECK: %[[LENT:.*]] = memref.view %{{.*}} : memref<256xi8> to memref<256xi8>
// CHECK: tir.call_extern @part ins(%{{.*}}) outs(%{{.*}}, %[[LENT]] :
func.func private @inner(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "npu"} {
  tir.call_extern @kernel ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<scratch 0>] {scratch_bytes = 64 : i64}
  return
}
func.func private @part(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "npu"} {
  %a = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
  tir.call_extern @f ins(%x : memref<32xf32>) outs(%a : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] loc("peak")
  tir.call_extern @f ins(%a : memref<32xf32>) outs(%b : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @inner ins(%b : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}
func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  %a = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  tir.call_extern @part ins(%a : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device}
  return
}
