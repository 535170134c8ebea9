// RUN: phaseline-opt %s --graph-outline-loops | FileCheck %s

// Composites stay, and so do loops that only hand values on.
// CHECK-NOT: func.func private
// CHECK-NOT: func.call
func.func @main(%h: tensor<4xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = graph.composite "a" target("t") (%a = %h) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.relu %a : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  %r:2 = graph.scan 8 states (%s = %h, %t = %k) sequences () captures ()
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    graph.yield %t, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %c, %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
