// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --one-shot-bufferize=bufferize-function-boundaries=true | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func.func @join
// CHECK: tir.concat dim(1) ins(%{{.*}}, %{{.*}} : tensor<2x1xf32>, tensor<2x3xf32>) outs(%{{.*}} : tensor<2x4xf32>) -> tensor<2x4xf32>
// One copy each, into the whole.
// BUFFERS-LABEL: func.func @join
// BUFFERS-COUNT-1: memref.alloc
// BUFFERS: %[[A:.*]] = memref.subview %{{.*}}[0, 0] [2, 1] [1, 1]
// BUFFERS-NEXT: memref.copy %{{.*}}, %[[A]]
// BUFFERS-NEXT: %[[B:.*]] = memref.subview %{{.*}}[0, 1] [2, 3] [1, 1]
// BUFFERS-NEXT: memref.copy %{{.*}}, %[[B]]
// BUFFERS-NOT: memref.copy
func.func @join(%a: tensor<2x1xf32>, %b: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %r = tir.concat dim(1) ins(%a, %b : tensor<2x1xf32>, tensor<2x3xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
