// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null
// RUN: phaseline-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CSE
// RUN: phaseline-opt %s --canonicalize --convert-graph-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<4xf32>, %w: tensor<3xi8>) -> (tensor<4xf32>, tensor<3xi8>) {
  // CHECK: graph.custom "Pair" of "com.acme" (%arg0, %arg1) : (tensor<4xf32>, tensor<3xi8>) -> (tensor<4xf32>, tensor<3xi8>) reference {
  %0:2 = graph.custom "Pair" of "com.acme" (%x, %w)
      : (tensor<4xf32>, tensor<3xi8>) -> (tensor<4xf32>, tensor<3xi8>) reference {
  ^bb0(%a: tensor<4xf32>, %b: tensor<3xi8>):
    graph.yield %a, %b : tensor<4xf32>, tensor<3xi8>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<3xi8>
}

// CHECK-LABEL: func.func @reference
// CSE-LABEL: func.func @reference
// LINALG-LABEL: func.func @reference
// LINALG-NOT: graph.
// LINALG: math.exp
func.func @reference(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.custom "Gate" of "com.acme" (%arg0) parameters {beta = 1.500000e+00 : f32} {groups = array<i64: 1, 0>} : (tensor<4xf32>) -> tensor<4xf32> reference {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[S:.*]] = graph.sigmoid %[[A]]
  // CHECK-NEXT: graph.yield %[[S]]
  // CSE: graph.custom
  // CSE-NOT: graph.custom
  %0 = graph.custom "Gate" of "com.acme" (%x) parameters {beta = 1.5 : f32}
      {groups = array<i64: 1, 0>} : (tensor<4xf32>) -> tensor<4xf32> reference {
  ^bb0(%a: tensor<4xf32>):
    %1 = graph.sigmoid %a : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  // Nothing uses it.
  %unused = graph.custom "Gate" of "com.acme" (%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
