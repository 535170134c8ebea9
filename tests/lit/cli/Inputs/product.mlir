func.func @main(%x: tensor<4x9xf32>) -> tensor<4x33xf32> {
  %w = graph.constant dense<0.5> : tensor<9x33xf32>
  %y = graph.matmul %x, %w : (tensor<4x9xf32>, tensor<9x33xf32>) -> tensor<4x33xf32>
  return %y : tensor<4x33xf32>
}
