// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host))" --split-input-file | FileCheck %s

// Products, what is done to scores, softmax, and what is done to results are one group. Masks may
// differ from batch to batch and from head to head.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x32x16xf32>, %k: tensor<2x4x16x48xf32>, %v: tensor<2x4x48x8xf32>,
    %bias: tensor<4x32x48xf32>, %mask: tensor<2x1x1x48xi1>, %gate: tensor<2x4x32x8xf32>) -> tensor<2x4x32x8xf32> {
  // CHECK-DAG: %[[SCALE:.*]] = graph.constant dense<2.500000e-01>
  // CHECK: %[[C:.*]] = graph.composite "llvm.attention" target("llvm")
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.where
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.yield
  // CHECK: return %[[C]]
  %scale = graph.constant dense<0.25> : tensor<f32>
  %least = graph.constant dense<-1.0e9> : tensor<f32>
  %0 = graph.matmul %q, %k : (tensor<2x4x32x16xf32>, tensor<2x4x16x48xf32>) -> tensor<2x4x32x48xf32>
  %1 = graph.mul %0, %scale : (tensor<2x4x32x48xf32>, tensor<f32>) -> tensor<2x4x32x48xf32>
  %2 = graph.add %1, %bias : (tensor<2x4x32x48xf32>, tensor<4x32x48xf32>) -> tensor<2x4x32x48xf32>
  %3 = graph.where %mask, %2, %least : (tensor<2x1x1x48xi1>, tensor<2x4x32x48xf32>, tensor<f32>) -> tensor<2x4x32x48xf32>
  %4 = graph.softmax %3 axis = 3 : tensor<2x4x32x48xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x32x48xf32>, tensor<2x4x48x8xf32>) -> tensor<2x4x32x8xf32>
  %6 = graph.mul %5, %gate : (tensor<2x4x32x8xf32>, tensor<2x4x32x8xf32>) -> tensor<2x4x32x8xf32>
  return %6 : tensor<2x4x32x8xf32>
}

// -----

// Operations on the results of softmax are a part of it, too.
// CHECK-LABEL: func.func @weights
// CHECK: graph.composite "llvm.attention"
// CHECK: graph.softmax
// CHECK-NEXT: graph.where
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.yield
func.func @weights(%q: tensor<8x32x16xf32>, %k: tensor<8x16x48xf32>, %v: tensor<8x48x8xf32>, %sees: tensor<8x32x1xi1>) -> tensor<8x32x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.matmul %q, %k : (tensor<8x32x16xf32>, tensor<8x16x48xf32>) -> tensor<8x32x48xf32>
  %1 = graph.softmax %0 axis = -1 : tensor<8x32x48xf32>
  %2 = graph.where %sees, %1, %zero : (tensor<8x32x1xi1>, tensor<8x32x48xf32>, tensor<f32>) -> tensor<8x32x48xf32>
  %3 = graph.matmul %2, %v : (tensor<8x32x48xf32>, tensor<8x48x8xf32>) -> tensor<8x32x8xf32>
  return %3 : tensor<8x32x8xf32>
}

// -----

// Scores that something else reads are stored.
// CHECK-LABEL: func.func @scores_leave
// CHECK-NOT: llvm.attention
// CHECK: graph.composite "llvm.matmul"
// CHECK: graph.softmax
// CHECK: graph.composite "llvm.matmul"
func.func @scores_leave(%q: tensor<8x32x16xf32>, %k: tensor<8x16x48xf32>, %v: tensor<8x48x8xf32>) -> (tensor<8x32x8xf32>, tensor<8x32x48xf32>) {
  %0 = graph.matmul %q, %k : (tensor<8x32x16xf32>, tensor<8x16x48xf32>) -> tensor<8x32x48xf32>
  %1 = graph.softmax %0 axis = 2 : tensor<8x32x48xf32>
  %2 = graph.matmul %1, %v : (tensor<8x32x48xf32>, tensor<8x48x8xf32>) -> tensor<8x32x8xf32>
  return %2, %0 : tensor<8x32x8xf32>, tensor<8x32x48xf32>
}

// -----

// So are weights.
// CHECK-LABEL: func.func @weights_leave
// CHECK-NOT: llvm.attention
// CHECK: return
func.func @weights_leave(%q: tensor<8x32x16xf32>, %k: tensor<8x16x48xf32>, %v: tensor<8x48x8xf32>) -> (tensor<8x32x8xf32>, tensor<8x32x48xf32>) {
  %0 = graph.matmul %q, %k : (tensor<8x32x16xf32>, tensor<8x16x48xf32>) -> tensor<8x32x48xf32>
  %1 = graph.softmax %0 axis = 2 : tensor<8x32x48xf32>
  %2 = graph.matmul %1, %v : (tensor<8x32x48xf32>, tensor<8x48x8xf32>) -> tensor<8x32x8xf32>
  return %2, %1 : tensor<8x32x8xf32>, tensor<8x32x48xf32>
}

// -----

// Softmax of columns.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: llvm.attention
// CHECK: return
func.func @columns(%q: tensor<8x32x16xf32>, %k: tensor<8x16x48xf32>, %v: tensor<8x48x8xf32>) -> tensor<8x32x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<8x32x16xf32>, tensor<8x16x48xf32>) -> tensor<8x32x48xf32>
  %1 = graph.softmax %0 axis = 1 : tensor<8x32x48xf32>
  %2 = graph.matmul %1, %v : (tensor<8x32x48xf32>, tensor<8x48x8xf32>) -> tensor<8x32x8xf32>
  return %2 : tensor<8x32x8xf32>
}

// -----

// The softmax is what is multiplied with, not what is multiplied.
// CHECK-LABEL: func.func @right
// CHECK-NOT: llvm.attention
// CHECK: return
func.func @right(%q: tensor<8x32x16xf32>, %k: tensor<8x16x48xf32>, %v: tensor<8x8x32xf32>) -> tensor<8x8x48xf32> {
  %0 = graph.matmul %q, %k : (tensor<8x32x16xf32>, tensor<8x16x48xf32>) -> tensor<8x32x48xf32>
  %1 = graph.softmax %0 axis = 2 : tensor<8x32x48xf32>
  %2 = graph.matmul %v, %1 : (tensor<8x8x32xf32>, tensor<8x32x48xf32>) -> tensor<8x8x48xf32>
  return %2 : tensor<8x8x48xf32>
}

// -----

// A row of one matrix would be one task.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: llvm.attention
// CHECK: return
func.func @few_rows(%q: tensor<1x16xf32>, %k: tensor<16x4096xf32>, %v: tensor<4096x8xf32>) -> tensor<1x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<1x16xf32>, tensor<16x4096xf32>) -> tensor<1x4096xf32>
  %1 = graph.softmax %0 axis = 1 : tensor<1x4096xf32>
  %2 = graph.matmul %1, %v : (tensor<1x4096xf32>, tensor<4096x8xf32>) -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}
