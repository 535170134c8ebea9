// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host))" --split-input-file | FileCheck %s

// Bias and activation go with the product.
// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<4x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x16xf32>
  // CHECK: %[[C:.*]] = graph.composite "llvm.matmul" target("llvm")
  // CHECK: graph.matmul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.yield
  // CHECK: return %[[C]]
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = graph.relu %1 : tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// A value that is used twice inside of the group is no obstacle: x * sigmoid(x).
// CHECK-LABEL: func.func @swish
func.func @swish(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: graph.composite "llvm.matmul"
  // CHECK: graph.matmul
  // CHECK-NEXT: graph.sigmoid
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.yield
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.sigmoid %0 : tensor<4x16xf32>
  %2 = graph.mul %0, %1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// The later of two branches takes their sum. A value that is used elsewhere ends its group.
// CHECK-LABEL: func.func @branches
// CHECK: %[[A:.*]] = graph.composite "llvm.matmul"
// CHECK-NOT: graph.add
// CHECK: graph.yield
// CHECK: %[[B:.*]] = graph.composite "llvm.matmul"
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.yield
// CHECK: %[[R:.*]] = graph.relu %[[B]]
// CHECK: return %[[B]], %[[R]]
func.func @branches(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = graph.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.relu %2 : tensor<4x8xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// An operand that is computed from the root cannot be an operand of its composite.
// CHECK-LABEL: func.func @dependent
// CHECK: graph.composite "llvm.matmul"
// CHECK-NOT: graph.add
// CHECK: graph.yield
// CHECK: graph.softmax
// CHECK: graph.add
func.func @dependent(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.softmax %0 : tensor<4x8xf32>
  %2 = graph.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Addends are read as integers, wherever they were dequantized, but not those that others read, too.
// CHECK-LABEL: func.func @residual
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[A:.*]]: tensor<4x16xui8>, %[[B:.*]]: tensor<4x16xui8>
// CHECK: %[[D:.*]] = graph.dequantize_linear %[[B]]
// CHECK-NEXT: %[[C:.*]] = graph.composite "llvm.matmul" {{.*}}%[[A]]
// CHECK: graph.matmul
// CHECK-NEXT: graph.dequantize_linear
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.yield
// CHECK: return %[[C]], %[[D]]
func.func @residual(%x: tensor<4x8xf32>, %a: tensor<4x16xui8>, %b: tensor<4x16xui8>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x16xf32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x16xf32>
  %1 = graph.dequantize_linear %b, %s, %z : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x16xf32>
  %2 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %3 = graph.add %2, %0 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = graph.add %3, %1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %4, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}
