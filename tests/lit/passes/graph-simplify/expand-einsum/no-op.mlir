// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=expand-einsum,plain-gemm}))' | FileCheck %s

// CHECK-NOT: graph.matmul

// Diagonals, sums of one operand, and products without a sum.
func.func @diagonal(%a: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<f32> {
  %0 = graph.einsum "ii,i->", %a, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @one(%a: tensor<4x5xf32>) -> tensor<5x4xf32> {
  %0 = graph.einsum "ij->ji", %a : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

func.func @outer(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = graph.einsum "i,j->ij", %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// Sizes that are not known or broadcast, and types without kernels.
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<4x5xf32>) -> tensor<?x5xf32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

func.func @broadcast(%a: tensor<3x1xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b : (tensor<3x1xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

func.func @integers(%a: tensor<3x4xi32>, %b: tensor<4x5xi32>) -> tensor<3x5xi32> {
  %0 = graph.einsum "ij,jk->ik", %a, %b : (tensor<3x4xi32>, tensor<4x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// A matrix of 16-bit floats times alpha would be rounded once more.
// CHECK-LABEL: func.func @half
// CHECK: graph.gemm %arg0, %arg1
// CHECK-SAME: alpha = 3
func.func @half(%a: tensor<4x8xf16>, %b: tensor<5x8xf16>) -> tensor<4x5xf16> {
  %y = graph.gemm %a, %b alpha = 3.000000e-01 trans_b = true : (tensor<4x8xf16>, tensor<5x8xf16>) -> tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}
