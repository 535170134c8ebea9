// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(reuse-elementwise-inputs))' | FileCheck %s
#id = affine_map<(d0) -> (d0)>
#back = affine_map<(d0) -> (7 - d0)>

// A value that is read again, and one that is read in another order, keep their memory.
// CHECK-LABEL: func.func @read_again
// CHECK: %[[NEW:.*]] = tensor.empty()
// CHECK: linalg.generic {{.*}} outs(%[[NEW]] :
func.func @read_again(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = linalg.abs ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @backwards
// CHECK: %[[NEW:.*]] = tensor.empty()
// CHECK: linalg.generic {{.*}} outs(%[[NEW]] :
func.func @backwards(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.abs ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
