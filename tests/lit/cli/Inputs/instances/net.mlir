func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x {phl.target = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.sqrt %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.relu %2 {phl.target = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
