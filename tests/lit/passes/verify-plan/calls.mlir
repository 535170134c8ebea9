// RUN: phaseline-opt %s --verify-plan | FileCheck %s

// Memory of a called function lies where its argument was, which it has read by then, and where its result will be,
// which it has not written yet; a function without an arena may write its result over its argument.
// CHECK-LABEL: @main
func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                %arena: memref<128xi8> {phl.io = "arena"}) {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %s = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  tir.call_extern @inner ins(%a : memref<16xf32>) outs(%y, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  %b = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  tir.call_extern @early ins(%x : memref<16xf32>) outs(%b, %s : memref<16xf32>, memref<64xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  %c = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  tir.call_extern @over ins(%b : memref<16xf32>) outs(%c, %y : memref<16xf32>, memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<outs 1>]
  memref.copy %c, %y : memref<16xf32> to memref<16xf32>
  return
}
func.func private @inner(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64, phl.shares_bytes} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%y : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}
func.func private @early(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                         %arena: memref<64xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 64 : i64, phl.shares_bytes} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @g ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}
func.func private @over(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"},
                        %z: memref<16xf32> {phl.io = "output"}) attributes {phl.shares_bytes} {
  tir.call_extern @f ins(%x : memref<16xf32>) outs(%z : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%z : memref<16xf32>) outs(%y : memref<16xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  return
}
