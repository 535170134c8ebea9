// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(separate-destinations))' | FileCheck %s

// CHECK-LABEL: func.func @shared_fill
// CHECK-DAG: %[[F1:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}})
// CHECK-DAG: %[[F2:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}})
// CHECK: linalg.matmul {{.*}} outs(%[[A:.*]] :
// CHECK-NOT: linalg.matmul {{.*}} outs(%[[A]] :
// CHECK: linalg.matmul
func.func @shared_fill(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = linalg.matmul ins(%a, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// A start value with one use, and a computed one, stay.
// CHECK-LABEL: func.func @nothing_shared
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: linalg.matmul
func.func @nothing_shared(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %a = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%a : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
}
