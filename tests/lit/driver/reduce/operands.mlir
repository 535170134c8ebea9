// RUN: phaseline-opt %s --reduce-with 'grep -q graph.conv' 2>/dev/null | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q tir.wait' 2>/dev/null | FileCheck %s --check-prefix=KEEPS
// RUN: phaseline-opt %s --reduce-with 'grep -q arith.select' 2>/dev/null | FileCheck %s --check-prefix=FIRST

// An operand goes where it is optional; constants are of the dialect of the operation.
// CHECK: func.func @f(%[[X:.*]]: tensor<1x3x8x8xf32>) {
// CHECK-NEXT: %[[W:.*]] = graph.constant dense<0.000000e+00> : tensor<4x3x3x3xf32>
// CHECK-NEXT: graph.conv %[[X]], %[[W]] {{.*}}: (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) ->

// KEEPS: tir.wait @done for %{{.*}}[0] : memref<8xi64>
// KEEPS-NEXT: return

// FIRST: func.func @f(%[[C:.*]]: i1) {
// FIRST-NEXT: arith.select %[[C]], %[[C]], %[[C]] : i1
func.func @f(%x: tensor<1x3x8x8xf32>, %c: i1, %d: i1, %t: memref<8xi64>, %m: memref<4xf32>) -> (tensor<1x4x6x6xf32>, i1) {
  %w = graph.constant dense<2.0> : tensor<4x3x3x3xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.conv %x, %w, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  tir.wait @done for %t[0] : memref<8xi64> keeps(%m, %m : memref<4xf32>, memref<4xf32>)
  %1 = arith.xori %c, %d : i1
  %2 = arith.select %1, %c, %d : i1
  return %0, %2 : tensor<1x4x6x6xf32>, i1
}
