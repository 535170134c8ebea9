// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=group-heads}),canonicalize)' | FileCheck %s

// One row of each head: two heads become the rows of one matrix, what is done to keys is done to those that there are.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x1x8xf32>, %[[K:.*]]: tensor<1x2x1x5x8xf32>, %[[V:.*]]: tensor<1x2x1x5x8xf32>, %[[M:.*]]: tensor<1x1x1x5xf32>)
// CHECK-DAG: %[[ROWS:.*]] = graph.reshape %[[Q]], %{{.*}} -> tensor<1x2x2x8xf32>
// CHECK-DAG: %[[KEYS:.*]] = graph.reshape %[[K]], %{{.*}} -> tensor<1x2x5x8xf32>
// CHECK: %[[SCALED:.*]] = graph.mul %[[KEYS]], %{{.*}} -> tensor<1x2x5x8xf32>
// CHECK: %[[TURNED:.*]] = graph.transpose %[[SCALED]] perm = [0, 1, 3, 2]
// CHECK: %[[SCORES:.*]] = graph.matmul %[[ROWS]], %[[TURNED]] {{.*}} -> tensor<1x2x2x5xf32>
// CHECK: %[[SUM:.*]] = graph.add %[[SCORES]], %[[M]] {{.*}} -> tensor<1x2x2x5xf32>
// CHECK: %[[P:.*]] = graph.softmax %[[SUM]]
// CHECK: %[[VALUES:.*]] = graph.reshape %[[V]], %{{.*}} -> tensor<1x2x5x8xf32>
// CHECK: %[[Y:.*]] = graph.matmul %[[P]], %[[VALUES]] {{.*}} -> tensor<1x2x2x8xf32>
// CHECK: graph.reshape %[[Y]], %{{.*}} -> tensor<1x4x1x8xf32>
// CHECK-NOT: graph.expand
func.func @step(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x1x5x8xf32>, %v: tensor<1x2x1x5x8xf32>, %mask: tensor<1x1x1x5xf32>) -> tensor<1x4x1x8xf32> {
  %five = graph.constant dense<[1, 2, 2, 5, 8]> : tensor<5xi64>
  %four = graph.constant dense<[1, 4, 5, 8]> : tensor<4xi64>
  %half = graph.constant dense<5.0e-01> : tensor<f32>
  %0 = graph.expand %k, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %1 = graph.reshape %0, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %2 = graph.mul %1, %half : (tensor<1x4x5x8xf32>, tensor<f32>) -> tensor<1x4x5x8xf32>
  %3 = graph.transpose %2 perm = [0, 1, 3, 2] : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %4 = graph.expand %v, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %5 = graph.reshape %4, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %6 = graph.matmul %q, %3 : (tensor<1x4x1x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x1x5xf32>
  %7 = graph.add %6, %mask : (tensor<1x4x1x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x4x1x5xf32>
  %8 = graph.softmax %7 axis = -1 : (tensor<1x4x1x5xf32>) -> tensor<1x4x1x5xf32>
  %9 = graph.matmul %8, %5 : (tensor<1x4x1x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x1x8xf32>
  return %9 : tensor<1x4x1x8xf32>
}

// Several rows: a mask that all share stays as it is, one of heads goes in groups.
// CHECK-LABEL: func.func @columns
// CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<2x3x8x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x3x8x5xf32>
// CHECK-NOT: graph.expand
func.func @columns(%q: tensor<2x6x4x8xf32>, %k: tensor<2x3x1x5x8xf32>, %v: tensor<2x3x1x5x8xf32>, %mask: tensor<2x1x1x5xf32>) -> tensor<2x6x4x8xf32> {
  %five = graph.constant dense<[2, 3, 2, 5, 8]> : tensor<5xi64>
  %four = graph.constant dense<[2, 6, 5, 8]> : tensor<4xi64>
  %half = graph.constant dense<5.0e-01> : tensor<f32>
  %0 = graph.expand %k, %five : (tensor<2x3x1x5x8xf32>, tensor<5xi64>) -> tensor<2x3x2x5x8xf32>
  %1 = graph.reshape %0, %four : (tensor<2x3x2x5x8xf32>, tensor<4xi64>) -> tensor<2x6x5x8xf32>
  %2 = graph.mul %1, %half : (tensor<2x6x5x8xf32>, tensor<f32>) -> tensor<2x6x5x8xf32>
  %3 = graph.transpose %2 perm = [0, 1, 3, 2] : (tensor<2x6x5x8xf32>) -> tensor<2x6x8x5xf32>
  %4 = graph.expand %v, %five : (tensor<2x3x1x5x8xf32>, tensor<5xi64>) -> tensor<2x3x2x5x8xf32>
  %5 = graph.reshape %4, %four : (tensor<2x3x2x5x8xf32>, tensor<4xi64>) -> tensor<2x6x5x8xf32>
  %6 = graph.matmul %q, %3 : (tensor<2x6x4x8xf32>, tensor<2x6x8x5xf32>) -> tensor<2x6x4x5xf32>
  %7 = graph.add %6, %mask : (tensor<2x6x4x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x6x4x5xf32>
  %8 = graph.softmax %7 axis = -1 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32>
  %9 = graph.matmul %8, %5 : (tensor<2x6x4x5xf32>, tensor<2x6x5x8xf32>) -> tensor<2x6x4x8xf32>
  return %9 : tensor<2x6x4x8xf32>
}

// CHECK-LABEL: func.func @heads
// CHECK: %[[M:.*]] = graph.reshape %{{.*}} : (tensor<1x4x3x5xf32>, tensor<4xi64>) -> tensor<1x2x6x5xf32>
// CHECK: graph.add %{{.*}}, %[[M]]
// CHECK-NOT: graph.expand
func.func @heads(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x1x5x8xf32>, %v: tensor<1x2x1x5x8xf32>, %mask: tensor<1x4x3x5xf32>) -> tensor<1x4x3x8xf32> {
  %five = graph.constant dense<[1, 2, 2, 5, 8]> : tensor<5xi64>
  %four = graph.constant dense<[1, 4, 5, 8]> : tensor<4xi64>
  %half = graph.constant dense<5.0e-01> : tensor<f32>
  %0 = graph.expand %k, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %1 = graph.reshape %0, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %2 = graph.mul %1, %half : (tensor<1x4x5x8xf32>, tensor<f32>) -> tensor<1x4x5x8xf32>
  %3 = graph.transpose %2 perm = [0, 1, 3, 2] : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %4 = graph.expand %v, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %5 = graph.reshape %4, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %6 = graph.matmul %q, %3 : (tensor<1x4x3x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x3x5xf32>
  %7 = graph.add %6, %mask : (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %8 = graph.softmax %7 axis = -1 : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %9 = graph.matmul %8, %5 : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %9 : tensor<1x4x3x8xf32>
}
