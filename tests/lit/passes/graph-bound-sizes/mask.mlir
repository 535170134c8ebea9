// RUN: phaseline-opt %s --graph-bound-sizes --canonicalize --cse | FileCheck %s

// Ops that mix elements along a size that a run gives read padding as a neutral value; others need no mask.

// CHECK: module attributes {phl.bounds =
module attributes {phl.symbols = ["n=1..6", "height=4..8 step 4"]} {
  // CHECK: func.func @main(%[[X:.*]]: tensor<6x8x4xf32> {{.*}}, %[[SIZES:.*]]: tensor<2xi64> {phl.name = "sizes"})
  func.func @main(%x: tensor<?x?x4xf32> {phl.name = "x", phl.sizes = ["n", "height", ""]})
      -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
    // CHECK-DAG: %[[NONE:.*]] = graph.constant dense<0xFF800000> : tensor<f32>
    // CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
    // CHECK-DAG: %[[PLACES:.*]] = graph.constant dense<{{\[\[}}0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>
    // CHECK: %[[MASK:.*]] = graph.less %[[PLACES]], %{{.*}} : (tensor<8x1xi64>, tensor<i64>) -> tensor<8x1xi1>
    // CHECK: graph.relu %[[X]] : tensor<6x8x4xf32>
    %0 = graph.relu %x : tensor<?x?x4xf32>
    // CHECK: %[[MASKED:.*]] = graph.where %[[MASK]], %{{.*}}, %[[NONE]]
    // CHECK: graph.softmax %[[MASKED]] axis = 1 : tensor<6x8x4xf32>
    %1 = graph.softmax %0 axis = 1 : tensor<?x?x4xf32>
    // CHECK: %[[SUMMED:.*]] = graph.where %[[MASK]], %{{.*}}, %[[ZERO]]
    // CHECK: graph.reduce_sum %[[SUMMED]] axes = [1] keepdims = false
    %2 = graph.reduce_sum %1 axes = [1] keepdims = false : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
    // CHECK: %[[SUM:.*]] = graph.reduce_sum
    // CHECK: graph.div %[[SUM]], %{{.*}} : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    %3 = graph.reduce_mean %0 axes = [1] keepdims = false : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
    return %1, %2, %3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}
