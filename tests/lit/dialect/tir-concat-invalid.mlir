// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

func.func @sum(%a: tensor<2x1xf32>, %e: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{joins 2 along dimension 1, which has 4 in 'tensor<2x4xf32>'}}
  %r = tir.concat dim(1) ins(%a, %a : tensor<2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @shape(%a: tensor<3x4xf32>, %e: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{ins operand #0 of type 'tensor<3x4xf32>' is no part of 'tensor<2x4xf32>' along dimension 1}}
  %r = tir.concat dim(1) ins(%a : tensor<3x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @dim(%a: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{joins along dimension 1 of 'tensor<4xf32>'}}
  %r = tir.concat dim(1) ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
