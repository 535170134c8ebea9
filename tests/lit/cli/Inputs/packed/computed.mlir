func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %w = graph.quantize_linear %x, %s {to = i4} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi4>
  %d = graph.dequantize_linear %w, %s : (tensor<4xi4>, tensor<f32>) -> tensor<4xf32>
  %a = graph.mul %x, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
