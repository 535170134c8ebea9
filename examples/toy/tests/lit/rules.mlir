// RUN: toy opt %s --split-input-file --canonicalize --verify-diagnostics | FileCheck %s

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

// CHECK-LABEL: @reshapes
// CHECK: toy.reshape %{{.*}} : tensor<6xf64> -> tensor<3x2xf64>
// CHECK-NEXT: return
func.func @reshapes(%x: tensor<6xf64>) -> tensor<3x2xf64> {
  %0 = toy.reshape %x : tensor<6xf64> -> tensor<2x3xf64>
  %1 = toy.reshape %0 : tensor<2x3xf64> -> tensor<3x2xf64>
  return %1 : tensor<3x2xf64>
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

// Inference in Rust, asked by MLIR's verifier.
func.func @wrong(%x: tensor<2x3xf64>) {
  // expected-error @below {{'toy.transpose' op failed to infer returned types}}
  // expected-error @below {{'toy.transpose' op inferred type(s) 'tensor<3x2xf64>' are incompatible with return type(s) of operation 'tensor<2x3xf64>'}}
  %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<2x3xf64>
  return
}

// -----

func.func @wrong(%x: tensor<2xf64>, %y: tensor<3xf64>) {
  // expected-error @below {{'toy.add' op failed to infer returned types}}
  // expected-error @below {{'toy.add' op has operands tensor<2xf64> and tensor<3xf64>}}
  %0 = toy.add %x, %y : tensor<2xf64>, tensor<3xf64> -> tensor<*xf64>
  return
}
