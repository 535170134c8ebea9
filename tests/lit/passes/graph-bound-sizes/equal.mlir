// RUN: phaseline-opt %s --graph-bound-sizes --canonicalize --split-input-file | FileCheck %s

// Two symbols that an addition needs to be equal are one, with the range that both have.

// CHECK: \22name\22:\22a\22,\22least\22:2,\22most\22:5
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<5x3xf32>
// CHECK-SAME: tensor<5x3xf32>
module attributes {phl.symbols = ["a=1..5", "b=2..9"]} {
  func.func @main(%x: tensor<?x3xf32> {phl.sizes = ["a", ""]}, %y: tensor<?x3xf32> {phl.sizes = ["b", ""]}) -> tensor<?x3xf32> {
    %0 = graph.add %x, %y : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}

// -----

// A symbol that filters need to be a number is that number.

// CHECK: \22name\22:\22c\22,\22least\22:4,\22most\22:4
// CHECK: graph.conv %{{.*}} : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
module attributes {phl.symbols = ["c=1..9"]} {
  func.func @main(%x: tensor<1x?x8x8xf32> {phl.sizes = ["", "c", "", ""]}, %w: tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32> {
    %0 = graph.conv %x, %w : (tensor<1x?x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
    return %0 : tensor<1x2x8x8xf32>
  }
}

// -----

// Shapes that a network computes are followed: heads are divided and joined without a copy.

// CHECK: graph.reshape %{{.*}} -> tensor<4x9x2x4xf32>
// CHECK: graph.reshape %{{.*}} -> tensor<36x8xf32>
module attributes {phl.symbols = ["n=1..4", "t=1..9"]} {
  func.func @main(%x: tensor<?x?x8xf32> {phl.sizes = ["n", "t", ""]}) -> (tensor<?x?x2x4xf32>, tensor<?x8xf32>) {
    %s = graph.shape %x end = 2 : (tensor<?x?x8xf32>) -> tensor<2xi64>
    %tail = graph.constant dense<[2, -1]> : tensor<2xi64>
    %shape = graph.concat %s, %tail axis = 0 : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %0 = graph.reshape %x, %shape : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x?x2x4xf32>
    %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
    %1 = graph.reshape %x, %rows : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
    return %0, %1 : tensor<?x?x2x4xf32>, tensor<?x8xf32>
  }
}
