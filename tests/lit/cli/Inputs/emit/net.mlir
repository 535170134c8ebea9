func.func @main(%x: tensor<2x8xf32>, %z: tensor<2x8xf32>, %d: tensor<4xf64>) -> (tensor<2x8xf32>, tensor<4xf64>) {
  %0 = graph.exp %x : tensor<2x8xf32>
  %1 = graph.div %0, %z : tensor<2x8xf32>
  %2 = graph.tanh %1 : tensor<2x8xf32>
  %3 = graph.exp %d : tensor<4xf64>
  %4 = graph.tanh %3 : tensor<4xf64>
  return %2, %4 : tensor<2x8xf32>, tensor<4xf64>
}
