func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = graph.constant dense<[[1.0, -2.0, 3.0, 4.0], [5.0, 6.0, -7.0, 8.0], [9.0, 10.0, 11.0, -12.0]]> : tensor<3x4xf32>
  %s = graph.constant dense<[0.5, 0.25, 2.0, 0.125]> : tensor<4xf32>
  %0 = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.mul %0, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
