// RUN: phaseline-opt %s --trace-operations | FileCheck %s
// RUN: not phaseline-opt %s --trace-operations=calls=maybe 2>&1 | FileCheck %s --check-prefix=ERROR

// A function without work has no steps, and tells of none.
// CHECK: phl.operations = "[]"
// CHECK: func.func @main
// CHECK-NEXT: return
// ERROR: calls
func.func @main() {
  return
}
