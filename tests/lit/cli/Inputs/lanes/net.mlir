func.func @main(%x: tensor<8x6xf32>, %z: tensor<8x8xf32>, %i: tensor<2x3x7x9xf32>)
    -> (tensor<8x16xf32>, tensor<2x11x4x5xf32>) {
  %w = graph.constant dense<[
      [-0.125, -1.0, 0.875, 1.75, -1.5, -2.0, 1.75, 0.0],
      [-0.25, -0.5, 1.75, 1.75, 1.125, -0.875, -0.25, -0.875],
      [1.0, -2.0, -1.5, -0.75, -1.75, 0.375, -1.875, 0.125],
      [1.75, 1.0, 1.375, 1.125, 1.5, -1.0, 0.875, -1.25],
      [-1.75, -1.0, 1.875, -0.375, 0.0, 1.375, 0.375, 1.25],
      [2.0, 1.0, 0.75, 1.25, -0.25, 0.625, -1.875, 0.125]]> : tensor<6x8xf32>
  %k = graph.constant dense<0.125> : tensor<11x3x3x3xf32>
  %0 = graph.matmul %x, %w : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %1 = graph.add %0, %z : tensor<8x8xf32>
  %2 = graph.mul %1, %z : tensor<8x8xf32>
  %3 = graph.concat %0, %2 axis = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %4 = graph.conv %i, %k strides = [2, 2] pads = [1, 1, 1, 1]
      : (tensor<2x3x7x9xf32>, tensor<11x3x3x3xf32>) -> tensor<2x11x4x5xf32>
  return %3, %4 : tensor<8x16xf32>, tensor<2x11x4x5xf32>
}
