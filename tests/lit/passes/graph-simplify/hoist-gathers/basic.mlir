// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=hoist-gathers}))' | FileCheck %s

// Only the rows that are read are cast, through the whole chain. Along one list of places the ranks stay as they are.
// CHECK-LABEL: func.func @cast
// CHECK: %[[I:.*]] = graph.reshape %arg1, %{{.*}} : (tensor<2x3xi64>, tensor<1xi64>) -> tensor<6xi64>
// CHECK: %[[G:.*]] = graph.gather %arg0, %[[I]] : (tensor<50x4xf16>, tensor<6xi64>) -> tensor<6x4xf16>
// CHECK-NEXT: %[[C:.*]] = graph.cast %[[G]] : tensor<6x4xf16> to tensor<6x4xf32>
// CHECK-NEXT: %[[N:.*]] = graph.neg %[[C]] : tensor<6x4xf32>
// CHECK: %[[Y:.*]] = graph.reshape %[[N]], %{{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @cast(%x: tensor<50x4xf16>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %c = graph.cast %x : tensor<50x4xf16> to tensor<50x4xf32>
  %n = graph.neg %c : tensor<50x4xf32>
  %y = graph.gather %n, %i : (tensor<50x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// Operands with a number for each row are gathered, too; those with one for each column, or for all, are not.
// CHECK-LABEL: func.func @operands
// CHECK: %[[G:.*]] = graph.gather %arg0, %arg3 : (tensor<50x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[R:.*]] = graph.gather %arg1, %arg3 : (tensor<50x1xf32>, tensor<3xi64>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[A:.*]] = graph.mul %[[G]], %[[R]] : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %arg2 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[B]]
func.func @operands(%x: tensor<50x4xf32>, %r: tensor<50x1xf32>, %c: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %a = graph.mul %x, %r : (tensor<50x4xf32>, tensor<50x1xf32>) -> tensor<50x4xf32>
  %b = graph.add %a, %c : (tensor<50x4xf32>, tensor<4xf32>) -> tensor<50x4xf32>
  %y = graph.gather %b, %i : (tensor<50x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// The scales and zero points of rows go with them.
// CHECK-LABEL: func.func @scaled_rows
// CHECK: %[[I:.*]] = graph.reshape %arg3, %{{.*}} -> tensor<1xi64>
// CHECK: %[[G:.*]] = graph.gather %arg0, %[[I]] : (tensor<50x4xi8>, tensor<1xi64>) -> tensor<1x4xi8>
// CHECK-NEXT: %[[S:.*]] = graph.gather %arg1, %[[I]] : (tensor<50xf32>, tensor<1xi64>) -> tensor<1xf32>
// CHECK-NEXT: %[[Z:.*]] = graph.gather %arg2, %[[I]] : (tensor<50xi8>, tensor<1xi64>) -> tensor<1xi8>
// CHECK-NEXT: %[[D:.*]] = graph.dequantize_linear %[[G]], %[[S]], %[[Z]] axis = 0 : (tensor<1x4xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
// CHECK: graph.reshape %[[D]], %{{.*}} -> tensor<4xf32>
func.func @scaled_rows(%x: tensor<50x4xi8>, %s: tensor<50xf32>, %z: tensor<50xi8>, %i: tensor<i64>) -> tensor<4xf32> {
  %d = graph.dequantize_linear %x, %s, %z axis = 0 : (tensor<50x4xi8>, tensor<50xf32>, tensor<50xi8>) -> tensor<50x4xf32>
  %y = graph.gather %d, %i : (tensor<50x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Columns, with a scale for each row.
// CHECK-LABEL: func.func @columns
// CHECK: %[[G:.*]] = graph.gather %arg0, %arg2 axis = 1 : (tensor<50x40xi8>, tensor<3xi64>) -> tensor<50x3xi8>
// CHECK-NEXT: graph.dequantize_linear %[[G]], %arg1 axis = 0 : (tensor<50x3xi8>, tensor<50xf32>) -> tensor<50x3xf32>
func.func @columns(%x: tensor<50x40xi8>, %s: tensor<50xf32>, %i: tensor<3xi64>) -> tensor<50x3xf32> {
  %d = graph.dequantize_linear %x, %s axis = 0 : (tensor<50x40xi8>, tensor<50xf32>) -> tensor<50x40xf32>
  %y = graph.gather %d, %i axis = 1 : (tensor<50x40xf32>, tensor<3xi64>) -> tensor<50x3xf32>
  return %y : tensor<50x3xf32>
}
