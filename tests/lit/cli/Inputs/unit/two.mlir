func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = graph.add %x, %x {phl.target = "a"} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.floor %x {phl.target = "a"} : tensor<16xf32>
  %2 = graph.floor %1 {phl.target = "b"} : tensor<16xf32>
  return %0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
