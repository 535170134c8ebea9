// RUN: phaseline-opt %s --graph-bound-sizes --canonicalize --split-input-file | FileCheck %s
// RUN: phaseline-opt %s '--pass-pipeline=builtin.module(graph-bound-sizes{given=true})' --split-input-file | FileCheck %s --check-prefix=GIVEN

// The positions of what is not zero come first in a list with room for all, and a last result is their number.
// GIVEN: graph.non_zero
// CHECK: module attributes {phl.bounds = "{{.*}}decided{{.*}}count of non_zero{{.*}}12
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x4xf32>{{.*}}) -> (tensor<2x12xi64> {{.*}}, tensor<1xi64> {phl.name = "counts"})
// CHECK: %[[ONES:.*]] = graph.cast %{{.*}} : tensor<12xi1> to tensor<12xi64>
// CHECK: %[[COUNT:.*]] = graph.reduce_sum %[[ONES]]
// CHECK: %[[BEFORE:.*]] = graph.cumsum %[[ONES]]
// CHECK: %[[PLACE:.*]] = graph.where %{{.*}}, %[[BEFORE]], %{{.*}}
// CHECK: graph.scatter_elements %{{.*}}, %[[PLACE]], %{{.*}} -> tensor<13xi64>
// CHECK: %[[COUNTS:.*]] = graph.{{unsqueeze|reshape}} %[[COUNT]]
// CHECK: return %{{.*}}, %[[COUNTS]]
func.func @main(%x: tensor<3x4xf32>) -> (tensor<2x?xi64> {phl.name = "y"}) {
  %0 = graph.non_zero %x : (tensor<3x4xf32>) -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}

// -----

// Boxes are chosen in a loop that ends when no class has another one.
// CHECK-LABEL: func.func @main(
// CHECK: graph.scan 5 limit %{{.*}} states (%{{.*}} = %{{.*}})
// CHECK: graph.reduce_max
// CHECK: graph.argmax
// CHECK: graph.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x9xf32>, tensor<1x2xi64>, tensor<1x2xi1>
// CHECK: return %{{.*}}, %{{.*}} : tensor<10x3xi64>, tensor<1xi64>
func.func @main(%boxes: tensor<1x9x4xf32>, %scores: tensor<1x2x9xf32>) -> tensor<?x3xi64> {
  %m = graph.constant dense<5> : tensor<i64>
  %t = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.non_max_suppression %boxes, %scores max_output %m iou_threshold %t : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}
