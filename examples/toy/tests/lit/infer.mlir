// RUN: toy opt %s --pass-pipeline='builtin.module(inline,func.func(toy-infer-shapes,canonicalize))' | FileCheck %s

// Shapes go through what is inlined; what leaves the function keeps its type.
func.func private @multiply_transpose(%a: tensor<*xf64>, %b: tensor<*xf64>) -> tensor<*xf64> {
  %0 = toy.transpose %a : tensor<*xf64> -> tensor<*xf64>
  %1 = toy.transpose %b : tensor<*xf64> -> tensor<*xf64>
  %2 = toy.mul %0, %1 : tensor<*xf64>, tensor<*xf64> -> tensor<*xf64>
  return %2 : tensor<*xf64>
}

// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf64>
// CHECK-NEXT: %[[T:.*]] = toy.transpose %[[X]] : tensor<2x3xf64> -> tensor<3x2xf64>
// CHECK-NEXT: %[[U:.*]] = toy.transpose %[[X]] : tensor<2x3xf64> -> tensor<3x2xf64>
// CHECK-NEXT: %[[M:.*]] = toy.mul %[[T]], %[[U]] : tensor<3x2xf64>, tensor<3x2xf64> -> tensor<3x2xf64>
// CHECK-NEXT: toy.print %[[M]] : tensor<3x2xf64>
func.func @main(%x: tensor<2x3xf64>) {
  %0 = toy.cast %x : tensor<2x3xf64> -> tensor<*xf64>
  %1 = call @multiply_transpose(%0, %0) : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64>
  toy.print %1 : tensor<*xf64>
  return
}

// CHECK-LABEL: @returned
// CHECK: toy.transpose %{{.*}} : tensor<2x3xf64> -> tensor<*xf64>
func.func @returned(%x: tensor<2x3xf64>) -> tensor<*xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<*xf64>
  return %0 : tensor<*xf64>
}
