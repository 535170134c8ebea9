// RUN: phaseline-opt %s --canonicalize --split-input-file | FileCheck %s

// Folds of reductions.

// CHECK-LABEL: func.func @sum
func.func @sum() -> tensor<2xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = graph.reduce_sum %x axes = [1] keepdims = false : (tensor<2x3xi64>) -> tensor<2xi64>
  // CHECK: graph.constant dense<[6, 15]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @prod_all
func.func @prod_all() -> tensor<1x1xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = graph.reduce_prod %x : (tensor<2x3xi64>) -> tensor<1x1xi64>
  // CHECK: graph.constant dense<720> : tensor<1x1xi64>
  return %0 : tensor<1x1xi64>
}

// CHECK-LABEL: func.func @max
func.func @max() -> tensor<3xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = graph.reduce_max %x axes = [-2] keepdims = false : (tensor<2x3xi64>) -> tensor<3xi64>
  // CHECK: graph.constant dense<[4, 5, 6]> : tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CHECK-LABEL: func.func @min_keep
func.func @min_keep() -> tensor<2x1xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = graph.reduce_min %x axes = [1] : (tensor<2x3xi64>) -> tensor<2x1xi64>
  // CHECK: graph.constant dense<{{\[\[}}1], [4{{\]\]}}> : tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}

// CHECK-LABEL: func.func @mean
func.func @mean() -> tensor<f32> {
  %x = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %0 = graph.reduce_mean %x keepdims = false : (tensor<3xf32>) -> tensor<f32>
  // CHECK: graph.constant dense<2.33333325> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @mean_integer
func.func @mean_integer() -> tensor<i64> {
  %x = graph.constant dense<[-3, -4]> : tensor<2xi64>
  %0 = graph.reduce_mean %x keepdims = false : (tensor<2xi64>) -> tensor<i64>
  // CHECK: graph.constant dense<-3> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @prod_none
func.func @prod_none() -> tensor<i64> {
  %x = graph.constant dense<> : tensor<0xi64>
  %0 = graph.reduce_prod %x keepdims = false : (tensor<0xi64>) -> tensor<i64>
  // CHECK: graph.constant dense<1> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @max_wide
func.func @max_wide() -> tensor<ui64> {
  %x = graph.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  %0 = graph.reduce_max %x keepdims = false : (tensor<2xui64>) -> tensor<ui64>
  // CHECK: graph.constant dense<18446744073709551615> : tensor<ui64>
  return %0 : tensor<ui64>
}

// CHECK-LABEL: func.func @ones
func.func @ones(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = graph.reduce_sum %x axes = [0] : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<?x3xf32>) -> tensor<1x3xf32> {
  %0 = graph.reduce_sum %x axes = [0] : (tensor<?x3xf32>) -> tensor<1x3xf32>
  // CHECK: graph.reduce_sum
  return %0 : tensor<1x3xf32>
}
