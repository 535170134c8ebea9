// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=expand-einsum,plain-gemm}),canonicalize)' | FileCheck %s

// Heads of attention: what counts matrices comes first, what is summed over lies between.
// CHECK-LABEL: func.func @scores
// CHECK-SAME: (%[[Q:.*]]: tensor<2x6x4x8xf32>, %[[K:.*]]: tensor<2x5x4x8xf32>)
// CHECK-DAG: %[[A:.*]] = graph.transpose %[[Q]] perm = [0, 2, 1, 3]
// CHECK-DAG: %[[B:.*]] = graph.transpose %[[K]] perm = [0, 2, 3, 1]
// CHECK: %[[Y:.*]] = graph.matmul %[[A]], %[[B]]
// CHECK: return %[[Y]]
func.func @scores(%q: tensor<2x6x4x8xf32>, %k: tensor<2x5x4x8xf32>) -> tensor<2x4x6x5xf32> {
  %0 = graph.einsum "bqhs,bkhs->bhqk", %q, %k : (tensor<2x6x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x4x6x5xf32>
  return %0 : tensor<2x4x6x5xf32>
}

// Constants are columns wherever they stand.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf16>)
// CHECK: %[[W:.*]] = graph.constant
// CHECK: graph.matmul %[[X]], %[[W]] : (tensor<3x4xf16>, tensor<4x4xf16>) -> tensor<3x4xf16>
// CHECK: graph.transpose %{{.*}} perm = [1, 0]
func.func @weights(%x: tensor<3x4xf16>) -> tensor<4x3xf16> {
  %w = graph.constant dense<0.5> : tensor<4x4xf16>
  %0 = graph.einsum "dh,td->ht", %w, %x : (tensor<4x4xf16>, tensor<3x4xf16>) -> tensor<4x3xf16>
  return %0 : tensor<4x3xf16>
}

// Three operands from the left; what one alone sums over is summed before.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[A:.*]]: tensor<2x3x5xf32>, %{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<4x6xf32>)
// CHECK: %[[S:.*]] = graph.reduce_sum %[[A]] axes = [2] {{.*}} -> tensor<2x3xf32>
// CHECK: %[[P:.*]] = graph.matmul %[[S]], %{{.*}} -> tensor<2x4xf32>
// CHECK: graph.matmul %[[P]], %{{.*}} -> tensor<2x6xf32>
func.func @chain(%a: tensor<2x3x5xf32>, %b: tensor<3x4xf32>, %c: tensor<4x6xf32>) -> tensor<2x6xf32> {
  %0 = graph.einsum "ijx,jk,kl->il", %a, %b, %c : (tensor<2x3x5xf32>, tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// A variable matrix that is read transposed is transposed first, and a factor goes to the other.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[A:.*]] = graph.mul %arg0
// CHECK: %[[B:.*]] = graph.transpose %arg1 perm = [1, 0]
// CHECK: graph.gemm %[[A]], %[[B]], %arg2
// CHECK-NOT: trans_b
// CHECK: return
func.func @gemm(%a: tensor<4x5xf32>, %b: tensor<6x5xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = graph.gemm %a, %b, %c alpha = 0.5 beta = 2.0 trans_b = true
      : (tensor<4x5xf32>, tensor<6x5xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// A constant one is packed.
// CHECK-LABEL: func.func @packed
// CHECK-NOT: graph.transpose
// CHECK: graph.gemm
// CHECK-SAME: trans_b = true
func.func @packed(%a: tensor<4x5xf32>) -> tensor<4x6xf32> {
  %b = graph.constant dense<0.5> : tensor<6x5xf32>
  %0 = graph.gemm %a, %b trans_b = true : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// Dequantized weights stay where layers of integers are made of them.
// CHECK-LABEL: func.func @dequantized
// CHECK-NOT: graph.transpose
// CHECK: graph.gemm {{.*}} trans_b = true
func.func @dequantized(%a: tensor<4x5xf32>) -> tensor<4x6xf32> {
  %w = graph.constant dense<3> : tensor<6x5xi8>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %b = graph.dequantize_linear %w, %scale : (tensor<6x5xi8>, tensor<f32>) -> tensor<6x5xf32>
  %0 = graph.gemm %a, %b trans_b = true : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
