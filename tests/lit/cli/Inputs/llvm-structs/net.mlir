func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %1 = graph.neg %x : tensor<2x3xf32>
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %2 = graph.matmul %1, %w : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %v = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %3 = graph.matmul %2, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.relu %3 : tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}
