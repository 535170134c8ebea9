// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Composites. The result is named after the composite.

// CHECK-LABEL: func.func @composite
func.func @composite(%x: tensor<1x8x4x4xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK: %conv2d_relu = graph.composite "vanilla.conv2d_relu" target("vanilla") (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.conv %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[C]]
  // CHECK-NEXT: graph.yield %[[R]] : tensor<1x4x4x4xf32>
  // CHECK-NEXT: }
  %y = graph.composite "vanilla.conv2d_relu" target("vanilla") (%a = %x, %b = %w)
      : (tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32> {
    %0 = graph.conv %a, %b : (tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32>
    %1 = graph.relu %0 : tensor<1x4x4x4xf32>
    graph.yield %1 : tensor<1x4x4x4xf32>
  }
  return %y : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func.func @options
func.func @options() -> (tensor<i64>, tensor<i64>) {
  // CHECK: graph.composite "pair" target("npu") config {level = 2 : i64} () attributes {phl.note = "kept"} : () -> (tensor<i64>, tensor<i64>) {
  %y:2 = graph.composite "pair" target("npu") config {level = 2 : i64} () attributes {phl.note = "kept"}
      : () -> (tensor<i64>, tensor<i64>) {
    %0 = graph.constant dense<1> : tensor<i64>
    graph.yield %0, %0 : tensor<i64>, tensor<i64>
  }
  return %y#0, %y#1 : tensor<i64>, tensor<i64>
}

// CHECK-LABEL: func.func @nested
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.composite "outer"
  // CHECK: graph.composite "inner"
  %y = graph.composite "outer" target("npu") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.composite "inner" target("npu") (%b = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      graph.yield %b : tensor<4xf32>
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
