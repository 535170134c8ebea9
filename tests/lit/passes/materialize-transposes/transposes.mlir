// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(materialize-transposes))' | FileCheck %s

#nchw = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#nhwc = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Images with their channels first and last meet: the former is copied, then read in order.
// CHECK-DAG: #[[FROM:.+]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-DAG: #[[SAME:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[X:.*]]: tensor<64x16x16xf32>, %[[Z:[a-z0-9]+]]: tensor<16x16x64xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<16x16x64xf32>
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#[[FROM]], #[[SAME]]]
// CHECK-SAME: ins(%[[X]] : tensor<64x16x16xf32>) outs(%[[E]] : tensor<16x16x64xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]] : f32
// CHECK: linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]], #[[SAME]]]
// CHECK-SAME: ins(%[[T]], %[[Z]] : tensor<16x16x64xf32>, tensor<16x16x64xf32>)
func.func @sum(%x: tensor<64x16x16xf32>, %z: tensor<16x16x64xf32>, %y: tensor<16x16x64xf32>) -> tensor<16x16x64xf32> {
  %r = linalg.generic {indexing_maps = [#nchw, #nhwc, #nhwc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %z : tensor<64x16x16xf32>, tensor<16x16x64xf32>) outs(%y : tensor<16x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x16x64xf32>
  return %r : tensor<16x16x64xf32>
}

// Short dimensions that follow each other count as one: rows of 2 x 16 x 2 elements.
// CHECK-LABEL: func.func @enlarged
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: -> tensor<16x16x2x64xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[T]] : tensor<16x16x2x64xf32>)
#split = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1, d2)>
#four = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @enlarged(%x: tensor<64x16x16x2xf32>, %y: tensor<16x16x2x64xf32>) -> tensor<16x16x2x64xf32> {
  %r = linalg.generic {indexing_maps = [#split, #four], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x16x16x2xf32>) outs(%y : tensor<16x16x2x64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<16x16x2x64xf32>
  return %r : tensor<16x16x2x64xf32>
}
