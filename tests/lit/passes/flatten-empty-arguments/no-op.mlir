// RUN: phaseline-opt %s --flatten-empty-arguments | FileCheck %s

// CHECK: func.func @kept(%{{.*}}: memref<4x2xf32>, %{{.*}}: memref<0xf32>, %{{.*}}: i32, %{{.*}}: memref<4x0xf32>)
func.func @kept(%x: memref<4x2xf32>, %y: memref<0xf32>, %n: i32, %z: memref<4x0xf32>) {
  %i = arith.constant 0 : index
  %0 = memref.load %z[%i, %i] : memref<4x0xf32>
  return
}
