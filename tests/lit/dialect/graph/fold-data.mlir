// RUN: phaseline-opt %s --canonicalize --split-input-file | FileCheck %s

// Folds of ops that move, pick and join elements.

// CHECK-LABEL: func.func @concat_one
func.func @concat_one(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.concat %x axis = 0 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @concat_empty
func.func @concat_empty(%x: tensor<4x5xf32>, %e: tensor<0x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.concat %e, %x axis = 0 : (tensor<0x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @concat
func.func @concat() -> tensor<2x3xi64> {
  %a = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %b = graph.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi64>
  %0 = graph.concat %a, %b axis = -1 : (tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<2x3xi64>
  // CHECK: graph.constant dense<{{\[\[}}1, 3, 4], [2, 5, 6{{\]\]}}> : tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @concat_all_empty
func.func @concat_all_empty() -> tensor<0xi64> {
  %a = graph.constant dense<> : tensor<0xi64>
  %0 = graph.concat %a, %a axis = 0 : (tensor<0xi64>, tensor<0xi64>) -> tensor<0xi64>
  // CHECK-NEXT: graph.constant dense<> : tensor<0xi64>
  // CHECK-NEXT: return
  return %0 : tensor<0xi64>
}

// CHECK-LABEL: func.func @split_one
func.func @split_one(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.split %x split = [4] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @split
func.func @split() -> (tensor<2x1xi64>, tensor<2x2xi64>) {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0:2 = graph.split %x axis = 1 split = [1, 2] : (tensor<2x3xi64>) -> (tensor<2x1xi64>, tensor<2x2xi64>)
  // CHECK-DAG: graph.constant dense<{{\[\[}}1], [4{{\]\]}}> : tensor<2x1xi64>
  // CHECK-DAG: graph.constant dense<{{\[\[}}2, 3], [5, 6{{\]\]}}> : tensor<2x2xi64>
  return %0#0, %0#1 : tensor<2x1xi64>, tensor<2x2xi64>
}

// CHECK-LABEL: func.func @slice_all
func.func @slice_all(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %a = graph.constant dense<0> : tensor<2xi64>
  %b = graph.constant dense<[4, 9223372036854775807]> : tensor<2xi64>
  %0 = graph.slice %x, %a, %b : (tensor<4x?xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x?xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @slice_reversed
func.func @slice_reversed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<-1> : tensor<1xi64>
  %b = graph.constant dense<-9> : tensor<1xi64>
  %0 = graph.slice %x, %a, %b steps %a : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  // CHECK: graph.slice
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @slice_unknown
func.func @slice_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = graph.constant dense<0> : tensor<1xi64>
  %b = graph.constant dense<9> : tensor<1xi64>
  %0 = graph.slice %x, %a, %b : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  // CHECK: graph.slice
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @slice
func.func @slice() -> tensor<2x2xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %s = graph.constant dense<[-1, 0]> : tensor<2xi64>
  %e = graph.constant dense<[-9, 9]> : tensor<2xi64>
  %d = graph.constant dense<[-1, 2]> : tensor<2xi64>
  %0 = graph.slice %x, %s, %e steps %d : (tensor<2x3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  // CHECK: dense<{{\[\[}}4, 6], [1, 3{{\]\]}}> : tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}

// CHECK-LABEL: func.func @slice_axes
func.func @slice_axes() -> tensor<2x1xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %s = graph.constant dense<1> : tensor<1xi64>
  %e = graph.constant dense<2> : tensor<1xi64>
  %a = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.slice %x, %s, %e axes %a : (tensor<2x3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x1xi64>
  // CHECK: dense<{{\[\[}}2], [5{{\]\]}}> : tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}

// CHECK-LABEL: func.func @pad_zero
func.func @pad_zero(%x: tensor<?xf32>) -> tensor<?xf32> {
  %p = graph.constant dense<0> : tensor<2xi64>
  %0 = graph.pad %x, %p : (tensor<?xf32>, tensor<2xi64>) -> tensor<?xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @gather
func.func @gather() -> tensor<2x1x2xi64> {
  %a = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %b = graph.constant dense<[[2, -3]]> : tensor<1x2xi64>
  %0 = graph.gather %a, %b axis = 1 : (tensor<2x3xi64>, tensor<1x2xi64>) -> tensor<2x1x2xi64>
  // CHECK: graph.constant dense<{{\[\[\[}}3, 1]{{\], \[\[}}6, 4{{\]\]\]}}> : tensor<2x1x2xi64>
  return %0 : tensor<2x1x2xi64>
}

// CHECK-LABEL: func.func @gather_rows
func.func @gather_rows() -> tensor<3xi64> {
  %a = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %b = graph.constant dense<1> : tensor<i32>
  %0 = graph.gather %a, %b : (tensor<2x3xi64>, tensor<i32>) -> tensor<3xi64>
  // CHECK: graph.constant dense<[4, 5, 6]> : tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CHECK-LABEL: func.func @gather_resource
func.func @gather_resource() -> tensor<f32> {
  %x = graph.constant dense_resource<table> : tensor<2xf32>
  %i = graph.constant dense<1> : tensor<i64>
  %0 = graph.gather %x, %i : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
  // CHECK: graph.constant dense<2.000000e+00> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @non_zero
func.func @non_zero() -> tensor<2x2xi64> {
  %x = graph.constant dense<[[0, 3], [4, 0]]> : tensor<2x2xi64>
  %0 = graph.non_zero %x : (tensor<2x2xi64>) -> tensor<2x2xi64>
  // CHECK: graph.constant dense<{{\[\[}}0, 1], [1, 0{{\]\]}}> : tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}

{-#
  dialect_resources: {
    builtin: {
      table: "0x040000000000803F00000040"
    }
  }
#-}
