// RUN: phaseline-opt %s --outline-c-operations="emit={arith.addi * f(\$0); math.tanh * f(\$1)}" -split-input-file -verify-diagnostics

func.func @narrow(%x: i8) -> i8 {
  // expected-error @+1 {{is to be computed by C, which LLVM's code passes no i8: say `dtype` of [[codegen.emit]], or leave `kind` out of the manifest}}
  %0 = arith.addi %x, %x : i8
  return %0 : i8
}

// -----

func.func @lacks(%x: f32) -> f32 {
  // expected-error @+1 {{is printed as 'f($1)', where $1 is none of $0 to $0}}
  %0 = math.tanh %x : f32
  return %0 : f32
}
