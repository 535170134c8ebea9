// RUN: toy %s --emit simplify | FileCheck %s
// RUN: toy opt %s --toy-pipeline | FileCheck %s
// RUN: toy opt %s --pass-pipeline='builtin.module(func.func(toy-simplify))' | FileCheck %s

// CHECK-LABEL: @twice
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf64>
// CHECK-NEXT: return %[[X]]
func.func @twice(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> -> tensor<2x3xf64>
  return %1 : tensor<2x3xf64>
}

// CHECK-LABEL: @reshapes
// CHECK: toy.reshape %{{.*}} : tensor<6xf64> -> tensor<3x2xf64>
// CHECK-NEXT: return
func.func @reshapes(%x: tensor<6xf64>) -> tensor<3x2xf64> {
  %0 = toy.reshape %x : tensor<6xf64> -> tensor<2x3xf64>
  %1 = toy.reshape %0 : tensor<2x3xf64> -> tensor<3x2xf64>
  return %1 : tensor<3x2xf64>
}
