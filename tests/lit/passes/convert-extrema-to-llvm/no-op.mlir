// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-extrema-to-llvm))' | FileCheck %s

// Vectors are vectors already, and 16-bit floats are computed in f32 elsewhere.
// CHECK-NOT: llvm.intr
func.func @others(%v: vector<4xf32>, %h: f16) -> (vector<4xf32>, f16) {
  %0 = arith.maximumf %v, %v : vector<4xf32>
  %1 = arith.minimumf %h, %h : f16
  return %0, %1 : vector<4xf32>, f16
}
