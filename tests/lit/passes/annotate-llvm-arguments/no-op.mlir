// RUN: phaseline-opt %s --annotate-llvm-arguments | FileCheck %s

// CHECK: func.func @numbers(%{{.*}}: i32, %{{.*}}: f32) {
func.func @numbers(%n: i32, %x: f32) {
  return
}
