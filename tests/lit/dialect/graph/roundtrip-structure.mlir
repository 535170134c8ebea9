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
  // CHECK: graph.composite "pair" target("npu") config {level = 2 : i64} () attributes {test.note = "kept"} : () -> (tensor<i64>, tensor<i64>) {
  %y:2 = graph.composite "pair" target("npu") config {level = 2 : i64} () attributes {test.note = "kept"}
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

// Loops. Lists that are zeros everywhere are left out.

// CHECK-LABEL: func.func @scan
func.func @scan(%zero: tensor<4xf32>, %x: tensor<64x4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<64x4xf32>) {
  // CHECK: graph.scan 64 states (%[[S:.*]] = %{{.*}}) sequences (%[[X:.*]] = %{{.*}}) captures (%[[W:.*]] = %{{.*}}) : (tensor<4xf32>, tensor<64x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<64x4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[N:.*]] = graph.add %[[S]], %[[P]]
  // CHECK-NEXT: graph.yield %[[N]], %[[P]]
  %r:2 = graph.scan 64 states (%s = %zero) sequences (%row = %x) captures (%c = %w)
      attributes {input_axes = array<i64>}
      : (tensor<4xf32>, tensor<64x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<64x4xf32>) {
    %p = graph.mul %row, %c : tensor<4xf32>
    %n = graph.add %s, %p : tensor<4xf32>
    graph.yield %n, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<64x4xf32>
}

// CHECK-LABEL: func.func @scan_limit
func.func @scan_limit(%zero: tensor<4xf32>, %x: tensor<64x4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  // CHECK: graph.scan 64 limit %{{.*}} states (%{{.*}} = %{{.*}}) sequences (%{{.*}} = %{{.*}}) captures () : (tensor<4xf32>, tensor<64x4xf32>, tensor<i64>) -> tensor<4xf32> {
  %r = graph.scan 64 limit %n states (%s = %zero) sequences (%row = %x) captures ()
      : (tensor<4xf32>, tensor<64x4xf32>, tensor<i64>) -> tensor<4xf32> {
    %next = graph.add %s, %row : tensor<4xf32>
    graph.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @scan_ways
func.func @scan_ways(%x: tensor<4x64xf32>, %y: tensor<64x4xf32>) -> tensor<4x64xf32> {
  // CHECK: graph.scan 64 states () sequences (%{{.*}}, %{{.*}}) captures () attributes {input_axes = array<i64: 1, 0>, input_reversed = array<i64: 0, 1>, output_axes = array<i64: 1>, output_reversed = array<i64: 1>}
  %r = graph.scan 64 states () sequences (%a = %x, %b = %y) captures ()
      attributes {input_axes = array<i64: 1, 0>, input_reversed = array<i64: 0, 1>,
                  output_axes = array<i64: 1>, output_reversed = array<i64: 1>}
      : (tensor<4x64xf32>, tensor<64x4xf32>) -> tensor<4x64xf32> {
    %p = graph.mul %a, %b : tensor<4xf32>
    graph.yield %p : tensor<4xf32>
  }
  return %r : tensor<4x64xf32>
}
