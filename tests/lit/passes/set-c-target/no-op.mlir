// RUN: phaseline-opt %s --pass-pipeline='builtin.module(set-c-target)' | FileCheck %s

// Without options nothing is recorded: a device is a void *, and only standard headers are included.
// CHECK: module {
// CHECK-NOT: phl.
module {
}
