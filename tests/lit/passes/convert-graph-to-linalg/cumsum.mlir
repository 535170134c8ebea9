// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-graph-to-linalg,canonicalize))' | FileCheck %s

// From the end the loop runs along places that MLIR cannot turn around, so it also has the input as it is.
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1, d2) -> (d0, -d1 + 3, d2)>
// CHECK-DAG: #[[PLAIN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: linalg.generic {indexing_maps = [#[[BACK]], #[[PLAIN]], #[[BACK]],
func.func @back(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.cumsum %x axis = -1 reverse = true : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Factors may be reordered as terms may, or LLVM makes no vectors of rows.
// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<3x40xf32>) -> tensor<3x1xf32> {
  // CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
  %0 = graph.reduce_prod %x axes = [1] keepdims = true : (tensor<3x40xf32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
