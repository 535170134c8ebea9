// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-tir-to-emitc)' | FileCheck %s

// A module without functions stays as it is.
// CHECK: module
// CHECK-NOT: emitc
module {
}
