func.func @main(%x: tensor<6x32xf32>, %y: tensor<6x32xf32>, %u: tensor<5x20xui8>, %v: tensor<5x20xui8>)
    -> (tensor<6x24xf32>, tensor<5x20xui8>) {
  %0 = graph.add %x, %y : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  %1 = graph.mul %0, %y : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  %2 = graph.sub %1, %x : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  %low = graph.constant dense<-1.5> : tensor<f32>
  %high = graph.constant dense<2.25> : tensor<f32>
  %3 = graph.clip %2 min %low max %high : (tensor<6x32xf32>, tensor<f32>, tensor<f32>) -> tensor<6x32xf32>
  %w = graph.constant dense<0.125> : tensor<32x24xf32>
  %4 = graph.matmul %3, %w : (tensor<6x32xf32>, tensor<32x24xf32>) -> tensor<6x24xf32>
  %5 = graph.floor %4 : tensor<6x24xf32>
  %6 = graph.max %u, %v : (tensor<5x20xui8>, tensor<5x20xui8>) -> tensor<5x20xui8>
  return %5, %6 : tensor<6x24xf32>, tensor<5x20xui8>
}
