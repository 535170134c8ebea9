// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=haswell},expand-half-conversions)" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=aarch64-linux-gnu},expand-half-conversions)" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(expand-half-conversions{always=true})" | FileCheck %s --check-prefix=OTHERS

// Conversions with instructions of the CPU stay.
// CHECK-LABEL: func.func @halves
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @halves(%x: f16) -> f16 {
  %y = arith.extf %x : f16 to f32
  %z = arith.truncf %y : f32 to f16
  return %z : f16
}

// So do those of other types.
// OTHERS-LABEL: func.func @others
// OTHERS: arith.extf %{{.*}} : f32 to f64
// OTHERS: arith.truncf %{{.*}} : f64 to f32
// OTHERS: arith.extf %{{.*}} : bf16 to f32
func.func @others(%x: f32, %b: bf16) -> (f32, f32) {
  %y = arith.extf %x : f32 to f64
  %z = arith.truncf %y : f64 to f32
  %w = arith.extf %b : bf16 to f32
  return %z, %w : f32, f32
}
