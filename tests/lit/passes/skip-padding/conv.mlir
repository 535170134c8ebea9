// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(skip-padding,canonicalize,cse))' | FileCheck %s

// A convolution of stride 2 over an image with a border of zeros: the loops over the filter start
// where the image does, and those over columns too. Nothing is padded.

// CHECK-LABEL: func.func @conv
// CHECK-SAME: %[[X:.*]]: tensor<1x3x8x8xf32>, %[[W:.*]]: tensor<5x3x3x3xf32>
// CHECK-NOT: tensor.pad
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c4
// The first row of the filter that is inside: 1 - 2 * row, but at least 0.
// CHECK: %[[TWICE:.*]] = arith.muli %[[ROW]], %c-2
// CHECK: %[[AWAY:.*]] = arith.addi %[[TWICE]], %c1
// CHECK: %[[FROM:.*]] = arith.maxsi %[[AWAY]], %c0
// CHECK: scf.for %[[TAP:.*]] = %[[FROM]] to %
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.extract %[[X]][
// CHECK: tensor.extract %[[W]][
// CHECK: arith.mulf
// CHECK: tensor.insert
#x = affine_map<(n, m, h, c, i, j, w) -> (n, c, h * 2 + i, w * 2 + j)>
#w = affine_map<(n, m, h, c, i, j, w) -> (m, c, i, j)>
#y = affine_map<(n, m, h, c, i, j, w) -> (n, m, h, w)>
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<5x3x3x3xf32>, %y: tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x9x9xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%padded, %w : tensor<1x3x9x9xf32>, tensor<5x3x3x3xf32>) outs(%y : tensor<1x5x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x5x4x4xf32>
  return %r : tensor<1x5x4x4xf32>
}

// Groups divide the channels, which are not padded; the least number changes no maximum.
// CHECK-LABEL: func.func @grouped_max
// CHECK-NOT: tensor.pad
// CHECK: tensor.expand_shape %arg0 {{.*}} : tensor<1x4x8xf32> into tensor<1x2x2x8xf32>
// CHECK: tensor.extract
// CHECK: arith.maximumf
#gx = affine_map<(n, g, c, k, w) -> (n, g, c, w + k)>
#gk = affine_map<(n, g, c, k, w) -> (k)>
#gy = affine_map<(n, g, c, k, w) -> (n, g, c, w)>
func.func @grouped_max(%x: tensor<1x4x8xf32>, %k: tensor<3xi1>, %y: tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32> {
  %least = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %least : f32
  } : tensor<1x4x8xf32> to tensor<1x4x10xf32>
  %e = tensor.expand_shape %padded [[0], [1, 2], [3]] output_shape [1, 2, 2, 10] : tensor<1x4x10xf32> into tensor<1x2x2x10xf32>
  %r = linalg.generic {indexing_maps = [#gx, #gk, #gy], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%e, %k : tensor<1x2x2x10xf32>, tensor<3xi1>) outs(%y : tensor<1x2x2x8xf32>) {
  ^bb0(%a: f32, %b: i1, %s: f32):
    %m = arith.maximumf %s, %a fastmath<nsz> : f32
    linalg.yield %m : f32
  } -> tensor<1x2x2x8xf32>
  return %r : tensor<1x2x2x8xf32>
}
