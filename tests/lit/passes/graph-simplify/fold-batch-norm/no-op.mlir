// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-simplify{rules=fold-batch-norm}))" | FileCheck %s

// The convolution's result is used elsewhere too.
// CHECK-LABEL: func.func @shared
// CHECK: graph.conv
// CHECK: graph.batch_norm
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = graph.constant dense<2.0> : tensor<2x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %one, %one, %one, %one : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// The parameters are not constant.
// CHECK-LABEL: func.func @variable
// CHECK: graph.conv
// CHECK: graph.batch_norm
func.func @variable(%x: tensor<1x1x4x4xf32>, %s: tensor<2xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<2.0> : tensor<2x1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %s, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
