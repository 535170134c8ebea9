// RUN: toy opt %s --toy-taint --verify-diagnostics | FileCheck %s
// RUN: toy opt %s --toy-taint --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: toy-taint
// STATS-NEXT: (S) 2 prints - Prints remarked on

// CHECK-LABEL: @f
// expected-note @below {{of this function}}
func.func @f(%x: tensor<2xf64>, %y: tensor<2xf64>, %c: i1) {
  %0 = toy.constant dense<1.0> : tensor<2xf64> : tensor<2xf64>
  toy.print %0 : tensor<2xf64>
  %1 = toy.add %0, %y : tensor<2xf64>
  // expected-remark @below {{'toy.print' op depends on arguments {1}}}
  toy.print %1 : tensor<2xf64>
  %2 = scf.if %c -> tensor<2xf64> {
    scf.yield %1 : tensor<2xf64>
  } else {
    scf.yield %x : tensor<2xf64>
  }
  // expected-remark @below {{'toy.print' op depends on arguments {0, 1}}}
  toy.print %2 : tensor<2xf64>
  return
}
