// RUN: phaseline-opt %s --graph-bound-sizes --canonicalize --split-input-file | FileCheck %s

// A reshape that divides a size by a number leaves the sizes that it divides.

// CHECK: \22least\22:6,\22most\22:18,\22step\22:3
// CHECK: graph.reshape %{{.*}} -> tensor<2x6x3xf32>
module attributes {phl.symbols = ["n=4..20"]} {
  func.func @main(%x: tensor<2x?xf32> {phl.sizes = ["", "n"]}) -> tensor<2x?x3xf32> {
    %shape = graph.constant dense<[2, -1, 3]> : tensor<3xi64>
    %0 = graph.reshape %x, %shape : (tensor<2x?xf32>, tensor<3xi64>) -> tensor<2x?x3xf32>
    return %0 : tensor<2x?x3xf32>
  }
}

// -----

// Padding of updates goes behind what the result keeps.

// CHECK: %[[PLACES:.*]] = graph.where
// CHECK: %[[WIDE:.*]] = graph.pad
// CHECK: graph.scatter_elements %[[WIDE]], %[[PLACES]], %{{.*}} : (tensor<9x2xf32>, tensor<5x2xi64>, tensor<5x2xf32>)
// CHECK: graph.slice
module attributes {phl.symbols = ["n=1..5"]} {
  func.func @main(%x: tensor<8x2xf32>, %i: tensor<?x2xi64> {phl.sizes = ["n", ""]}, %u: tensor<?x2xf32> {phl.sizes = ["n", ""]}) -> tensor<8x2xf32> {
    %0 = graph.scatter_elements %x, %i, %u : (tensor<8x2xf32>, tensor<?x2xi64>, tensor<?x2xf32>) -> tensor<8x2xf32>
    return %0 : tensor<8x2xf32>
  }
}

// -----

// Reflection at an end that a run says looks elements up.

// CHECK: graph.gather %{{.*}}, %{{.*}} axis = 1 : (tensor<1x6xf32>, tensor<9xi64>) -> tensor<1x9xf32>
module attributes {phl.symbols = ["n=3..6"]} {
  func.func @main(%x: tensor<1x?xf32> {phl.sizes = ["", "n"]}) -> tensor<1x?xf32> {
    %pads = graph.constant dense<[0, 1, 0, 2]> : tensor<4xi64>
    %0 = graph.pad %x, %pads mode = "reflect" : (tensor<1x?xf32>, tensor<4xi64>) -> tensor<1x?xf32>
    return %0 : tensor<1x?xf32>
  }
}
