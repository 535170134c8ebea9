// RUN: toy opt %s --toy-lower | FileCheck %s

// CHECK-LABEL: @f
// CHECK-SAME: %[[X:.*]]: tensor<2xf64>
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.0{{.*}}> : tensor<2xf64>
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[C]] : tensor<2xf64>
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[M]], %[[X]] : tensor<2xf64>
// CHECK-NEXT: toy.print %[[A]]
func.func @f(%x: tensor<2xf64>) {
  %0 = toy.constant dense<2.0> : tensor<2xf64> : tensor<2xf64>
  %1 = toy.mul %x, %0 : tensor<2xf64>
  %2 = toy.add %1, %x : tensor<2xf64>
  toy.print %2 : tensor<2xf64>
  return
}
