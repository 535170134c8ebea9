// RUN: phaseline-opt %s --split-input-file --split-large-functions=max-weight=2 | FileCheck %s
// RUN: phaseline-opt %s --split-input-file --split-large-functions | FileCheck %s --check-prefix=WHOLE

// Pieces are given the arguments that they use, and make their own views and constants. What
// leaves the function or asks for its devices does so through the calls.
// WHOLE-LABEL: module
// WHOLE-NOT: piece
module {
  // CHECK-LABEL: func.func private @main_piece0(
  // CHECK-SAME: %[[X:.*]]: memref<16xf32> {phl.io = "input", phl.name = "x"}, %[[A:.*]]: memref<128xi8> {phl.io = "arena"}) attributes {phl.piece, phl.target = "llvm"}
  // CHECK: %[[C:.*]] = arith.constant 0 : index
  // CHECK: %[[V:.*]] = memref.view %[[A]][%[[C]]][]
  // CHECK: memref.copy %[[X]], %[[V]]
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @main_piece1(
  // CHECK-SAME: %[[A:.*]]: memref<128xi8> {phl.io = "arena"}, %[[Y:.*]]: memref<16xf32> {phl.io = "output"})
  // CHECK: %[[C:.*]] = arith.constant 0 : index
  // CHECK: %[[V:.*]] = memref.view %[[A]][%[[C]]][]
  // CHECK: memref.copy %[[V]], %[[Y]]
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:.*]]: memref<16xf32> {phl.io = "input", phl.name = "x"}, %[[Y:.*]]: memref<16xf32> {phl.io = "output"}, %[[A:.*]]: memref<128xi8>
  // CHECK-NEXT: tir.call_extern @main_piece0 ins(%[[X]] : memref<16xf32>) outs(%[[A]] : memref<128xi8>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {accumulate}
  // CHECK-NEXT: tir.call_extern @main_piece1 outs(%[[A]], %[[Y]] : memref<128xi8>, memref<16xf32>)
  // CHECK-NEXT: return
  func.func @main(%x: memref<16xf32> {phl.io = "input", phl.name = "x"}, %y: memref<16xf32> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    %v = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    memref.copy %x, %v : memref<16xf32> to memref<16xf32>
    memref.copy %v, %y : memref<16xf32> to memref<16xf32>
    return
  }
}

// -----

// A number that is used further down keeps both ends in one piece, and what depends on it is no
// view that could be made anywhere.
module {
  // CHECK-LABEL: func.func private @main_piece0(
  // CHECK: memref.load
  // CHECK: memref.copy
  // CHECK: memref.subview
  // CHECK: memref.copy
  // CHECK: return
  // CHECK-LABEL: func.func private @main_piece1(
  // CHECK: memref.copy
  // CHECK-LABEL: func.func @main(
  func.func @main(%x: memref<16xf32> {phl.io = "input"}, %i: memref<1xindex> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"}, %z: memref<16xf32> {phl.io = "output"}) {
    %c0 = arith.constant 0 : index
    %at = memref.load %i[%c0] : memref<1xindex>
    memref.copy %x, %y : memref<16xf32> to memref<16xf32>
    %s = memref.subview %y[%at] [1] [1] : memref<16xf32> to memref<1xf32, strided<[1], offset: ?>>
    %t = memref.subview %x[0] [1] [1] : memref<16xf32> to memref<1xf32, strided<[1]>>
    memref.copy %t, %s : memref<1xf32, strided<[1]>> to memref<1xf32, strided<[1], offset: ?>>
    memref.copy %x, %z : memref<16xf32> to memref<16xf32>
    return
  }
}
