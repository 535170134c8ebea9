// RUN: passes-opt %s --hoist | FileCheck %s
// RUN: passes-opt %s --pass-pipeline='builtin.module(func.func(hoist{only=arith.muli,arith.subi}))' | FileCheck %s --check-prefix=ONLY
// RUN: not passes-opt %s --pass-pipeline='builtin.module(func.func(hoist{most=x}))' 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: for the --most option: 'x' value invalid

// CHECK-LABEL: @f
// CHECK: %[[A:.*]] = arith.addi %arg0, %arg0
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[A]], %arg0
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for %[[J:.*]] =
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[M]], %[[J]]
// CHECK: call @use
// ONLY-LABEL: @f
// ONLY: scf.for
// ONLY: arith.addi
func.func @f(%x: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    scf.for %j = %zero to %n step %one {
      %a = arith.addi %x, %x : index
      %m = arith.muli %a, %x : index
      %s = arith.addi %m, %j : index
      %t = arith.index_cast %s : index to i64
      func.call @use(%t) : (i64) -> ()
    }
  }
  return
}
func.func private @use(i64)
