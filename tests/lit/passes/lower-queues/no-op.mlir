// RUN: phaseline-opt %s --pass-pipeline='builtin.module(lower-queues)' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: tir.call_extern @dsp_0
// CHECK-NEXT: {{^ +}}return
func.func @main(%x: memref<8xf32>) {
  tir.call_extern @dsp_0 ins(%x : memref<8xf32>) args [#tir.arg<ins 0>] {with_device, returns_status, phl.device = "dsp"}
  return
}
