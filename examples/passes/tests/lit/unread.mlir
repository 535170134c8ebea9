// RUN: passes-opt %s --remove-unread --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @unread
// CHECK-NEXT: return
func.func @unread() {
  %0 = file.open "a" <read> : !file.handle
  file.close %0 : !file.handle
  return
}

// -----

// CHECK-LABEL: @kept
// CHECK: file.open "a"
// CHECK: file.open "b"
func.func @kept() -> f64 {
  %0 = file.open "a" <read> : !file.handle
  %1 = file.read %0 : f64
  file.close %0 : !file.handle
  %2 = file.open "b" <write> : !file.handle
  file.close %2 : !file.handle
  return %1 : f64
}

// -----

func.func @late() -> f64 {
  %0 = file.open "a" <read> : !file.handle
  // expected-note @below {{here}}
  file.close %0 : !file.handle
  // expected-warning @below {{reads a file that is closed}}
  %1 = file.read %0 : f64
  return %1 : f64
}
