// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(fuse-elementwise-ops))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(fuse-elementwise-ops{max-body=4}))' | FileCheck %s --check-prefix=SHORT
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(fuse-elementwise-ops{max-operands=5}))' | FileCheck %s --check-prefix=FEW

#id = affine_map<(d0) -> (d0)>

// Three operations become one, whose body has them in order.
// CHECK-LABEL: func.func @row
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf
// CHECK-NOT: linalg.generic
// A body of two operations and its end leaves no room for a third one with an end.
// SHORT-LABEL: func.func @row
// SHORT-COUNT-2: linalg.generic
// SHORT-NOT: linalg.generic
func.func @row(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.addf %i, %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.mulf %i, %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.subf %i, %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// A function counts as many operations as its polynomial has, so it stays alone here.
// SHORT-LABEL: func.func @function
// SHORT-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @function
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @function(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.negf %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// Sums of many tensors are cut, so that a loop walks over a bounded number of them.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// FEW-LABEL: func.func @wide
// FEW-COUNT-2: linalg.generic
func.func @wide(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %v = arith.addf %i, %j : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %z : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %v = arith.addf %i, %j : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}
