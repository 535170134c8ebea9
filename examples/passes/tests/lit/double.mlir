// RUN: passes-opt %s --double | FileCheck %s

// CHECK-LABEL: @f(
// CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i8
func.func @f(%x: i32, %y: i8) -> (i32, i8) {
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: arith.shli %[[X]], %[[ONE]] : i32
  %0 = arith.addi %x, %x : i32
  // CHECK: arith.addi %[[Y]], %[[Y]] : i8
  %1 = arith.addi %y, %y : i8
  return %0, %1 : i32, i8
}
