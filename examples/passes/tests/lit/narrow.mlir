// RUN: passes-opt %s --split-input-file --narrow --verify-diagnostics | FileCheck %s
// RUN: not passes-opt %s --pass-pipeline='builtin.module(narrow{from=16})' 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: 'from' and 'to' are widths up to 64, 'to' the smaller one [narrow]

// CHECK-LABEL: func.func private @callee(i32) -> i32
func.func private @callee(i64) -> i64

// CHECK-LABEL: @sum
// CHECK-SAME: (%[[X:.*]]: i32, %[[N:.*]]: index) -> i32
// CHECK: %[[C:.*]] = arith.constant 5 : i32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[X]]) -> (i32)
// CHECK: arith.addi %{{.*}}, %[[C]] : i32
// CHECK: call @callee(%{{.*}}) : (i32) -> i32
// CHECK-NOT: unrealized
// CHECK: return %{{.*}} : i32
func.func @sum(%x: i64, %n: index) -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : i64
  %0 = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (i64) {
    %1 = arith.addi %s, %five : i64
    scf.yield %1 : i64
  }
  %2 = func.call @callee(%0) : (i64) -> i64
  cf.br ^end(%2 : i64)
^end(%y: i64):
  return %y : i64
}

// -----

func.func @large() -> i64 {
  // expected-error @below {{failed to legalize operation 'arith.constant' that was explicitly marked illegal; the pattern 'narrow-constant': 5000000000 does not fit into 32 bits}}
  %0 = arith.constant 5000000000 : i64
  return %0 : i64
}
