// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=scatter-to-slices}))' -split-input-file | FileCheck %s

// Other columns than next to each other, in another order, along another axis, before the first, added up, unknown.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-6: graph.scatter_nd
func.func @others(%x: tensor<2x4xf32>, %u: tensor<2x2xf32>, %i: tensor<2x2x2xi64>) -> tensor<2x4xf32> {
  %gap = graph.constant dense<[[[0, 1], [0, 3]], [[1, 1], [1, 3]]]> : tensor<2x2x2xi64>
  %0 = graph.scatter_nd %x, %gap, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %down = graph.constant dense<[[[0, 1], [0, 0]], [[1, 1], [1, 0]]]> : tensor<2x2x2xi64>
  %1 = graph.scatter_nd %0, %down, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %turned = graph.constant dense<[[[0, 0], [1, 0]], [[0, 1], [1, 1]]]> : tensor<2x2x2xi64>
  %2 = graph.scatter_nd %1, %turned, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %before = graph.constant dense<[[[0, -2], [0, -1]], [[1, -2], [1, -1]]]> : tensor<2x2x2xi64>
  %3 = graph.scatter_nd %2, %before, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %box = graph.constant dense<[[[0, 1], [0, 2]], [[1, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %4 = graph.scatter_nd %3, %box, %u reduction = "add" : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %5 = graph.scatter_nd %4, %i, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// -----

// The elements of a row do not all differ alike.
// CHECK-LABEL: func.func @bent
// CHECK: graph.scatter_nd
func.func @bent(%x: tensor<2x4xf32>, %u: tensor<2x2xf32>) -> tensor<2x4xf32> {
  %i = graph.constant dense<[[[0, 1], [0, 2]], [[1, 1], [1, 3]]]> : tensor<2x2x2xi64>
  %0 = graph.scatter_nd %x, %i, %u : (tensor<2x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
