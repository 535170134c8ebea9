// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=expand-qlinear-conv,expand-qlinear-matmul,expand-conv-integer,expand-matmul-integer}))' | FileCheck %s

// A scale that is computed is in no pattern of a quantized layer.
// CHECK-LABEL: func.func @computed
// CHECK: graph.qlinear_matmul
func.func @computed(%a: tensor<4x3xi8>, %s: tensor<f32>) -> tensor<4x2xi8> {
  %z = graph.constant dense<3> : tensor<i8>
  %b = graph.constant dense<1> : tensor<3x2xi8>
  %y = graph.qlinear_matmul %a, %s, %z, %b, %s, %z, %s, %z
      : (tensor<4x3xi8>, tensor<f32>, tensor<i8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}

// Sums that something else reads, and those that are scaled along another dimension.
// CHECK-LABEL: func.func @sums
// CHECK: graph.matmul_integer
// CHECK: graph.matmul_integer
func.func @sums(%a: tensor<2x3xi8>, %b: tensor<3x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %r = graph.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %i = graph.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
  %f = graph.cast %i : tensor<2x2xi32> to tensor<2x2xf32>
  %x = graph.mul %f, %s : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %k = graph.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
  %g = graph.cast %k : tensor<2x2xi32> to tensor<2x2xf32>
  %y = graph.mul %g, %r : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %x, %i, %y : tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xf32>
}
