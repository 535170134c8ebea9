func.func @main(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %w = graph.constant dense<[[1, -2, 7], [-8, 0, 3], [-1, 5, 2]]> : tensor<3x3xi4>
  %u = graph.constant dense<[[1, 14, 7], [8, 0, 3], [15, 5, 2]]> : tensor<3x3xui4>
  %s = graph.constant dense<0.5> : tensor<f32>
  %d = graph.dequantize_linear %w, %s : (tensor<3x3xi4>, tensor<f32>) -> tensor<3x3xf32>
  %a = graph.add %x, %d : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %e = graph.dequantize_linear %u, %s : (tensor<3x3xui4>, tensor<f32>) -> tensor<3x3xf32>
  %b = graph.add %x, %e : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %f = graph.dequantize_linear %w, %t : (tensor<3x3xi4>, tensor<f32>) -> tensor<3x3xf32>
  %c = graph.sub %x, %f : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %a, %b, %c : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
