// Division: @NAME@: 5 of 6 operations in 2 regions
func.func @main(%x: tensor<2x4xf32>, %z: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>) {
  %0 = graph.add %x, %z : tensor<2x4xf32>
  %1 = graph.mul %0, %0 : tensor<2x4xf32>
  %2 = graph.sub %1, %z : tensor<2x4xf32>
  %3 = graph.relu %2 : tensor<2x4xf32>
  %4 = graph.tanh %3 : tensor<2x4xf32>
  %w = graph.constant dense<[[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, -3.0], [0.0, 0.0, 0.5]]> : tensor<4x3xf32>
  %5 = graph.matmul %4, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %5, %1 : tensor<2x3xf32>, tensor<2x4xf32>
}
