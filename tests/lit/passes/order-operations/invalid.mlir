// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(order-operations)' 2>&1 | FileCheck %s

// Memory of functions that call themselves cannot be planned, in whatever order.
// CHECK: error: {{.*}}again
func.func @again(%x: memref<64xf32>) {
  call @again(%x) : (memref<64xf32>) -> ()
  return
}
