// RUN: phaseline-opt %s --graph-bound-sizes --canonicalize --split-input-file | FileCheck %s

// A part of the range has code of its own, which comes first; sizes that it has one of need no mask.
// CHECK: module attributes {phl.bounds = "{{.*}}variants{{.*}}n{{.*}}4
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16x3xf32>
// CHECK: graph.less_or_equal
// CHECK: %[[FEW:.*]] = graph.scan 1 limit %{{.*}} states () sequences () captures (%[[A:.*]] = %[[X]]) : (tensor<16x3xf32>, tensor<i64>) -> tensor<1x1x3xf32>
// CHECK: %[[FIRST:.*]] = graph.slice %[[A]], {{.*}} -> tensor<4x3xf32>
// CHECK-NOT: graph.where
// CHECK: graph.reduce_sum %[[FIRST]] axes = [0] : (tensor<4x3xf32>)
// CHECK: %[[STATE:.*]] = graph.reshape %[[FEW]]
// CHECK: graph.scan 1 limit %{{.*}} states (%{{.*}} = %[[STATE]])
// CHECK: graph.where
// CHECK: graph.reduce_sum %{{.*}} axes = [0] : (tensor<16x3xf32>)
module attributes {phl.symbols = ["n=4..16"], phl.variants = ["n=4"]} {
  func.func @main(%x: tensor<?x3xf32> {phl.name = "x", phl.sizes = ["n", ""]}) -> tensor<1x3xf32> {
    %0 = graph.reduce_sum %x axes = [0] : (tensor<?x3xf32>) -> tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  }
}

// -----

// Results of a part have room for all sizes, whose elements have no particular values.
// CHECK-LABEL: func.func @main(
// CHECK: graph.scan 1 limit
// CHECK: %[[Y:.*]] = graph.relu %{{.*}} : tensor<4x3xf32>
// CHECK: graph.pad %[[Y]], %{{.*}} mode = "undefined" : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<16x3xf32>
module attributes {phl.symbols = ["n=1..16"], phl.buckets = 2 : i64} {
  func.func @main(%x: tensor<?x3xf32> {phl.name = "x", phl.sizes = ["n", ""]}) -> tensor<?x3xf32> {
    %0 = graph.relu %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}
