// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{target=vecdsp session=true activate=on})' | FileCheck %s

// A device on which nothing of the network runs.
// CHECK-NOT: phl.contexts
// CHECK-NOT: phl.session
// CHECK: func.func @main
func.func @main() attributes {phl.target = "llvm"} {
  return
}
