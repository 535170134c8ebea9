func.func @main(%x: tensor<8x20xf32>, %z: tensor<8x24xf32>, %i: tensor<2x3x7x9xf32>)
    -> (tensor<8x48xf32>, tensor<2x11x4x5xf32>) {
  %a = graph.constant dense<[[0.5], [-1.0], [2.0], [0.25], [1.5], [3.0], [-0.5], [0.75], [1.0], [-2.0], [0.125], [4.0],
      [0.5], [1.25], [-1.5], [2.5], [0.625], [-0.75], [1.75], [-3.0]]> : tensor<20x1xf32>
  %b = graph.constant dense<[[1.0, -2.0, 3.0, 0.5, 0.25, -0.75, 1.5, 2.0, -1.0, 0.125, 4.0, -3.0,
      0.5, 1.25, -0.25, 2.25, 1.0, -1.5, 0.75, 3.5, -2.5, 0.375, 1.75, -0.5]]> : tensor<1x24xf32>
  %m = graph.matmul %a, %b : (tensor<20x1xf32>, tensor<1x24xf32>) -> tensor<20x24xf32>
  %k = graph.constant dense<0.125> : tensor<11x3x3x3xf32>
  %0 = graph.matmul %x, %m : (tensor<8x20xf32>, tensor<20x24xf32>) -> tensor<8x24xf32>
  %1 = graph.add %0, %z : tensor<8x24xf32>
  %2 = graph.mul %1, %z : tensor<8x24xf32>
  %3 = graph.concat %0, %2 axis = 1 : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x48xf32>
  %5 = graph.conv %i, %k strides = [2, 2] pads = [1, 1, 1, 1]
      : (tensor<2x3x7x9xf32>, tensor<11x3x3x3xf32>) -> tensor<2x11x4x5xf32>
  return %3, %5 : tensor<8x48xf32>, tensor<2x11x4x5xf32>
}
