func.func @main(%x: tensor<4x9xf32>, %z: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<9x4xf32>) {
  %0 = graph.sub %x, %z : tensor<4x9xf32>
  %1 = graph.transpose %0 perm = [1, 0] : (tensor<4x9xf32>) -> tensor<9x4xf32>
  return %0, %1 : tensor<4x9xf32>, tensor<9x4xf32>
}
