// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-widen-half))' | FileCheck %s

// CHECK-NOT: graph.cast
func.func @floats(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func @elementwise(%a: tensor<4xf16>) -> tensor<4xf16> {
  %y = graph.relu %a : tensor<4xf16>
  return %y : tensor<4xf16>
}

// Sizes that are not known have no kernel.
func.func @dynamic(%a: tensor<?x3xf16>, %b: tensor<3x4xf16>) -> tensor<?x4xf16> {
  %y = graph.matmul %a, %b : (tensor<?x3xf16>, tensor<3x4xf16>) -> tensor<?x4xf16>
  return %y : tensor<?x4xf16>
}
