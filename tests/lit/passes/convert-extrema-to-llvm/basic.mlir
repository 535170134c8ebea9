// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-extrema-to-llvm))' | FileCheck %s

// CHECK-LABEL: func.func @scalars
// CHECK: llvm.intr.maximum(%arg0, %arg1) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%arg2, %arg2) : (f64, f64) -> f64
func.func @scalars(%a: f32, %b: f32, %c: f64) -> (f32, f64) {
  %0 = arith.maximumf %a, %b fastmath<nsz> : f32
  %1 = arith.minimumf %c, %c : f64
  return %0, %1 : f32, f64
}
