// RUN: toy opt %s --toy-remove-unread --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @unread
// CHECK-NEXT: return
func.func @unread() {
  %0 = toy.open "a" <read> : !toy.handle
  toy.close %0 : !toy.handle
  return
}

// -----

// CHECK-LABEL: @kept
// CHECK: toy.open "a"
// CHECK: toy.open "b"
func.func @kept() -> tensor<2xf64> {
  %0 = toy.open "a" <read> : !toy.handle
  %1 = toy.read %0 : tensor<2xf64>
  toy.close %0 : !toy.handle
  %2 = toy.open "b" <write> : !toy.handle
  toy.close %2 : !toy.handle
  return %1 : tensor<2xf64>
}

// -----

func.func @late() -> tensor<2xf64> {
  %0 = toy.open "a" <read> : !toy.handle
  // expected-note @below {{here}}
  toy.close %0 : !toy.handle
  // expected-warning @below {{reads a file that is closed}}
  %1 = toy.read %0 : tensor<2xf64>
  return %1 : tensor<2xf64>
}
