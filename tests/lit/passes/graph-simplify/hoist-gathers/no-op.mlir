// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=hoist-gathers}))' | FileCheck %s

// More are gathered than there are.
// CHECK-LABEL: func.func @many
// CHECK-NEXT: graph.cast
// CHECK-NEXT: graph.gather
func.func @many(%x: tensor<5x4xf16>, %i: tensor<6xi64>) -> tensor<6x4xf32> {
  %c = graph.cast %x : tensor<5x4xf16> to tensor<5x4xf32>
  %y = graph.gather %c, %i : (tensor<5x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// Something else reads all of it.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT: %[[C:.*]] = graph.cast
// CHECK-NEXT: graph.gather %[[C]]
func.func @shared(%x: tensor<5x4xf16>, %i: tensor<2xi64>) -> (tensor<2x4xf32>, tensor<5x4xf32>) {
  %c = graph.cast %x : tensor<5x4xf16> to tensor<5x4xf32>
  %y = graph.gather %c, %i : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %y, %c : tensor<2x4xf32>, tensor<5x4xf32>
}

// A row depends on others; scales are those of blocks; sizes are not known.
// CHECK-LABEL: func.func @sums
// CHECK-NEXT: graph.softmax
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT: graph.dequantize_linear
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT: graph.cast
func.func @sums(%x: tensor<5x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %c = graph.softmax %x axis = 0 : tensor<5x4xf32>
  %y = graph.gather %c, %i : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @blocks(%x: tensor<6x4xi8>, %s: tensor<2x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %c = graph.dequantize_linear %x, %s axis = 0 block_size = 3 : (tensor<6x4xi8>, tensor<2x4xf32>) -> tensor<6x4xf32>
  %y = graph.gather %c, %i : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @unknown(%x: tensor<?x4xf16>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %c = graph.cast %x : tensor<?x4xf16> to tensor<?x4xf32>
  %y = graph.gather %c, %i : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
