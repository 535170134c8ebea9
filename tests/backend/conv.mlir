#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#mapb = affine_map<(d0, d1, d2, d3) -> (d3)>
module {
func.func @main(%t: tensor<1x10x10x4xf32> {phl.name = "x"}) -> (tensor<1x8x8x16xf32> {phl.name = "y"}) {
  %w = arith.constant dense<0.5> : tensor<3x3x4x16xf32>
  %b = arith.constant dense<[0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0]> : tensor<16xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%t, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #mapb, #map], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%c, %b : tensor<1x8x8x16xf32>, tensor<16xf32>) outs(%e : tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %u: f32):
    %s = arith.addf %a, %bb : f32
    %m = arith.maximumf %s, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x8x8x16xf32>
  %sc = arith.constant dense<2.0> : tensor<16xf32>
  %r2 = linalg.generic {indexing_maps = [#map, #mapb, #map], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%r, %sc : tensor<1x8x8x16xf32>, tensor<16xf32>) outs(%e : tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %u: f32):
    %s = arith.mulf %a, %bb : f32
    linalg.yield %s : f32
  } -> tensor<1x8x8x16xf32>
  return %r2 : tensor<1x8x8x16xf32>
}
}
