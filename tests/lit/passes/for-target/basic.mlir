// RUN: phaseline-opt %s --pass-pipeline='builtin.module(for-target{target=a pipeline={func.func(cse)}})' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(for-target{target=vanilla pipeline={func.func(cse)}})' | FileCheck --check-prefix=NONE %s
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(for-target{target=nobody pipeline={func.func(cse)}})' 2>&1 | FileCheck --check-prefix=NOBODY %s
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(for-target{target=a pipeline={func.func(csee)}})' 2>&1 | FileCheck --check-prefix=BAD %s

// A target's passes see the functions of that target, and no others.
// BAD: csee
// A target that the module has nothing of is fine; one that there is not is a slip.
// NOBODY: there is no target 'nobody': the module's targets are a, b [for-target]
// CHECK-LABEL: func.func @mine
// CHECK-COUNT-1: graph.abs
// CHECK-NOT: graph.abs
// NONE-LABEL: func.func @mine
// NONE-COUNT-2: graph.abs
func.func @mine(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {phl.target = "a"} {
  %0 = graph.abs %x : tensor<4xf32>
  %1 = graph.abs %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @another
// CHECK-COUNT-2: graph.abs
func.func @another(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {phl.target = "b"} {
  %0 = graph.abs %x : tensor<4xf32>
  %1 = graph.abs %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @nobodys
// CHECK-COUNT-2: graph.abs
func.func @nobodys(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.abs %x : tensor<4xf32>
  %1 = graph.abs %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
