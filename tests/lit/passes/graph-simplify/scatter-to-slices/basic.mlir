// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=scatter-to-slices}))' -split-input-file | FileCheck %s

// Columns 1 and 2 of three: one is kept.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: scatter_nd
// CHECK: %[[X:.*]] = graph.slice %arg0, %[[FROM:.*]], %[[TO:.*]] axes %{{.*}} : (tensor<2x3xf32>, {{.*}}) -> tensor<2x1xf32>
// CHECK: %[[Y:.*]] = graph.concat %[[X]], %arg1 axis = 1 : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
// CHECK: return %[[Y]]
func.func @columns(%x: tensor<2x3xf32>, %u: tensor<2x2xf32>) -> tensor<2x3xf32> {
  %i = graph.constant dense<[[[0, 1], [0, 2]], [[1, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %0 = graph.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// As exporters write x[:, 1:3]: rows of each of which there is all.
// CHECK-LABEL: func.func @spread
// CHECK-NOT: expand
// CHECK-DAG: %[[ONE:.*]] = graph.constant dense<1> : tensor<1xi64>
// CHECK-DAG: %[[THREE:.*]] = graph.constant dense<3> : tensor<1xi64>
// CHECK-DAG: %[[A:.*]] = graph.slice %arg0, %{{.*}}, %[[ONE]] axes {{.*}} -> tensor<2x1x5xf32>
// CHECK-DAG: %[[B:.*]] = graph.slice %arg0, %[[THREE]], %{{.*}} axes {{.*}} -> tensor<2x1x5xf32>
// CHECK: graph.concat %[[A]], %arg1, %[[B]] axis = 1
func.func @spread(%x: tensor<2x4x5xf32>, %u: tensor<2x2x5xf32>) -> tensor<2x4x5xf32> {
  %rows = graph.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %columns = graph.constant dense<[1, 2]> : tensor<2xi64>
  %shape = graph.constant dense<[2, 2]> : tensor<2xi64>
  %0 = graph.expand %rows, %shape : (tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  %1 = graph.unsqueeze %0 axes = [-1] : (tensor<2x2xi64>) -> tensor<2x2x1xi64>
  %2 = graph.expand %columns, %shape : (tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  %3 = graph.unsqueeze %2 axes = [2] : (tensor<2x2xi64>) -> tensor<2x2x1xi64>
  %i = graph.concat %1, %3 axis = -1 : (tensor<2x2x1xi64>, tensor<2x2x1xi64>) -> tensor<2x2x2xi64>
  %4 = graph.scatter_nd %x, %i, %u : (tensor<2x4x5xf32>, tensor<2x2x2xi64>, tensor<2x2x5xf32>) -> tensor<2x4x5xf32>
  return %4 : tensor<2x4x5xf32>
}

// -----

// All of it is replaced.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: return %arg1
func.func @whole(%x: tensor<1x2xf32>, %u: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %i = graph.constant dense<[[[0, 0], [0, 1]]]> : tensor<1x2x2xi64>
  %0 = graph.scatter_nd %x, %i, %u : (tensor<1x2xf32>, tensor<1x2x2xi64>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

// A box inside along both dimensions: the rows of it are made first.
// CHECK-LABEL: func.func @inside
// CHECK: graph.concat %{{.*}}, %arg1, %{{.*}} axis = 1 : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
// CHECK: graph.concat %{{.*}}, %{{.*}}, %{{.*}} axis = 0 : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
func.func @inside(%x: tensor<3x3xf32>, %u: tensor<1x1xf32>) -> tensor<3x3xf32> {
  %i = graph.constant dense<1> : tensor<1x1x2xi64>
  %0 = graph.scatter_nd %x, %i, %u : (tensor<3x3xf32>, tensor<1x1x2xi64>, tensor<1x1xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
