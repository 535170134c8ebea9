func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xi8> {
  %s = graph.constant dense<0.05> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %q = graph.quantize_linear %x, %s, %z : (tensor<1x8x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %d = graph.dequantize_linear %q, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xf32>
  %g = graph.sigmoid %d : tensor<1x8x4x4xf32>
  %gs = graph.constant dense<0.0039> : tensor<f32>
  %gz = graph.constant dense<-128> : tensor<i8>
  %gq = graph.quantize_linear %g, %gs, %gz : (tensor<1x8x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %gd = graph.dequantize_linear %gq, %gs, %gz : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xf32>
  %m = graph.mul %d, %gd : tensor<1x8x4x4xf32>
  %y = graph.quantize_linear %m, %s, %z : (tensor<1x8x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  return %y : tensor<1x8x4x4xi8>
}
