// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(reuse-elementwise-inputs))' | FileCheck %s
#map = affine_map<(d0) -> (d0)>

// The second operation writes over the result of the first, which nothing else reads; the first cannot write over what
// the function was given.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
// CHECK: %[[NEW:.*]] = tensor.empty()
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[NEW]] :
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<8xf32>) outs(%[[A]] :
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e0 = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
