// RUN: toy opt %s --split-input-file --canonicalize --verify-diagnostics | FileCheck %s

// A type, an enum and an attribute of the dialect.
// CHECK-LABEL: @read
// CHECK: %[[F:.*]] = toy.open "weights" <read> : !toy.handle
// CHECK: toy.read %[[F]] : tensor<2xf64>
func.func @read() -> tensor<2xf64> {
  %0 = toy.open "weights" <read> : !toy.handle
  %1 = toy.read %0 : tensor<2xf64>
  return %1 : tensor<2xf64>
}

// Rules and folds in Rust, by MLIR's canonicalizer.
// CHECK-LABEL: @twice
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf64>
// CHECK-NEXT: return %[[X]]
func.func @twice(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> -> tensor<2x3xf64>
  %2 = toy.reshape %1 : tensor<2x3xf64> -> tensor<2x3xf64>
  return %2 : tensor<2x3xf64>
}

// CHECK-LABEL: @constant
// CHECK-NEXT: %[[C:.*]] = toy.constant dense<{{\[}}{{\[}}1.{{0*}}e+00], [2.{{0*}}e+00]]> : tensor<2x1xf64> : tensor<2x1xf64>
// CHECK-NEXT: return %[[C]]
func.func @constant() -> tensor<2x1xf64> {
  %0 = toy.constant dense<[1.0, 2.0]> : tensor<2xf64> : tensor<2xf64>
  %1 = toy.reshape %0 : tensor<2xf64> -> tensor<2x1xf64>
  return %1 : tensor<2x1xf64>
}

// -----

// Verifiers in Rust.
func.func @wrong(%x: tensor<2x3xf64>) {
  // expected-error @below {{'toy.reshape' op has 6 elements and cannot have 5}}
  %0 = toy.reshape %x : tensor<2x3xf64> -> tensor<5xf64>
  return
}

// -----

func.func @wrong(%x: tensor<2x3xf64>) {
  // expected-error @below {{'toy.transpose' op has rows and columns [2, 3], and not [3, 2]}}
  %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<2x3xf64>
  return
}
