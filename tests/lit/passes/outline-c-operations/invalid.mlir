// RUN: phaseline-opt %s --outline-c-operations="emit={math.tanh * f(\$1)}" -split-input-file -verify-diagnostics

func.func @lacks(%x: f32) -> f32 {
  // expected-error @+1 {{is printed as 'f($1)', where $1 is none of $0 to $0}}
  %0 = math.tanh %x : f32
  return %0 : f32
}

// -----

// An operation that there is not is in no network.
// RUN: not phaseline-opt %s --outline-c-operations="emit={math.expp * f(\$0)}" 2>&1 | FileCheck %s
// CHECK: error: emit: there is no operation 'math.expp'; `--emit=tir-post` shows those that a network has
