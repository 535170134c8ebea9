// RUN: phaseline-opt %s --reduce-with "%{root}/target/debug/phaseline-opt %%s --canonicalize | grep -q arith.constant.42" 2>/dev/null | FileCheck %s

// Operations in the middle of a chain go: an operand takes the place of their result.
// CHECK: func.func @f(%[[A:.*]]: i32) -> i32 {
// CHECK-DAG: %[[FORTY:.*]] = arith.constant 40 : i32
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[FORTY]] : i32
// CHECK-NEXT: %[[ALL:.*]] = arith.addi %[[SUM]], %[[TWO]] : i32
// CHECK-NEXT: return %[[ALL]] : i32
func.func @f(%a: i32) -> i32 {
  %0 = arith.constant 40 : i32
  %1 = arith.constant 2 : i32
  %2 = arith.andi %a, %a : i32
  %3 = arith.muli %2, %a : i32
  %4 = arith.addi %3, %0 : i32
  %5 = arith.ori %4, %4 : i32
  %6 = arith.addi %5, %1 : i32
  %7 = arith.andi %6, %6 : i32
  return %7 : i32
}
