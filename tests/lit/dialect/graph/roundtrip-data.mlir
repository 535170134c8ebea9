// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Ops that move, pick and join elements.

// CHECK-LABEL: func.func @join
func.func @join(%x: tensor<4x5xf32>, %a: tensor<1x5xf32>) {
  // CHECK: graph.concat %{{.*}}, %{{.*}} axis = 0 : (tensor<4x5xf32>, tensor<1x5xf32>) -> tensor<5x5xf32>
  %0 = graph.concat %x, %a axis = 0 : (tensor<4x5xf32>, tensor<1x5xf32>) -> tensor<5x5xf32>
  // CHECK: graph.split %{{.*}} axis = 1 split = [2, 3] : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x3xf32>)
  %1:2 = graph.split %x axis = 1 split = [2, 3] : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x3xf32>)
  // CHECK: graph.split %{{.*}} split = [1, 3] : (tensor<4x5xf32>) -> (tensor<1x5xf32>, tensor<3x5xf32>)
  %2:2 = graph.split %x split = [1, 3] : (tensor<4x5xf32>) -> (tensor<1x5xf32>, tensor<3x5xf32>)
  return
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<4x5xf32>, %i: tensor<2xi64>, %j: tensor<1xi32>) {
  // CHECK: graph.slice %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %0 = graph.slice %x, %i, %i : (tensor<4x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.slice %{{.*}}, %{{.*}}, %{{.*}} axes %{{.*}} steps %{{.*}} : (tensor<4x5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  %1 = graph.slice %x, %j, %j axes %j steps %j : (tensor<4x5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  // CHECK: graph.slice %{{.*}}, %{{.*}}, %{{.*}} steps %{{.*}} : (tensor<4x5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x5xf32>
  %2 = graph.slice %x, %j, %j steps %j : (tensor<4x5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x5xf32>
  return
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4x5xf32>, %p: tensor<4xi64>, %q: tensor<2xi64>, %v: tensor<f32>, %a: tensor<1xi64>) {
  // CHECK: graph.pad %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  %0 = graph.pad %x, %p : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  // CHECK: graph.pad %{{.*}}, %{{.*}} value %{{.*}} : (tensor<4x5xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  %1 = graph.pad %x, %p value %v : (tensor<4x5xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  // CHECK: graph.pad %{{.*}}, %{{.*}} axes %{{.*}} mode = "reflect" : (tensor<4x5xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  %2 = graph.pad %x, %q axes %a mode = "reflect" : (tensor<4x5xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3x2xi64>, %n: tensor<4x2xi64>) {
  // CHECK: graph.gather %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2x5xf32>
  %0 = graph.gather %x, %i : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2x5xf32>
  // CHECK: graph.gather %{{.*}}, %{{.*}} axis = 1 : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<4x3x2xf32>
  %1 = graph.gather %x, %i axis = 1 : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<4x3x2xf32>
  // CHECK: graph.gather_elements %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  %2 = graph.gather_elements %x, %i : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  // CHECK: graph.gather_elements %{{.*}}, %{{.*}} axis = 1 : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  %3 = graph.gather_elements %x, %n axis = 1 : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  // CHECK: graph.gather_nd %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  %4 = graph.gather_nd %x, %i : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @gather_nd_batch
func.func @gather_nd_batch(%x: tensor<4x5x6xf32>, %i: tensor<4x1xi64>) {
  // CHECK: graph.gather_nd %{{.*}}, %{{.*}} batch_dims = 1 : (tensor<4x5x6xf32>, tensor<4x1xi64>) -> tensor<4x6xf32>
  %0 = graph.gather_nd %x, %i batch_dims = 1 : (tensor<4x5x6xf32>, tensor<4x1xi64>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3x2xi64>, %u: tensor<3x2xf32>, %v: tensor<3xf32>) {
  // CHECK: graph.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x5xf32>
  %0 = graph.scatter_elements %x, %i, %u : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x5xf32>
  // CHECK: graph.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} axis = 1 reduction = "add" : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x5xf32>
  %1 = graph.scatter_elements %x, %i, %u axis = 1 reduction = "add" : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x5xf32>
  // CHECK: graph.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<4x5xf32>
  %2 = graph.scatter_nd %x, %i, %v : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<4x5xf32>
  // CHECK: graph.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} reduction = "max" : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<4x5xf32>
  %3 = graph.scatter_nd %x, %i, %v reduction = "max" : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @pick
func.func @pick(%x: tensor<4x5xf32>, %c: tensor<4xi1>, %k: tensor<i64>, %l: tensor<5xi64>, %i: tensor<3xi64>, %d: tensor<i64>, %v: tensor<2xf32>) {
  // CHECK: graph.compress %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<?xf32>
  %0 = graph.compress %x, %c : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<?xf32>
  // CHECK: graph.compress %{{.*}}, %{{.*}} axis = 0 : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<?x5xf32>
  %1 = graph.compress %x, %c axis = 0 : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<?x5xf32>
  // CHECK: graph.non_zero %{{.*}} : (tensor<4x5xf32>) -> tensor<2x?xi64>
  %2 = graph.non_zero %x : (tensor<4x5xf32>) -> tensor<2x?xi64>
  // CHECK: graph.one_hot %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
  %3 = graph.one_hot %i, %d, %v : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
  // CHECK: graph.one_hot %{{.*}}, %{{.*}}, %{{.*}} axis = 0 : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<?x3xf32>
  %4 = graph.one_hot %i, %d, %v axis = 0 : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<?x3xf32>
  // CHECK: graph.trilu %{{.*}} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %5 = graph.trilu %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK: graph.trilu %{{.*}}, %{{.*}} upper = false : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  %6 = graph.trilu %x, %k upper = false : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  // CHECK: graph.reverse_sequence %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<5xi64>) -> tensor<4x5xf32>
  %7 = graph.reverse_sequence %x, %l : (tensor<4x5xf32>, tensor<5xi64>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @sample
func.func @sample(%x: tensor<1x3x4x5xf32>, %s: tensor<4xf32>, %z: tensor<2xi64>, %r: tensor<8xf32>, %g: tensor<1x6x7x2xf32>) {
  // CHECK: graph.resize %{{.*}} scales %{{.*}} : (tensor<1x3x4x5xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  %0 = graph.resize %x scales %s : (tensor<1x3x4x5xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  // CHECK: graph.resize %{{.*}} sizes %{{.*}} {axes = array<i64: 2, 3>, coordinate_transformation_mode = "align_corners", mode = "linear"} : (tensor<1x3x4x5xf32>, tensor<2xi64>) -> tensor<1x3x?x?xf32>
  %1 = graph.resize %x sizes %z {axes = array<i64: 2, 3>, coordinate_transformation_mode = "align_corners", mode = "linear"} : (tensor<1x3x4x5xf32>, tensor<2xi64>) -> tensor<1x3x?x?xf32>
  // CHECK: graph.resize %{{.*}} roi %{{.*}} scales %{{.*}} {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x4x5xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  %2 = graph.resize %x roi %r scales %s {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x4x5xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  // CHECK: graph.grid_sample %{{.*}}, %{{.*}} : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  %3 = graph.grid_sample %x, %g : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  // CHECK: graph.grid_sample %{{.*}}, %{{.*}} {align_corners = true, mode = "nearest", padding_mode = "border"} : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  %4 = graph.grid_sample %x, %g {align_corners = true, mode = "nearest", padding_mode = "border"} : (tensor<1x3x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x3x6x7xf32>
  return
}
