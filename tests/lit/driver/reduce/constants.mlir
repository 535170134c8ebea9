// RUN: phaseline-opt %s --reduce-with 'grep -q arith.addf' 2>/dev/null | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q tensor.extract_slice' 2>/dev/null | FileCheck %s --check-prefix=LARGE

// A constant zero stands in where no earlier value has the type.
// CHECK: func.func @f() {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.addf %[[ZERO]], %[[ZERO]] : f32
// CHECK-NEXT: return

// The elements of a constant that are not needed go.
// LARGE: arith.constant dense<0.000000e+00> : tensor<2x4xf32>
func.func @f(%m: memref<4xf32>, %i: index) -> (f32, tensor<1x4xf32>) {
  %0 = memref.load %m[%i] : memref<4xf32>
  %1 = arith.addf %0, %0 : f32
  %2 = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %3 = tensor.extract_slice %2[0, 0][1, 4][1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
  return %1, %3 : f32, tensor<1x4xf32>
}
