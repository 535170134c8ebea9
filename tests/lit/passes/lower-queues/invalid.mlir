// RUN: phaseline-opt %s --pass-pipeline='builtin.module(lower-queues)' -split-input-file -verify-diagnostics

func.func @nobody(%t: memref<4xi64>) {
  // expected-error @+1 {{names the function @submit, which is not there}}
  tir.submit @submit queue 1 to %t[3] : memref<4xi64>
  return
}

// -----

func.func private @wait_for(%t: memref<1xi64>) { return }
func.func @hosts(%t: memref<4xi64>) {
  // expected-error @+1 {{names @wait_for, which is of no target}}
  tir.wait @wait_for for %t[3] : memref<4xi64>
  return
}
