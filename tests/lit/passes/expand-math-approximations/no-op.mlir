// Most functions of doubles are the C library's, and so are those without an approximation.

// RUN: phaseline-opt %s --expand-math-approximations | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: math.sin %{{.*}} : f64
// CHECK-NEXT: math.powf %{{.*}} : f32
// CHECK-NEXT: return
func.func @main(%x: f64, %y: f32) -> (f64, f32) {
  %0 = math.sin %x : f64
  %1 = math.powf %y, %y : f32
  return %0, %1 : f64, f32
}
