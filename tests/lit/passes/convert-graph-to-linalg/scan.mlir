// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(convert-graph-to-linalg))" --split-input-file | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(convert-graph-to-linalg), convert-functions-to-dps, func.func(separate-destinations, eliminate-empty-tensors), one-shot-bufferize, func.func(canonicalize))" --split-input-file | FileCheck %s --check-prefix=BUFFER

// A call is made in each step; slices are written to their place, then states to that of the old.
// CHECK-LABEL: func.func @call
// CHECK-SAME: (%[[H:.*]]: tensor<4xf32> {{.*}}, %[[X:.*]]: tensor<4x8xf32> {{.*}}) ->
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[S:.*]] = %[[H]], %[[INTO:.*]] = %[[ALL]])
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[X]][0, %[[BACK]]] [4, 1] [1, 1]
// CHECK: %[[N:.*]] = func.call @step(%[[S]], %[[ROW]])
// CHECK: %[[W:.*]] = tensor.insert_slice %[[N]] into %[[INTO]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: %[[K:.*]] = linalg.copy ins(%[[N]] : tensor<4xf32>) outs(%[[S]] : tensor<4xf32>)
// CHECK: scf.yield %[[K]], %[[W]]

// Nothing of the size of a sequence is copied or allocated in the loop, and a slice is written to its
// place by the call.
// BUFFER-LABEL: func.func @call
// BUFFER: scf.for
// BUFFER-NOT: memref<8x4xf32>{{$}}
// BUFFER: %[[PLACE:.*]] = memref.subview %{{.*}} : memref<8x4xf32> to
// BUFFER: tir.call_extern @step {{.*}} outs(%[[PLACE]] :
// BUFFER: linalg.copy ins(%[[PLACE]] {{.*}} outs(%{{.*}} : memref<4xf32>)
// BUFFER-NEXT: }
func.func private @step(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @call(%h: tensor<4xf32>, %x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %r:2 = graph.scan 8 states (%s = %h) sequences (%row = %x) captures ()
      attributes {input_axes = array<i64: 1>, input_reversed = array<i64: 1>}
      : (tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
    %0 = func.call @step(%s, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %0, %0 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

// States that swap go through a place of their own, and a state that stays is only handed on.
// CHECK-LABEL: func.func @swap
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:[a-z0-9]+]] =
// CHECK: %[[B1:.*]] = linalg.copy ins(%[[B]]
// CHECK: %[[A1:.*]] = linalg.copy ins(%[[A]]
// CHECK: %[[A2:.*]] = linalg.copy ins(%[[B1]] : tensor<4xf32>) outs(%[[A]]
// CHECK: %[[B2:.*]] = linalg.copy ins(%[[A1]] : tensor<4xf32>) outs(%[[B]]
// CHECK: scf.yield %[[A2]], %[[B2]], %[[C]]
// BUFFER-LABEL: func.func @swap
// BUFFER: scf.for
// BUFFER-COUNT-4: linalg.copy
func.func @swap(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = graph.scan 8 states (%s = %a, %t = %b, %u = %c) sequences () captures ()
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    graph.yield %t, %s, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A body that is no function is lowered where it is; signs go from its types.
// CHECK-LABEL: func.func @inline
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: arith.maxui
// CHECK: linalg.copy
func.func @inline(%a: tensor<4xui8>, %x: tensor<8x4xui8>) -> tensor<4xui8> {
  %r = graph.scan 8 states (%s = %a) sequences (%row = %x) captures () : (tensor<4xui8>, tensor<8x4xui8>) -> tensor<4xui8> {
    %0 = graph.max %s, %row : tensor<4xui8>
    graph.yield %0 : tensor<4xui8>
  }
  return %r : tensor<4xui8>
}

// From the end of one element: no index that MLIR cannot turn around.
// CHECK-LABEL: func.func @one_from_the_end
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
func.func @one_from_the_end(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = graph.cumsum %x axis = 1 exclusive = true reverse = true : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// Slices of sequences without elements are no slices: no offset is within a dimension of size 0.
// CHECK-LABEL: func.func @empty
// CHECK: scf.for
// CHECK-NOT: extract_slice
// CHECK-NOT: insert_slice
// CHECK: return {{.*}} : tensor<0x3xf32>, tensor<5x0x3xf32>
func.func @empty(%h0: tensor<0x3xf32>, %xs: tensor<5x0x3xf32>) -> (tensor<0x3xf32>, tensor<5x0x3xf32>) {
  %0:2 = graph.scan 5 states (%h = %h0) sequences (%x = %xs) captures () : (tensor<0x3xf32>, tensor<5x0x3xf32>) -> (tensor<0x3xf32>, tensor<5x0x3xf32>) {
    %n = graph.add %h, %x : tensor<0x3xf32>
    graph.yield %n, %n : tensor<0x3xf32>, tensor<0x3xf32>
  }
  return %0#0, %0#1 : tensor<0x3xf32>, tensor<5x0x3xf32>
}

// -----

// A limit ends the loop, and is the end that steps are counted from.
// CHECK-LABEL: func.func @limit
// CHECK: %[[N:.*]] = tensor.extract %{{.*}}[] : tensor<i64>
// CHECK: %[[L:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[SOME:.*]] = arith.maxsi %[[L]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.minsi %{{.*}}, %[[SOME]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[COUNT]] step
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %{{.*}}
// CHECK: arith.subi %[[LAST]], %[[I]]
func.func @limit(%h: tensor<4xf32>, %x: tensor<8x4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %r = graph.scan 8 limit %n states (%s = %h) sequences (%row = %x) captures ()
      attributes {input_reversed = array<i64: 1>}
      : (tensor<4xf32>, tensor<8x4xf32>, tensor<i64>) -> tensor<4xf32> {
    %0 = graph.add %s, %row : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
