// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Reductions and other ops along axes.

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_sum %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %0 = graph.reduce_sum %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_mean %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %1 = graph.reduce_mean %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_prod %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %2 = graph.reduce_prod %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_max %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %3 = graph.reduce_max %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_min %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %4 = graph.reduce_min %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_l1 %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %5 = graph.reduce_l1 %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_l2 %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %6 = graph.reduce_l2 %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_log_sum %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %7 = graph.reduce_log_sum %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_log_sum_exp %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %8 = graph.reduce_log_sum_exp %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_sum_square %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %9 = graph.reduce_sum_square %x : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  // CHECK: graph.reduce_sum %{{.*}} axes = [1, -1] : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  %10 = graph.reduce_sum %x axes = [1, -1] : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  // CHECK: graph.reduce_max %{{.*}} axes = [0] keepdims = false : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  %11 = graph.reduce_max %x axes = [0] keepdims = false : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  // CHECK: graph.reduce_mean %{{.*}} keepdims = false : (tensor<2x3x4xf32>) -> tensor<f32>
  %12 = graph.reduce_mean %x keepdims = false : (tensor<2x3x4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @arg
func.func @arg(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.argmax %{{.*}} : (tensor<2x3x4xf32>) -> tensor<1x3x4xi64>
  %0 = graph.argmax %x : (tensor<2x3x4xf32>) -> tensor<1x3x4xi64>
  // CHECK: graph.argmin %{{.*}} axis = -1 keepdims = false select_last_index = true : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  %1 = graph.argmin %x axis = -1 keepdims = false select_last_index = true : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  return
}

// CHECK-LABEL: func.func @cumsum
func.func @cumsum(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.cumsum %{{.*}} axis = 1 : tensor<2x3x4xf32>
  %0 = graph.cumsum %x axis = 1 : tensor<2x3x4xf32>
  // CHECK: graph.cumsum %{{.*}} axis = -1 exclusive = true reverse = true : tensor<2x3x4xf32>
  %1 = graph.cumsum %x axis = -1 exclusive = true reverse = true : tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<2x3x4xf32>, %k: tensor<1xi64>) {
  // CHECK: graph.top_k %{{.*}}, %{{.*}} axis = 1 largest = false sorted = false : (tensor<2x3x4xf32>, tensor<1xi64>) -> (tensor<2x?x4xf32>, tensor<2x?x4xi64>)
  %0:2 = graph.top_k %x, %k axis = 1 largest = false sorted = false : (tensor<2x3x4xf32>, tensor<1xi64>) -> (tensor<2x?x4xf32>, tensor<2x?x4xi64>)
  return
}

// CHECK-LABEL: func.func @det
func.func @det(%x: tensor<2x?x3xf32>) {
  // CHECK: graph.det %{{.*}} : (tensor<2x?x3xf32>) -> tensor<2xf32>
  %0 = graph.det %x : (tensor<2x?x3xf32>) -> tensor<2xf32>
  return
}
