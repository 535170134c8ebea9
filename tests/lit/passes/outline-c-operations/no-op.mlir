// RUN: phaseline-opt %s --outline-c-operations="headers=core.h emit={math.exp f64 core_exp(\$0)}" | FileCheck %s

// CHECK-NOT: phl.c_operations
// CHECK: math.exp
func.func @net(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
