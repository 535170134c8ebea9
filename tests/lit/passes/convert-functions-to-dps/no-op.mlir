// RUN: phaseline-opt %s --convert-functions-to-dps | FileCheck %s

// Functions on buffers and numbers are right already.
// CHECK: module {
// CHECK-NEXT: func.func @main(%{{.*}}: memref<4xf32>, %{{.*}}: i32) -> i32 {
// CHECK-NEXT: return
func.func @main(%x: memref<4xf32>, %n: i32) -> i32 {
  return %n : i32
}
