// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-simplify{rules=fold-batch-norm},canonicalize))" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-simplify{rules=fold-batch-norm,scale-batch-norm},canonicalize))" | FileCheck %s --check-prefix=SHIFT

// With var + epsilon = 4 and 1 the factors are 3 / 2 and 5 / 1.
// CHECK-LABEL: func.func @fold
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}3.000000e+00]]], {{\[\[\[}}1.000000e+01]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[2.500000e+00, 1.400000e+01]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]], %[[B]] strides = [2, 2]
// CHECK-NEXT: return %[[Y]]
func.func @fold(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<2.0> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %scale = graph.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %mean = graph.constant dense<1.0> : tensor<2xf32>
  %var = graph.constant dense<[3.5, 0.5]> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b strides = [2, 2] : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %var epsilon = 5.000000e-01 : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}

// A normalization without a convolution stays, or becomes a multiplication and an addition.
// CHECK-LABEL: func.func @alone
// CHECK: graph.batch_norm
// SHIFT-LABEL: func.func @alone
// SHIFT-DAG: %[[F:.*]] = graph.constant dense<{{\[\[\[}}1.500000e+00]], {{\[\[}}5.000000e+00]]]> : tensor<2x1x1xf32>
// SHIFT: %[[M:.*]] = graph.mul %{{.*}}, %[[F]]
// SHIFT: graph.add %[[M]]
// SHIFT-NOT: graph.batch_norm
func.func @alone(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = graph.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %mean = graph.constant dense<1.0> : tensor<2xf32>
  %var = graph.constant dense<[3.5, 0.5]> : tensor<2xf32>
  %1 = graph.batch_norm %x, %scale, %bias, %mean, %var epsilon = 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
