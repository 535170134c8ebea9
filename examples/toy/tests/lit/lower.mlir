// RUN: toy opt %s --toy-lower --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @f
// CHECK-SAME: %[[X:.*]]: vector<2x3xf64>
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.0{{.*}}> : vector<2x3xf64>
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[C]] : vector<2x3xf64>
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[M]], %[[X]] : vector<2x3xf64>
// CHECK-NEXT: %[[T:.*]] = vector.transpose %[[A]], [1, 0] : vector<2x3xf64> to vector<3x2xf64>
// CHECK-NEXT: %[[R:.*]] = vector.shape_cast %[[T]] : vector<3x2xf64> to vector<6xf64>
// CHECK-NEXT: vector.print %[[R]] : vector<6xf64>
func.func @f(%x: tensor<2x3xf64>) {
  %0 = toy.constant dense<2.0> : tensor<2x3xf64> : tensor<2x3xf64>
  %1 = toy.mul %x, %0 : tensor<2x3xf64>, tensor<2x3xf64> -> tensor<2x3xf64>
  %2 = toy.add %1, %x : tensor<2x3xf64>, tensor<2x3xf64> -> tensor<2x3xf64>
  %3 = toy.transpose %2 : tensor<2x3xf64> -> tensor<3x2xf64>
  %4 = toy.reshape %3 : tensor<3x2xf64> -> tensor<6xf64>
  toy.print %4 : tensor<6xf64>
  return
}

// -----

func.func @open(%x: tensor<?x3xf64>) {
  // expected-error @below {{'toy.transpose' op has a result of open shape: inline and toy-infer-shapes come first}}
  %0 = toy.transpose %x : tensor<?x3xf64> -> tensor<3x?xf64>
  toy.print %0 : tensor<3x?xf64>
  return
}
