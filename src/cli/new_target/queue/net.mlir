// Division: @NAME@: 3 of 4 operations in 1 regions
func.func @main(%x: tensor<6x8xf32>, %z: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %w = graph.constant dense<[[-1.25, 0.5, -0.5, 1.25, 0.25], [-0.75, 1.0, 0.0, -1.0, 0.75], [-0.25, -1.25, 0.5, -0.5, 1.25], [0.25, -0.75, 1.0, 0.0, -1.0], [0.75, -0.25, -1.25, 0.5, -0.5], [1.25, 0.25, -0.75, 1.0, 0.0], [-1.0, 0.75, -0.25, -1.25, 0.5],
    [-0.5, 1.25, 0.25, -0.75, 1.0]]> : tensor<8x5xf32>
  %b = graph.constant dense<[0.5, -1.0, 0.0, 2.0, -0.25]> : tensor<5xf32>
  %0 = graph.gemm %x, %w, %b : (tensor<6x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  %1 = graph.relu %0 : tensor<6x5xf32>
  %2 = graph.add %1, %z : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %3 = graph.tanh %2 : tensor<6x5xf32>
  return %3 : tensor<6x5xf32>
}
