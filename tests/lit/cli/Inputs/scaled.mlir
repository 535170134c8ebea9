func.func @main(%x: tensor<7x9xf32>) -> tensor<7x33xf32> {
  %w = graph.constant dense<0.5> : tensor<9x33xf32>
  %s = graph.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0]> : tensor<33xf32>
  %y = graph.matmul %x, %w : (tensor<7x9xf32>, tensor<9x33xf32>) -> tensor<7x33xf32>
  %z = graph.mul %y, %s : (tensor<7x33xf32>, tensor<33xf32>) -> tensor<7x33xf32>
  return %z : tensor<7x33xf32>
}
