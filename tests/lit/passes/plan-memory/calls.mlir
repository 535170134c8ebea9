// RUN: phaseline-opt %s --plan-memory | FileCheck %s

// The arena of a called function is a piece of its caller's for as long as the call takes; so is the working memory
// that a call asks for.
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[OWN:[a-z0-9]+]]: memref<128xi8> {phl.io = "arena"})
// CHECK: memref.view %[[OWN]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<128xi8> {phl.io = "arena"})
// CHECK: %[[LENT:.*]] = memref.view %{{.*}} to memref<128xi8>
// CHECK: tir.call_extern @part ins(%{{.*}}) outs(%{{.*}}, %[[LENT]] :
// CHECK: tir.call_extern @kernel ins(%{{.*}}) outs({{.*}}memref<100xi8>
func.func private @part(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "npu"} {
  %a = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  memref.copy %a, %y : memref<32xf32> to memref<32xf32>
  return
}
func.func @main(%x: memref<32xf32> {phl.io = "input"}, %y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  tir.call_extern @part ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device}
  tir.call_extern @kernel ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<scratch 0>] {scratch_bytes = 100 : i64}
  return
}
