// RUN: passes-opt %s --taint --verify-diagnostics | FileCheck %s
// RUN: passes-opt %s --taint --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: {{^}}taint{{$}}
// STATS-NEXT: (S) 2 writes - Writes remarked on

// CHECK-LABEL: @f
// expected-note @below {{of this function}}
func.func @f(%x: f64, %y: f64, %c: i1, %file: !file.handle) {
  %0 = arith.constant 1.0 : f64
  file.write %0 to %file : f64
  %1 = arith.addf %0, %y : f64
  // expected-remark @below {{'file.write' op depends on arguments {1}}}
  file.write %1 to %file : f64
  %2 = scf.if %c -> f64 {
    scf.yield %1 : f64
  } else {
    scf.yield %x : f64
  }
  // expected-remark @below {{'file.write' op depends on arguments {0, 1}}}
  file.write %2 to %file : f64
  return
}
