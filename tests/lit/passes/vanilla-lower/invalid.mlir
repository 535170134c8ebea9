// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-lower))' -verify-diagnostics

func.func @not_packed(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x1x1xf32>
  // expected-error @+1 {{'graph.composite' op has weights that are not packed: run vanilla-pack-weights first}}
  %y = graph.composite "vanilla.conv2d" target("vanilla") (%a = %x, %c = %w)
      : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
    %0 = graph.conv %a, %c : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
    graph.yield %0 : tensor<1x2x4x4xf32>
  }
  return %y : tensor<1x2x4x4xf32>
}
