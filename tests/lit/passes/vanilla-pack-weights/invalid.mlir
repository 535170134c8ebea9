// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-pack-weights))' -split-input-file -verify-diagnostics

func.func @weights_are_computed(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // expected-error @+1 {{'graph.composite' op is for vanilla, which cannot compute a weight that is not an f32 constant: the predicates of its patterns have to refuse it}}
  %y = graph.composite "vanilla.conv2d" target("vanilla") (%a = %x, %c = %w)
      : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
    %0 = graph.conv %a, %c : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
    graph.yield %0 : tensor<1x2x4x4xf32>
  }
  return %y : tensor<1x2x4x4xf32>
}

// -----

func.func @softmax(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{cannot compute graph.softmax at this place of its decomposition}}
  %y = graph.composite "vanilla.softmax" target("vanilla") (%a = %x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = graph.softmax %a : tensor<1x4xf32>
    graph.yield %0 : tensor<1x4xf32>
  }
  return %y : tensor<1x4xf32>
}
