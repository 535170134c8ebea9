func.func private @helper(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.neg %x : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @main(%x: tensor<2x4xf32> {phl.name = "x"}) -> (tensor<2x4xf32> {phl.name = "y"}) {
  %c = graph.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %h = graph.constant dense<0.5> : tensor<f32>
  %s = graph.sub %x, %h : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %0 = graph.relu %s : tensor<2x4xf32>
  %1 = graph.mul %0, %c : tensor<2x4xf32>
  %2 = call @helper(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = graph.abs %2 : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
